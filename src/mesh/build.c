#include "mesh/build.h"
#include "base/parallel.h"
#include "base/schema.h"
#include "geom/predicates.h"
#include "mesh/adjacency.h"
#include "mesh/classify.h"
#include "mesh/parts.h"
#include "mesh/walk.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 16384 };

static const struct {
    const char *name, *rule;
} defect_texts[KILN_DEFECT_COUNT] = {
#define DEFECT_TEXT(name, text, rule) {text, rule},
    KILN_DEFECT_TABLE(DEFECT_TEXT)
#undef DEFECT_TEXT
};

const char *kiln_defect_name(kiln_defect defect)
{
    return defect_texts[defect].name;
}

const char *kiln_defect_rule(kiln_defect defect)
{
    return defect_texts[defect].rule;
}

kiln_build_options kiln_build_default_options(void)
{
    return (kiln_build_options){.policy = KILN_BUILD_STRICT, .feature_angle = 0.7853981633974483};
}

typedef struct builder {
    kiln_context *context;
    const kiln_soup *soup;
    kiln_build_options options;
    kiln_build_report *report;
    kiln_mesh *mesh;
    const kiln_vec3 *u;     /* [soup point] material positions */
    int8_t *sign;           /* [soup tet] orientation in u; 2: left out */
    uint32_t *vertex_of;    /* [soup point] number in the mesh or KILN_NONE */
    uint8_t *triangle_uses; /* [soup triangle] */
    uint32_t *tets_at;      /* [vertex] tets that have it */
} builder;

static void note_defect(builder *b, kiln_defect defect, size_t item)
{
    if (b->report->count[defect]++ == 0)
        b->report->first[defect] = item;
}

/* What the policy says about a defect that has been found. */
static kiln_status refuse(const builder *b, kiln_defect defect, const char *what, kiln_error *error)
{
    if (b->options.policy == KILN_BUILD_SURVEY || b->report->count[defect] == 0)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, b->options.place, 0, -1,
                     "%s %zu: %s; it breaks this rule (%zu in all: %s)", what,
                     b->report->first[defect] + 1, kiln_defect_rule(defect),
                     b->report->count[defect], kiln_defect_name(defect));
}

