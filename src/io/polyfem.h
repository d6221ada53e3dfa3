/* Scenes of PolyFEM (JSON) as scenes of Kiln (Lua): what `kiln run scene.json` reads, and what
 * `kiln check scene.json --lua FILE` writes. docs/polyfem.md says what becomes of which key.
 *
 * The result is a whole scene: files that others include (`common`) are in it, only meshes are
 * still read from their files. Lines end in a comment with the line of the JSON they come from, so
 * that messages can name it (kiln_polyfem_lines). */
#ifndef KILN_IO_POLYFEM_H
#define KILN_IO_POLYFEM_H

#include "io/lua_text.h"

/* Whether a scene's text is JSON: it begins with a brace, which no Lua does. */
bool kiln_polyfem_is_json(const char *text, size_t size);

/* Errors name file, line, column and key. What is ignored goes to the log, unless `quiet`. `meshes`
 * is put before relative paths of meshes: "" for a Lua that stands beside the JSON. The caller
 * frees `out`, also after a failure. */
kiln_status kiln_polyfem_translate(kiln_context *context, const char *path, const char *text,
                                   size_t size, bool quiet, const char *meshes, lua_text *out,
                                   kiln_error *error);

typedef KILN_ARRAY_OF(int)
polyfem_lines;
/* lines.data[i]: line of the JSON that line i + 1 of the Lua comes from, 0: none. Empty for a text
 * that was not translated. */
kiln_status kiln_polyfem_lines(kiln_context *context, const char *text, size_t size,
                               polyfem_lines *lines, kiln_error *error);

#endif
