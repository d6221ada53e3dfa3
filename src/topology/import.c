#include "topology/import.h"
#include "mesh/build.h"
#include "mesh/reorder.h"
#include "topology/repair.h"

#include <string.h>

kiln_mesh_options kiln_mesh_default_options(void)
{
    return (kiln_mesh_options){.policy = KILN_MESH_STRICT,
                               .feature_angle = kiln_build_default_options().feature_angle};
}

static kiln_status build_options(const kiln_mesh_options *options, const char *place,
                                 kiln_build_options *out, kiln_error *error)
{
    *out = kiln_build_default_options();
    out->place = place;
    if (options->policy != KILN_MESH_STRICT && options->policy != KILN_MESH_REPAIR)
        return kiln_fail(error, KILN_ERR_INPUT, "policy", 0, -1, "there is no policy %d",
                         (int)options->policy);
    if (!(options->feature_angle >= 0.0 && options->feature_angle <= 3.1415926535897932))
        return kiln_fail(error, KILN_ERR_INPUT, "feature_angle", 0, -1,
                         "must be between 0 and pi, got %g", options->feature_angle);
    out->policy = options->policy == KILN_MESH_REPAIR ? KILN_BUILD_REPAIR : KILN_BUILD_STRICT;
    out->feature_angle = options->feature_angle;
    return KILN_OK;
}

/* Cuts leave dead rows behind; a mesh that is handed out has none. */
static kiln_status cut(kiln_mesh *mesh, int32_t tag, const char *place, kiln_repair_report *report,
                       kiln_error *error)
{
    kiln_verdict verdict = kiln_mesh_repair(mesh, tag, report);
    if (verdict == KILN_ACCEPTED)
        return kiln_mesh_compact(mesh, NULL, error);
    bool memory = verdict == KILN_REFUSED_MEMORY;
    return kiln_fail(error, memory ? KILN_ERR_MEMORY : KILN_ERR_INPUT, place, 0, -1,
                     "cannot be repaired: %s", kiln_verdict_reason(verdict));
}

static kiln_mesh_report summary(const kiln_build_report *build, const kiln_repair_report *repair,
                                size_t tets)
{
    const size_t *count = build->count;
    return (kiln_mesh_report){.points_unused = count[KILN_DEFECT_LOOSE_VERTEX],
                              .triangles_unused = count[KILN_DEFECT_LOOSE_TRIANGLE],
                              .triangles_inside = build->interior_triangles,
                              .tets_turned = build->reversed ? tets : count[KILN_DEFECT_INVERTED],
                              .tets_dropped =
                                  count[KILN_DEFECT_REPEATED_CORNER] + count[KILN_DEFECT_DUPLICATE],
                              .vertices_split = repair->vertices_split,
                              .edges_split = repair->edges_split,
                              .tunnels = repair->tunnels};
}

void kiln_mesh_report_log(kiln_context *context, const char *place, const kiln_mesh_report *r)
{
    const struct {
        size_t count;
        const char *what;
    } rows[] = {{r->points_unused, "points in no tet left out"},
                {r->triangles_unused, "triangles that are no face left out"},
                {r->triangles_inside, "triangles between tets left out"},
                {r->tets_turned, "tets turned"},
                {r->tets_dropped, "tets dropped"},
                {r->vertices_split, "vertices split"},
                {r->edges_split, "edges split"},
                {r->tunnels, "tunnels cut"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].count > 0)
            kiln_log(context, KILN_LOG_WARNING, "%s: %zu %s", place, rows[i].count, rows[i].what);
}

kiln_status kiln_mesh_import(kiln_context *context, const kiln_soup *soup, const char *place,
                             const kiln_mesh_options *options, kiln_mesh **out,
                             kiln_mesh_report *report, kiln_error *error)
{
    kiln_mesh_options chosen = options ? *options : kiln_mesh_default_options();
    kiln_build_options building;
    kiln_build_report built;
    kiln_repair_report repaired = {0};
    kiln_mesh *mesh;
    KILN_TRY(build_options(&chosen, place, &building, error));
    KILN_TRY(kiln_mesh_build(context, soup, &building, &mesh, &built, error));
    size_t tets = mesh->table[KILN_ON_TET].live;
    if (built.count[KILN_DEFECT_SPLIT_VERTEX] + built.count[KILN_DEFECT_SPLIT_EDGE] > 0) {
        kiln_status status = cut(mesh, chosen.opened_tag, place, &repaired, error);
        if (status != KILN_OK) {
            kiln_mesh_destroy(mesh);
            return status;
        }
    }
    if (report)
        *report = summary(&built, &repaired, tets);
    *out = mesh;
    return KILN_OK;
}

/* `array` becomes a copy of `count` items; none when `from` is NULL. */
#define COPY_ITEMS(array, from, items)                                                             \
    do {                                                                                           \
        size_t items_ = (from) ? (items) : 0;                                                      \
        KILN_TRY(kiln_array_reserve(soup->context, (array), items_, error));                       \
        if (items_ > 0)                                                                            \
            memcpy((array)->data, (from), items_ * sizeof *(array)->data);                         \
        (array)->count = items_;                                                                   \
    } while (0)

static kiln_status copy_arrays(const kiln_mesh_arrays *arrays, kiln_soup *soup, kiln_error *error)
{
    COPY_ITEMS(&soup->points, arrays->points, arrays->point_count);
    COPY_ITEMS(&soup->tets, arrays->tets, arrays->tet_count);
    COPY_ITEMS(&soup->tet_tags, arrays->regions, arrays->tet_count);
    COPY_ITEMS(&soup->triangles, arrays->triangles, arrays->triangle_count);
    COPY_ITEMS(&soup->triangle_tags, arrays->triangle_tags, soup->triangles.count);
    if (arrays->material) {
        kiln_soup_field *field;
        KILN_TRY(kiln_soup_add_field(soup, "u", KILN_ON_VERTEX, 3, &field, error));
        memcpy(field->data.data, arrays->material, field->data.count * sizeof(double));
    }
    return KILN_OK;
}

static kiln_status check_arrays(const kiln_mesh_arrays *arrays, kiln_error *error)
{
    KILN_TRY(kiln_need(arrays, "arrays", error));
    if (arrays->point_count > 0)
        KILN_TRY(kiln_need(arrays->points, "points", error));
    if (arrays->tet_count > 0)
        KILN_TRY(kiln_need(arrays->tets, "tets", error));
    if (arrays->triangle_count > 0)
        KILN_TRY(kiln_need(arrays->triangles, "triangles", error));
    return KILN_OK;
}

kiln_status kiln_mesh_from_arrays(kiln_context *context, const kiln_mesh_arrays *arrays,
                                  const kiln_mesh_options *options, kiln_mesh **out,
                                  kiln_mesh_report *report, kiln_error *error)
{
    KILN_TRY(kiln_need(context, "context", error));
    KILN_TRY(kiln_need(out, "out", error));
    KILN_TRY(check_arrays(arrays, error));
    if (arrays->point_count >= KILN_NONE || arrays->tet_count > KILN_MAX_TETS ||
        arrays->triangle_count >= KILN_MAX_FACES)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                         "at most %u points, %u tets and %u triangles", KILN_NONE - 1,
                         KILN_MAX_TETS, KILN_MAX_FACES - 1);
    kiln_mesh_report done;
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = copy_arrays(arrays, &soup, error);
    if (status == KILN_OK)
        status = kiln_mesh_import(context, &soup, NULL, options, out, &done, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    kiln_mesh_report_log(context, "mesh", &done);
    if (report)
        *report = done;
    return KILN_OK;
}