static void find_signs(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    builder *b = user;
    const kiln_vec3 *p = b->u;
    for (size_t t = begin; t < end; t++) {
        const uint32_t *v = b->soup->tets.data[t].v;
        bool repeated = v[0] == v[1] || v[0] == v[2] || v[0] == v[3] || v[1] == v[2] ||
                        v[1] == v[3] || v[2] == v[3];
        b->sign[t] = repeated ? 2 : (int8_t)kiln_orient3d_sign(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
}

/* Is the tet oriented otherwise in the world than in the material? */
static bool spaces_disagree(const builder *b, size_t t)
{
    const uint32_t *v = b->soup->tets.data[t].v;
    const kiln_vec3 *x = b->soup->points.data;
    return b->u != x && kiln_orient3d_sign(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) != b->sign[t];
}

/* Orientation by the exact predicate. A mesh that is negative throughout merely uses the other
 * convention and is turned. Turning does not mend a tet whose two spaces disagree. */
static kiln_status examine_tets(builder *b, kiln_error *error)
{
    size_t tets = b->soup->tets.count, positive = 0, negative = 0, torn = 0;
    kiln_parallel_for(b->context, tets, GRAIN, find_signs, b);
    for (size_t t = 0; t < tets; t++) {
        positive += b->sign[t] == 1;
        negative += b->sign[t] == -1;
    }
    b->report->reversed = positive == 0 && negative > 0;
    for (size_t t = 0; t < tets; t++) {
        if (b->sign[t] == 2)
            note_defect(b, KILN_DEFECT_REPEATED_CORNER, t);
        else if (b->sign[t] == 0)
            note_defect(b, KILN_DEFECT_FLAT, t);
        else {
            bool disagree = spaces_disagree(b, t);
            torn += disagree;
            if (disagree || (b->sign[t] < 0 && !b->report->reversed))
                note_defect(b, KILN_DEFECT_INVERTED, t);
        }
    }
    KILN_TRY(refuse(b, KILN_DEFECT_FLAT, "tet", error));
    if (b->options.policy == KILN_BUILD_STRICT)
        KILN_TRY(refuse(b, KILN_DEFECT_REPEATED_CORNER, "tet", error));
    if (b->options.policy == KILN_BUILD_STRICT || torn > 0)
        return refuse(b, KILN_DEFECT_INVERTED, "tet", error);
    return KILN_OK;
}

/* Vertices in order of the points that kept tets use. */
static kiln_status add_vertices(builder *b, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    kiln_mesh *mesh = b->mesh;
    for (size_t i = 0; i < soup->points.count; i++)
        b->vertex_of[i] = KILN_NONE;
    for (size_t t = 0; t < soup->tets.count; t++)
        if (b->sign[t] != 2)
            for (int k = 0; k < 4; k++)
                b->vertex_of[soup->tets.data[t].v[k]] = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < soup->points.count; i++) {
        if (b->vertex_of[i] == 0)
            b->vertex_of[i] = count++;
        else
            note_defect(b, KILN_DEFECT_LOOSE_VERTEX, i);
    }
    KILN_TRY(kiln_table_reserve(b->context, &mesh->table[KILN_ON_VERTEX], count, error));
    kiln_mesh_refresh(mesh);
    mesh->table[KILN_ON_VERTEX].used = mesh->table[KILN_ON_VERTEX].live = count;
    for (size_t i = 0; i < soup->points.count; i++) {
        uint32_t v = b->vertex_of[i];
        if (v == KILN_NONE)
            continue;
        mesh->x[v] = soup->points.data[i];
        mesh->u[v] = b->u[i];
        mesh->vertex[v] = (kiln_vertex_info){
            .tet = KILN_NONE, .tag = soup->point_tags.count ? soup->point_tags.data[i] : 0};
    }
    return KILN_OK;
}

static kiln_status add_tets(builder *b, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    kiln_mesh *mesh = b->mesh;
    size_t kept = 0;
    for (size_t t = 0; t < soup->tets.count; t++)
        kept += b->sign[t] != 2;
    if (kept > KILN_MAX_TETS)
        return kiln_fail(error, KILN_ERR_LIMIT, b->options.place, 0, -1, "more than %u tets",
                         KILN_MAX_TETS);
    KILN_TRY(kiln_table_reserve(b->context, &mesh->table[KILN_ON_TET], kept, error));
    kiln_mesh_refresh(mesh);
    bool turn_negative = b->report->reversed || b->options.policy == KILN_BUILD_REPAIR;
    uint32_t t = 0;
    for (size_t i = 0; i < soup->tets.count; i++) {
        if (b->sign[i] == 2)
            continue;
        const uint32_t *v = soup->tets.data[i].v;
        kiln_tet *tet = &mesh->tet[t];
        for (int k = 0; k < 4; k++)
            tet->v[k] = b->vertex_of[v[k]];
        if (b->sign[i] < 0 && turn_negative) {
            uint32_t swap = tet->v[2];
            tet->v[2] = tet->v[3];
            tet->v[3] = swap;
        }
        for (int k = 0; k < 4; k++)
            mesh->vertex[tet->v[k]].tet = t;
        mesh->info[t] =
            (kiln_tet_info){.region = soup->tet_tags.count ? soup->tet_tags.data[i] : 0};
        t++;
    }
    mesh->table[KILN_ON_TET].used = mesh->table[KILN_ON_TET].live = t;
    return KILN_OK;
}

typedef struct sorted_tet {
    uint32_t v[4], index;
} sorted_tet;

static int compare_tets(const void *a, const void *b)
{
    const sorted_tet *left = a, *right = b;
    for (int k = 0; k < 4; k++)
        if (left->v[k] != right->v[k])
            return left->v[k] < right->v[k] ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

/* Only called when faces clash, which duplicates always cause. Leaves out all but the first. */
static kiln_status find_duplicates(builder *b, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    size_t count = 0, size = (soup->tets.count + 1) * sizeof(sorted_tet);
    sorted_tet *sorted = kiln_resize(b->context, NULL, 0, size);
    if (!sorted)
        return kiln_fail_memory(error, size);
    for (size_t t = 0; t < soup->tets.count; t++) {
        if (b->sign[t] == 2)
            continue;
        sorted_tet *s = &sorted[count++];
        memcpy(s->v, soup->tets.data[t].v, sizeof s->v);
        s->index = (uint32_t)t;
        for (int i = 1; i < 4; i++)
            for (int j = i; j > 0 && s->v[j] < s->v[j - 1]; j--) {
                uint32_t swap = s->v[j];
                s->v[j] = s->v[j - 1];
                s->v[j - 1] = swap;
            }
    }
    qsort(sorted, count, sizeof *sorted, compare_tets);
    size_t first = SIZE_MAX;
    for (size_t i = 1; i < count; i++)
        if (memcmp(sorted[i].v, sorted[i - 1].v, sizeof sorted[i].v) == 0) {
            b->sign[sorted[i].index] = 2;
            b->report->count[KILN_DEFECT_DUPLICATE]++;
            first = sorted[i].index < first ? sorted[i].index : first;
        }
    b->report->first[KILN_DEFECT_DUPLICATE] = first;
    kiln_release(b->context, sorted, size);
    return KILN_OK;
}

/* Soup triangles in mesh numbers; those with a point no tet uses cannot match. */
static kiln_status mesh_triangles(builder *b, kiln_soup_triangle **out, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    size_t size = (soup->triangles.count + 1) * sizeof **out;
    kiln_soup_triangle *triangles = kiln_resize(b->context, NULL, 0, size);
    if (!triangles)
        return kiln_fail_memory(error, size);
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_soup_triangle mapped = {{0, 0, 0}}; /* no face has three equal corners */
        if (b->vertex_of[v[0]] != KILN_NONE && b->vertex_of[v[1]] != KILN_NONE &&
            b->vertex_of[v[2]] != KILN_NONE)
            for (int k = 0; k < 3; k++)
                mapped.v[k] = b->vertex_of[v[k]];
        triangles[i] = mapped;
    }
    *out = triangles;
    return KILN_OK;
}

/* The soup number of a tet of the mesh: tets left out shift them. */
static size_t soup_tet(const builder *b, size_t tet)
{
    size_t i = 0;
    for (size_t kept = 0;; i++)
        if (b->sign[i] != 2 && kept++ == tet)
            return i;
}

static size_t soup_point(const builder *b, uint32_t vertex)
{
    size_t i = 0;
    while (b->vertex_of[i] != vertex)
        i++;
    return i;
}

static kiln_status link_tets(builder *b, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    if (soup->triangles.count >= KILN_MAX_FACES)
        return kiln_fail(error, KILN_ERR_LIMIT, b->options.place, 0, -1, "more than %u triangles",
                         KILN_MAX_FACES);
    memset(b->triangle_uses, 0, soup->triangles.count);
    kiln_soup_triangle *triangles = NULL;
    KILN_TRY(mesh_triangles(b, &triangles, error));
    kiln_status status = kiln_adjacency_find(b->mesh, triangles, soup->triangles.count,
                                             b->triangle_uses, b->report, error);
    kiln_release(b->context, triangles, (soup->triangles.count + 1) * sizeof *triangles);
    for (int d = KILN_DEFECT_CROWDED_FACE; d <= KILN_DEFECT_SAME_SIDE; d++)
        if (b->report->count[d] > 0)
            b->report->first[d] = soup_tet(b, b->report->first[d]);
    return status;
}

static kiln_status add_all(builder *b, kiln_error *error)
{
    KILN_TRY(add_vertices(b, error));
    KILN_TRY(add_tets(b, error));
    return link_tets(b, error);
}

/* Vertices, tets and links; once more without them when duplicates are to be left out. */
static kiln_status connect(builder *b, kiln_error *error)
{
    kiln_build_report *report = b->report;
    KILN_TRY(add_all(b, error));
    if (report->count[KILN_DEFECT_CROWDED_FACE] + report->count[KILN_DEFECT_SAME_SIDE] > 0) {
        KILN_TRY(find_duplicates(b, error));
        if (b->options.policy == KILN_BUILD_STRICT)
            KILN_TRY(refuse(b, KILN_DEFECT_DUPLICATE, "tet", error));
        if (report->count[KILN_DEFECT_DUPLICATE] > 0) {
            report->count[KILN_DEFECT_CROWDED_FACE] = report->count[KILN_DEFECT_SAME_SIDE] = 0;
            report->count[KILN_DEFECT_LOOSE_VERTEX] = 0;
            KILN_TRY(add_all(b, error));
        }
    }
    KILN_TRY(refuse(b, KILN_DEFECT_CROWDED_FACE, "tet", error));
    return refuse(b, KILN_DEFECT_SAME_SIDE, "tet", error);
}

/* Face records in order of tet and face, tagged by the listed triangles. */
static kiln_status add_surface(builder *b, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    kiln_mesh *mesh = b->mesh;
    uint32_t tets = mesh->table[KILN_ON_TET].used, count = 0;
    for (uint32_t t = 0; t < tets; t++)
        for (int f = 0; f < 4; f++)
            count += kiln_link_is_surface(mesh->tet[t].n[f]);
    KILN_TRY(kiln_table_reserve(b->context, &mesh->table[KILN_ON_FACE], count, error));
    kiln_mesh_refresh(mesh);
    uint32_t face = 0;
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            if (!kiln_link_is_surface(link))
                continue;
            uint32_t triangle = link - KILN_LINK_SURFACE;
            bool tagged = link != KILN_NONE && soup->triangle_tags.count > 0;
            mesh->face[face] = (kiln_face){.at = kiln_link_to(t, f),
                                           .tag = tagged ? soup->triangle_tags.data[triangle] : 0};
            if (link != KILN_NONE)
                for (size_t k = 0; k < mesh->table[KILN_ON_FACE].fields.count; k++) {
                    kiln_field *field = &mesh->table[KILN_ON_FACE].fields.data[k];
                    const kiln_soup_field *source =
                        field->core ? NULL : kiln_soup_find_field(soup, KILN_ON_FACE, field->name);
                    if (source)
                        memcpy(field->data + (size_t)face * field->stride,
                               source->data.data + (size_t)triangle * source->components,
                               field->stride);
                }
            mesh->tet[t].n[f] = KILN_LINK_SURFACE + face++;
        }
    mesh->table[KILN_ON_FACE].used = mesh->table[KILN_ON_FACE].live = count;
    for (size_t i = 0; i < soup->triangles.count; i++) {
        if (b->triangle_uses[i] == 0)
            note_defect(b, KILN_DEFECT_LOOSE_TRIANGLE, i);
        b->report->interior_triangles += b->triangle_uses[i] == 2;
    }
    return KILN_OK;
}

