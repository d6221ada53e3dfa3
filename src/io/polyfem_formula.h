/* Values of PolyFEM's scenes: numbers, or formulas in x, y, z and t as tinyexpr reads them, made
 * into Lua. A sign binds more than ^, and ^ goes from the left: -2^2 is 4, 2^3^2 is 64. */
#ifndef KILN_IO_POLYFEM_FORMULA_H
#define KILN_IO_POLYFEM_FORMULA_H

#include "io/json_tree.h"
#include "io/lua_text.h"

enum { FORMULA_USES_X = 1, FORMULA_USES_Y = 2, FORMULA_USES_Z = 4, FORMULA_USES_T = 8 };
#define FORMULA_USES_PLACE (FORMULA_USES_X | FORMULA_USES_Y | FORMULA_USES_Z)

typedef struct polyfem_formula {
    const char *lua; /* an expression in the arena; x, y, z and t are its variables */
    unsigned uses;   /* variables; 0: a constant */
    double constant; /* the value where all variables are 0 */
} polyfem_formula;

/* `helpers` gets a bit for each function that the Lua calls and Lua does not have. */
kiln_status kiln_polyfem_formula(kiln_arena *arena, const kiln_json_node *node,
                                 polyfem_formula *out, unsigned *helpers, kiln_error *error);
polyfem_formula kiln_polyfem_zero(void);

/* Definitions of those functions. */
void kiln_polyfem_put_helpers(lua_text *lua, unsigned helpers);

#endif
