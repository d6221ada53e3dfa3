#include "remesh/facets.h"
#include "geom/box.h"
#include "geom/rounding.h"
#include "mesh/classify.h"
#include "mesh/walk.h"

#include <stdlib.h>

/* Sines: triangles that turn by less lie in one plane, and rounding adds to it; patches that turn
 * by more than so many times as much meet in a crease. */
static const double FLAT = 1e-5, CREASE = 16.0;
/* The plane of a needle says nothing; it is no reason to call its neighbours flat. */
static const double NOISIEST = 1e-3;

typedef struct facet {
    uint32_t v[3]; /* outward */
    kiln_vec3 normal;
    double noise;   /* by which rounding may turn the normal */
    uint32_t patch; /* a triangle of the same, finally the lowest */
} facet;

typedef struct side {
    uint32_t low, high; /* vertices */
    uint32_t facet;
} side;

typedef struct facets {
    kiln_mesh *mesh;
    KILN_ARRAY_OF(facet)
    list;
    KILN_ARRAY_OF(side)
    sides;
    kiln_u32_array size;   /* [facet] triangles of the patch, at its first */
    kiln_u32_array inside; /* [facet] whether it has a vertex inside, there */
    kiln_u32_array owner;  /* [vertex] the patch of all its triangles, or one of the two below */
    double rounding;       /* of a coordinate, m */
} facets;

enum { NOBODY = 0xFFFFFFFFu, SEVERAL = 0xFFFFFFFEu };

static double rounding_of(const kiln_mesh *mesh)
{
    kiln_rounding rounding = {0};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            kiln_rounding_add(&rounding, mesh->u[v]);
    return kiln_rounding_length(&rounding);
}

static facet facet_of(const facets *f, uint32_t tet, uint32_t face)
{
    const kiln_mesh *mesh = f->mesh;
    facet t = {0};
    kiln_vec3 p[3];
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        t.v[k] = mesh->tet[tet].v[kiln_face_corner[face][k]];
        p[k] = mesh->u[t.v[k]];
    }
    kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(p[(k + 1) % 3], p[k])));
    t.normal = kiln_v3_normalize(area);
    t.noise = fmin(FLAT + 2.0 * f->rounding * longest / fmax(kiln_v3_norm(area), 1e-300), NOISIEST);
    return t;
}

static kiln_status collect(facets *f, kiln_error *error)
{
    const kiln_mesh *mesh = f->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t face = 0; face < 4 && kiln_tet_live(mesh, t); face++) {
            if (!kiln_link_is_front(mesh, t, mesh->tet[t].n[face]))
                continue;
            facet made = facet_of(f, t, face);
            uint32_t number = made.patch = (uint32_t)f->list.count;
            KILN_TRY(kiln_array_push(mesh->context, &f->list, made, error));
            for (uint32_t k = 0; k < 3; k++) {
                uint32_t a = made.v[k], b = made.v[(k + 1) % 3];
                side s = {a < b ? a : b, a < b ? b : a, number};
                KILN_TRY(kiln_array_push(mesh->context, &f->sides, s, error));
            }
        }
    return KILN_OK;
}

static int by_edge(const void *a, const void *b)
{
    const side *p = a, *q = b;
    if (p->low != q->low)
        return (p->low > q->low) - (p->low < q->low);
    if (p->high != q->high)
        return (p->high > q->high) - (p->high < q->high);
    return (p->facet > q->facet) - (p->facet < q->facet);
}

/* Whether the sides from i on are those of one edge with two triangles. */
static bool is_pair(const facets *f, size_t i)
{
    const side *s = f->sides.data;
    size_t n = f->sides.count;
    return i + 1 < n && s[i].low == s[i + 1].low && s[i].high == s[i + 1].high &&
           !(i + 2 < n && s[i].low == s[i + 2].low && s[i].high == s[i + 2].high) &&
           !(i > 0 && s[i].low == s[i - 1].low && s[i].high == s[i - 1].high);
}

/* Sine of the angle between two. */
static double turn(const facet *a, const facet *b)
{
    return kiln_v3_norm(kiln_v3_cross(a->normal, b->normal));
}

static bool goes_on(const facet *a, const facet *b, double more)
{
    return turn(a, b) <= a->noise + b->noise + more && kiln_v3_dot(a->normal, b->normal) > 0.0;
}

static uint32_t root_of(facets *f, uint32_t i)
{
    while (f->list.data[i].patch != i)
        i = f->list.data[i].patch = f->list.data[f->list.data[i].patch].patch;
    return i;
}