/* Sets a mark on all tets of the edge; false when there is no such edge. */
static kiln_status mark_edge(builder *b, uint32_t index, int shift, kiln_walker *walker,
                             kiln_error *error)
{
    kiln_mesh *mesh = b->mesh;
    uint32_t a = b->vertex_of[b->soup->edges.data[index].v[0]];
    uint32_t c = b->vertex_of[b->soup->edges.data[index].v[1]];
    walker->tets.count = 0;
    if (a != KILN_NONE && c != KILN_NONE && a != c)
        KILN_TRY(kiln_edge_tets(mesh, a, c, walker, error));
    if (walker->tets.count == 0)
        note_defect(b, KILN_DEFECT_LOOSE_EDGE, index);
    for (size_t i = 0; i < walker->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        uint32_t e = kiln_edge_of[kiln_tet_corner(tet, a)][kiln_tet_corner(tet, c)];
        mesh->info[walker->tets.data[i]].marks |= 1u << (shift + (int)e);
    }
    return KILN_OK;
}

/* Marks the face in its one or two tets, found through the star of a corner. */
static kiln_status mark_triangle(builder *b, uint32_t index, kiln_walker *walker, kiln_error *error)
{
    kiln_mesh *mesh = b->mesh;
    uint32_t v[3];
    for (int k = 0; k < 3; k++)
        v[k] = b->vertex_of[b->soup->triangles.data[index].v[k]];
    if (b->triangle_uses[index] == 0)
        return KILN_OK;
    KILN_TRY(kiln_edge_tets(mesh, v[0], v[1], walker, error));
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t t = walker->tets.data[i];
        const kiln_tet *tet = &mesh->tet[t];
        if (kiln_tet_corner(tet, v[2]) == 4)
            continue;
        uint32_t f = 6 - kiln_tet_corner(tet, v[0]) - kiln_tet_corner(tet, v[1]) -
                     kiln_tet_corner(tet, v[2]);
        mesh->info[t].marks |= 1u << (KILN_MARK_REQUIRED_FACE + f);
    }
    return KILN_OK;
}

