/* What the tests of the refinement share: a picture of the mesh before, to be found again after. */
#ifndef KILN_TESTS_REFINED_H
#define KILN_TESTS_REFINED_H

#include "fixtures.h"
#include "remesh/refine.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct picture {
    uint32_t rows[KILN_WHERE_COUNT];
    char *columns[KILN_WHERE_COUNT][16];
} picture;

/* A mesh just built, without dead rows. */
static inline picture take_picture(const kiln_mesh *mesh)
{
    picture p = {0};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        ck_assert_uint_eq(table->used, table->live);
        p.rows[where] = table->used;
        for (size_t c = 0; c < table->fields.count; c++) {
            size_t size = (size_t)table->used * table->fields.data[c].stride;
            p.columns[where][c] = malloc(size + 1);
            memcpy(p.columns[where][c], table->fields.data[c].data, size);
        }
    }
    return p;
}

static inline void drop_picture(picture *p)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (int c = 0; c < 16; c++)
            free(p->columns[where][c]);
}

static inline double total(const char *data, uint32_t rows)
{
    double sum = 0;
    for (uint32_t row = 0; row < rows; row++)
        sum += ((const double *)data)[row];
    return sum;
}

/* Every row with its number, bit for bit, but for the anchor of a vertex, the time of a tet's last
 * change, and conserved fields, of which the total is kept; nothing else is alive. */
static inline void compare_picture(const kiln_mesh *mesh, const picture *p)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        ck_assert_uint_eq(table->live, p->rows[where]);
        for (size_t c = 0; c < table->fields.count; c++)
            if (table->fields.data[c].rule == KILN_RULE_CONSERVE && !table->fields.data[c].core)
                ck_assert_double_eq_tol(total(table->fields.data[c].data, p->rows[where]),
                                        total(p->columns[where][c], p->rows[where]), 1e-9);
        for (uint32_t row = 0; row < p->rows[where]; row++) {
            ck_assert(kiln_row_live(mesh, (kiln_where)where, row));
            for (size_t c = 0; c < table->fields.count; c++) {
                const kiln_field *field = &table->fields.data[c];
                char now[256], then[256];
                ck_assert_uint_le(field->stride, sizeof now);
                memcpy(now, field->data + (size_t)row * field->stride, field->stride);
                memcpy(then, p->columns[where][c] + (size_t)row * field->stride, field->stride);
                if (field->data == (char *)mesh->vertex)
                    memset(now, 0, 4), memset(then, 0, 4);
                if (field->data == (char *)mesh->info)
                    memset(now + 12, 0, 4), memset(then + 12, 0, 4);
                if (field->rule == KILN_RULE_CONSERVE && !field->core)
                    continue;
                ck_assert_msg(memcmp(now, then, field->stride) == 0,
                              "row %u of table %d, column %zu '%s' differs", row, where, c,
                              field->name);
            }
        }
    }
}

static inline kiln_refiner *refiner_on(kiln_mesh *mesh)
{
    kiln_refiner *refiner = NULL;
    kiln_error error = {0};
    ck_assert_msg(kiln_refiner_create(mesh, &refiner, &error) == KILN_OK, "%s", error.message);
    return refiner;
}

/* All to a generation; nothing may stand in the way. */
static inline void refine_all(kiln_refiner *refiner, const kiln_mesh *mesh, uint32_t goal)
{
    kiln_u32_array all = {0};
    kiln_refine_report report;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ck_assert_int_eq(kiln_array_push(mesh->context, &all, t, NULL), KILN_OK);
    ck_assert_int_eq(kiln_refine_tets(refiner, all.data, all.count, goal, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.blocked, 0);
    kiln_array_free(mesh->context, &all);
}

/* Everything back as far as it goes. */
static inline kiln_refine_report coarsen_all(kiln_refiner *refiner)
{
    kiln_refine_report report;
    kiln_refine_choice everything = {0};
    ck_assert_int_eq(kiln_coarsen_where(refiner, everything, 0, &report, NULL), KILN_OK);
    return report;
}

/* One step or undoing in a transaction of its own. */
static inline kiln_verdict try_change(kiln_refiner *refiner, kiln_mesh *mesh, uint32_t tet,
                                      kiln_verdict (*change)(kiln_refiner *, kiln_txn *, uint32_t))
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_uint_gt(txn.depth, 0);
    return kiln_txn_settle(&txn, change(refiner, &txn, tet));
}

/* The tets at a vertex to a generation; nothing may stand in the way. */
static inline void refine_star(kiln_refiner *refiner, uint32_t vertex, uint32_t goal)
{
    kiln_refine_report report;
    ck_assert_int_eq(kiln_refine_stars(refiner, &vertex, 1, goal, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.blocked, 0);
}

static inline void expect_counts(const kiln_mesh *mesh, uint32_t tets, uint32_t vertices)
{
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, tets);
    ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].live, vertices);
}

#endif