/* Triangles that go on in each other's plane are one patch, as long as it stays in the plane of its
 * first: so a surface that turns slowly is not one. */
static void join(facets *f)
{
    for (size_t i = 0; i < f->sides.count; i++) {
        if (!is_pair(f, i))
            continue;
        uint32_t a = root_of(f, f->sides.data[i].facet), b = root_of(f, f->sides.data[i + 1].facet);
        const facet *p = &f->list.data[f->sides.data[i].facet],
                    *q = &f->list.data[f->sides.data[i + 1].facet];
        if (goes_on(p, q, 0.0) && goes_on(&f->list.data[a], &f->list.data[b], p->noise + q->noise))
            f->list.data[a > b ? a : b].patch = a > b ? b : a;
    }
    for (uint32_t i = 0; i < f->list.count; i++)
        f->list.data[i].patch = root_of(f, i);
}

static kiln_status measure(facets *f, kiln_error *error)
{
    kiln_context *context = f->mesh->context;
    uint32_t vertices = f->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &f->size, f->list.count + 1, error));
    KILN_TRY(kiln_array_reserve(context, &f->inside, f->list.count + 1, error));
    KILN_TRY(kiln_array_reserve(context, &f->owner, vertices + 1, error));
    for (size_t i = 0; i < f->list.count; i++)
        f->size.data[i] = f->inside.data[i] = 0;
    for (uint32_t v = 0; v < vertices; v++)
        f->owner.data[v] = NOBODY;
    for (size_t i = 0; i < f->list.count; i++) {
        uint32_t patch = f->list.data[i].patch;
        f->size.data[patch]++;
        for (int k = 0; k < 3; k++) {
            uint32_t *owner = &f->owner.data[f->list.data[i].v[k]];
            *owner = *owner == NOBODY || *owner == patch ? patch : SEVERAL;
        }
    }
    for (uint32_t v = 0; v < vertices; v++)
        if (f->owner.data[v] < SEVERAL)
            f->inside.data[f->owner.data[v]] = 1;
    return KILN_OK;
}

static bool is_crease(const facets *f, const facet *p, const facet *q)
{
    uint32_t a = p->patch, b = q->patch;
    return a != b && f->size.data[a] > 1 && f->size.data[b] > 1 &&
           (f->inside.data[a] || f->inside.data[b]) && turn(p, q) > CREASE * (p->noise + q->noise);
}

static kiln_status mark_edge(kiln_mesh *mesh, uint32_t va, uint32_t vb, kiln_walker *walker,
                             kiln_error *error)
{
    KILN_TRY(kiln_edge_tets(mesh, va, vb, walker, error));
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t t = walker->tets.data[i];
        const kiln_tet *tet = &mesh->tet[t];
        uint32_t e = kiln_edge_of[kiln_tet_corner(tet, va)][kiln_tet_corner(tet, vb)];
        mesh->info[t].marks |= 1u << (KILN_MARK_FEATURE_EDGE + e);
    }
    return KILN_OK;
}

static kiln_status mark(facets *f, kiln_walker *walker, kiln_error *error)
{
    for (size_t i = 0; i < f->sides.count; i++) {
        const side *s = &f->sides.data[i];
        if (is_pair(f, i) && is_crease(f, &f->list.data[s->facet], &f->list.data[s[1].facet]))
            KILN_TRY(mark_edge(f->mesh, s->low, s->high, walker, error));
    }
    return KILN_OK;
}

static kiln_status find_and_mark(facets *f, kiln_walker *walker, kiln_error *error)
{
    KILN_TRY(collect(f, error));
    if (f->sides.count)
        qsort(f->sides.data, f->sides.count, sizeof *f->sides.data, by_edge);
    join(f);
    KILN_TRY(measure(f, error));
    return mark(f, walker, error);
}

kiln_status kiln_mark_facets(kiln_mesh *mesh, double angle, kiln_error *error)
{
    facets f = {.mesh = mesh, .rounding = rounding_of(mesh)};
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    kiln_status status = find_and_mark(&f, &walker, error);
    kiln_walker_free(&walker);
    kiln_array_free(mesh->context, &f.list);
    kiln_array_free(mesh->context, &f.sides);
    kiln_array_free(mesh->context, &f.size);
    kiln_array_free(mesh->context, &f.inside);
    kiln_array_free(mesh->context, &f.owner);
    return status == KILN_OK ? kiln_mesh_classify(mesh, angle, error) : status;
}