static kiln_status apply_marks(builder *b, kiln_walker *walker, kiln_error *error)
{
    const kiln_soup *soup = b->soup;
    for (size_t i = 0; i < soup->ridges.count; i++)
        KILN_TRY(mark_edge(b, soup->ridges.data[i], KILN_MARK_FEATURE_EDGE, walker, error));
    for (size_t i = 0; i < soup->required_edges.count; i++)
        KILN_TRY(
            mark_edge(b, soup->required_edges.data[i], KILN_MARK_REQUIRED_EDGE, walker, error));
    for (size_t i = 0; i < soup->required_triangles.count; i++)
        KILN_TRY(mark_triangle(b, soup->required_triangles.data[i], walker, error));
    for (size_t i = 0; i < soup->corners.count; i++)
        if (b->vertex_of[soup->corners.data[i]] != KILN_NONE)
            b->mesh->vertex[b->vertex_of[soup->corners.data[i]]].flags |= KILN_VERTEX_CORNER;
    for (size_t i = 0; i < soup->required_points.count; i++)
        if (b->vertex_of[soup->required_points.data[i]] != KILN_NONE)
            b->mesh->vertex[b->vertex_of[soup->required_points.data[i]]].flags |=
                KILN_VERTEX_REQUIRED;
    return KILN_OK;
}

/* Only surface vertices can fail: a star without surface faces is a whole ball. */
static kiln_status check_manifold(builder *b, kiln_walker *walker, kiln_error *error)
{
    kiln_mesh *mesh = b->mesh;
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    memset(b->tets_at, 0, (size_t)vertices * sizeof(uint32_t));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++)
            b->tets_at[mesh->tet[t].v[k]]++;
    for (uint32_t v = 0; v < vertices; v++) {
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            continue;
        kiln_vertex_state state;
        uint32_t other;
        KILN_TRY(kiln_vertex_examine(mesh, v, walker, &state, &other, error));
        if (walker->tets.count != b->tets_at[v])
            state = KILN_VERTEX_STAR_SPLIT;
        if (state == KILN_VERTEX_MANIFOLD)
            continue;
        kiln_defect defect =
            state == KILN_VERTEX_EDGE_SPLIT ? KILN_DEFECT_SPLIT_EDGE : KILN_DEFECT_SPLIT_VERTEX;
        note_defect(b, defect, b->report->count[defect] ? 0 : soup_point(b, v));
    }
    if (b->options.policy != KILN_BUILD_STRICT)
        return KILN_OK;
    KILN_TRY(refuse(b, KILN_DEFECT_SPLIT_VERTEX, "vertex", error));
    return refuse(b, KILN_DEFECT_SPLIT_EDGE, "vertex", error);
}

static kiln_status declare_fields(builder *b, kiln_error *error)
{
    for (size_t i = 0; i < b->soup->fields.count; i++) {
        const kiln_soup_field *field = &b->soup->fields.data[i];
        if ((const kiln_vec3 *)field->data.data != b->u) /* those are the material positions */
            KILN_TRY(kiln_mesh_add_field(b->mesh, field->name, field->where, KILN_F64,
                                         field->components, kiln_rule_default(field->where),
                                         error));
    }
    return KILN_OK;
}

/* Face fields were copied with the surface. */
static void copy_fields(builder *b)
{
    for (int where = 0; where <= KILN_ON_TET; where++) {
        kiln_table *table = &b->mesh->table[where];
        for (size_t k = 0; k < table->fields.count; k++) {
            kiln_field *field = &table->fields.data[k];
            const kiln_soup_field *source =
                field->core ? NULL : kiln_soup_find_field(b->soup, (kiln_where)where, field->name);
            if (!source)
                continue;
            uint32_t row = 0;
            for (size_t i = 0; i < kiln_soup_count(b->soup, (kiln_where)where); i++) {
                bool kept =
                    where == KILN_ON_VERTEX ? b->vertex_of[i] != KILN_NONE : b->sign[i] != 2;
                if (kept)
                    memcpy(field->data + (size_t)row++ * field->stride,
                           source->data.data + i * source->components, field->stride);
            }
        }
    }
}

/* M9, and what the predicates demand of "u". */
static kiln_status check_finite(const builder *b, kiln_error *error)
{
    for (size_t k = 0; k < b->soup->fields.count; k++) {
        const kiln_soup_field *field = &b->soup->fields.data[k];
        for (size_t i = 0; i < field->data.count; i++)
            if (!isfinite(field->data.data[i]))
                return kiln_fail(error, KILN_ERR_INPUT, b->options.place, 0, -1,
                                 "field '%s' has a value that is not finite, at item %zu",
                                 field->name, i / field->components + 1);
    }
    return KILN_OK;
}

/* Of what is farther, volumes and qualities are no numbers. */
static kiln_status check_places(const builder *b, const kiln_vec3 *at, kiln_error *error)
{
    for (size_t i = 0; i < b->soup->points.count; i++)
        if (!(kiln_v3_norm(at[i]) <= KILN_LARGEST))
            return kiln_fail(
                error, KILN_ERR_INPUT, b->options.place, 0, -1,
                "point %zu must be at most %g m from 0, is at (%g, %g, %g): change the unit", i + 1,
                KILN_LARGEST, at[i].x, at[i].y, at[i].z);
    return KILN_OK;
}

static kiln_status build(builder *b, kiln_error *error)
{
    kiln_mesh *mesh = b->mesh;
    KILN_TRY(kiln_soup_check(b->soup, b->options.place, error));
    KILN_TRY(check_finite(b, error));
    const kiln_soup_field *material = kiln_soup_find_field(b->soup, KILN_ON_VERTEX, "u");
    b->u = material && material->components == 3 ? (const kiln_vec3 *)material->data.data
                                                 : b->soup->points.data;
    KILN_TRY(check_places(b, b->soup->points.data, error));
    KILN_TRY(check_places(b, b->u, error));
    KILN_TRY(declare_fields(b, error));
    KILN_TRY(examine_tets(b, error));
    if (b->soup->tets.count == b->report->count[KILN_DEFECT_REPEATED_CORNER])
        return kiln_fail(error, KILN_ERR_INPUT, b->options.place, 0, -1, "there are no tets");
    KILN_TRY(connect(b, error));
    KILN_TRY(add_surface(b, error));
    copy_fields(b);
    KILN_TRY(kiln_parts_number(mesh, error));
    kiln_walker walker;
    kiln_walker_init(&walker, b->context);
    kiln_status status = apply_marks(b, &walker, error);
    if (status == KILN_OK)
        status = kiln_mesh_classify(mesh, b->options.feature_angle, error);
    if (status == KILN_OK)
        status = check_manifold(b, &walker, error);
    kiln_walker_free(&walker);
    return status;
}

kiln_status kiln_mesh_build(kiln_context *context, const kiln_soup *soup,
                            const kiln_build_options *options, kiln_mesh **out,
                            kiln_build_report *report, kiln_error *error)
{
    kiln_build_report unread;
    builder b = {.context = context, .soup = soup, .report = report ? report : &unread};
    b.options = options ? *options : kiln_build_default_options();
    memset(b.report, 0, sizeof *b.report);
    size_t tets = soup->tets.count + 1, points = soup->points.count + 1;
    b.sign = kiln_resize(context, NULL, 0, tets);
    b.vertex_of = kiln_resize(context, NULL, 0, points * sizeof(uint32_t));
    b.tets_at = kiln_resize(context, NULL, 0, points * sizeof(uint32_t));
    b.triangle_uses = kiln_resize(context, NULL, 0, soup->triangles.count + 1);
    kiln_status status = kiln_mesh_create(context, &b.mesh, error);
    if (status == KILN_OK && !(b.sign && b.vertex_of && b.tets_at && b.triangle_uses))
        status = kiln_fail_memory(error, tets + points * 2 * sizeof(uint32_t));
    if (status == KILN_OK)
        status = build(&b, error);
    kiln_release(context, b.sign, tets);
    kiln_release(context, b.vertex_of, points * sizeof(uint32_t));
    kiln_release(context, b.tets_at, points * sizeof(uint32_t));
    kiln_release(context, b.triangle_uses, soup->triangles.count + 1);
    if (status != KILN_OK) {
        kiln_mesh_destroy(b.mesh);
        return status;
    }
    *out = b.mesh;
    return KILN_OK;
}
