#include "remesh/untangle.h"
#include "geom/predicates.h"
#include "geom/rounding.h"
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { PRESENT, PASSED_OVER, PEELED };
enum { NO_TET = -1, SWEEPS = 30, RELAXATIONS = 400 };

/* A face under its ascending corners. */
typedef struct soup_face {
    uint32_t corner[3];
    uint32_t name; /* tet*4 + face */
    uint32_t even; /* the outward order is an even permutation of the ascending one */
} soup_face;

typedef struct untangler {
    kiln_soup *soup;
    kiln_context *context;
    KILN_ARRAY_OF(soup_face)
    faces;
    KILN_ARRAY_OF(int64_t)
    across;                    /* [tet*4 + face] the face beyond, or NO_TET */
    kiln_u32_array star_start; /* [point + 1] */
    kiln_u32_array star;       /* tets of a point */
    KILN_ARRAY_OF(uint8_t)
    on_surface; /* [point] */
    KILN_ARRAY_OF(uint8_t)
    gone;            /* [tet] PRESENT, PASSED_OVER (the builder judges it) or PEELED */
    double rounding; /* of a coordinate, m */
    kiln_untangle_report *report;
} untangler;

static bool has_repeat(const uint32_t *v)
{
    return v[0] == v[1] || v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3] ||
           v[2] == v[3];
}

static int tet_sign(const untangler *u, size_t t)
{
    const uint32_t *v = u->soup->tets.data[t].v;
    const kiln_vec3 *p = u->soup->points.data;
    return kiln_orient3d_sign(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
}

static soup_face face_of(const untangler *u, uint32_t name)
{
    const uint32_t *v = u->soup->tets.data[name / 4].v;
    soup_face f = {.name = name, .even = 1};
    for (int i = 0; i < 3; i++)
        f.corner[i] = v[kiln_face_corner[name % 4][i]];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2 - i; j++)
            if (f.corner[j] > f.corner[j + 1]) {
                uint32_t swap = f.corner[j];
                f.corner[j] = f.corner[j + 1];
                f.corner[j + 1] = swap;
                f.even ^= 1;
            }
    return f;
}

static int by_corners(const void *a, const void *b)
{
    const soup_face *f = a, *g = b;
    for (int i = 0; i < 3; i++)
        if (f->corner[i] != g->corner[i])
            return f->corner[i] < g->corner[i] ? -1 : 1;
    return (f->name > g->name) - (f->name < g->name);
}

static bool same_corners(const soup_face *f, const soup_face *g)
{
    return memcmp(f->corner, g->corner, sizeof f->corner) == 0;
}

/* Pairs of faces with the same corners; crowded ones are left to the builder's complaint. */
static kiln_status link_faces(untangler *u, kiln_error *error)
{
    size_t tets = u->soup->tets.count;
    u->faces.count = 0;
    KILN_TRY(kiln_array_reserve(u->context, &u->faces, 4 * tets + 1, error));
    KILN_TRY(kiln_array_reserve(u->context, &u->across, 4 * tets + 1, error));
    for (uint32_t name = 0; name < 4 * tets; name++) {
        u->across.data[name] = NO_TET;
        if (!u->gone.data[name / 4])
            u->faces.data[u->faces.count++] = face_of(u, name);
    }
    qsort(u->faces.data, u->faces.count, sizeof *u->faces.data, by_corners);
    memset(u->on_surface.data, 0, u->soup->points.count);
    for (size_t i = 0, j; i < u->faces.count; i = j) {
        const soup_face *f = &u->faces.data[i];
        for (j = i + 1; j < u->faces.count && same_corners(f, &u->faces.data[j]);)
            j++;
        if (j - i == 2) {
            u->across.data[f[0].name] = f[1].name;
            u->across.data[f[1].name] = f[0].name;
        }
        for (int k = 0; k < 3 && j - i != 2; k++)
            u->on_surface.data[f->corner[k]] = 1;
    }
    return KILN_OK;
}

static void turn(untangler *u, size_t t)
{
    uint32_t *v = u->soup->tets.data[t].v, swap = v[2];
    v[2] = v[3];
    v[3] = swap;
}

static double part_volume(const untangler *u, const uint32_t *tets, size_t count)
{
    double sum = 0.0;
    const kiln_vec3 *p = u->soup->points.data;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *v = u->soup->tets.data[tets[i]].v;
        sum += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    return sum;
}

/* Floods one part from `seed`, turning tets that list a shared face in the same order as the tet
 * they were reached from; then the part as a whole is turned if its volume is negative. A tet that
 * has been turned has its faces 2 and 3 exchanged, so links are read before. */
static size_t orient_part(untangler *u, uint32_t seed, uint8_t *state, uint32_t *queue)
{
    enum { UNSEEN, KEPT, TURNED };
    size_t head = 0, tail = 0, turned = 0;
    state[seed] = KEPT;
    queue[tail++] = seed;
    while (head < tail) {
        uint32_t t = queue[head++];
        for (uint32_t f = 0; f < 4; f++) {
            int64_t link = u->across.data[4 * t + f];
            uint32_t s = (uint32_t)(link / 4);
            if (link == NO_TET || state[s] != UNSEEN)
                continue;
            bool same = face_of(u, 4 * t + f).even == face_of(u, (uint32_t)link).even;
            state[s] = (state[t] == TURNED) != same ? TURNED : KEPT;
            queue[tail++] = s;
        }
    }
    for (size_t i = 0; i < tail; i++)
        if (state[queue[i]] == TURNED)
            turn(u, queue[i]);
    bool all = part_volume(u, queue, tail) < 0.0;
    for (size_t i = 0; i < tail; i++) {
        turned += (state[queue[i]] == TURNED) != all;
        if (all)
            turn(u, queue[i]);
    }
    return turned;
}

static kiln_status orient(untangler *u, kiln_error *error)
{
    uint32_t tets = (uint32_t)u->soup->tets.count;
    kiln_u32_array queue = {0};
    KILN_ARRAY_OF(uint8_t)
    state = {0};
    kiln_status status = kiln_array_reserve(u->context, &queue, tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(u->context, &state, tets, error);
    if (status == KILN_OK) {
        memset(state.data, 0, tets);
        for (uint32_t t = 0; t < tets; t++)
            if (!u->gone.data[t] && state.data[t] == 0)
                u->report->turned += orient_part(u, t, state.data, queue.data);
    }
    kiln_array_free(u->context, &queue);
    kiln_array_free(u->context, &state);
    return status;
}

/* Flat, or turned over by no more than its coordinates were rounded by: four points of a flat face
 * after a rotation. */
static bool is_flat(const untangler *u, size_t t)
{
    const uint32_t *v = u->soup->tets.data[t].v;
    const kiln_vec3 *p = u->soup->points.data;
    int sign = tet_sign(u, t);
    double area = 0.0;
    for (int f = 0; f < 4; f++) {
        const uint8_t *c = kiln_face_corner[f];
        kiln_vec3 a = kiln_v3_sub(p[v[c[1]]], p[v[c[0]]]), b = kiln_v3_sub(p[v[c[2]]], p[v[c[0]]]);
        area = fmax(area, 0.5 * kiln_v3_norm(kiln_v3_cross(a, b)));
    }
    double volume = kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    return sign == 0 || (sign < 0 && 3.0 * fabs(volume) <= 2.0 * u->rounding * area);
}

/* A flat tet with some but not all faces outside can go: the surface passes to its other faces,
 * which lie in the same plane. */
static bool peel_flat(untangler *u)
{
    bool any = false;
    for (size_t t = 0; t < u->soup->tets.count; t++) {
        int outside = 0;
        for (uint32_t f = 0; f < 4 && !u->gone.data[t]; f++)
            outside += u->across.data[4 * t + f] == NO_TET;
        if (outside == 0 || outside == 4 || !is_flat(u, t))
            continue;
        u->gone.data[t] = PEELED;
        u->report->peeled++;
        any = true;
        for (uint32_t f = 0; f < 4; f++)
            if (u->across.data[4 * t + f] != NO_TET)
                u->across.data[u->across.data[4 * t + f]] = NO_TET;
    }
    return any;
}

static kiln_status find_stars(untangler *u, kiln_error *error)
{
    size_t points = u->soup->points.count, tets = u->soup->tets.count;
    KILN_TRY(kiln_array_reserve(u->context, &u->star_start, points + 2, error));
    KILN_TRY(kiln_array_reserve(u->context, &u->star, 4 * tets + 1, error));
    memset(u->star_start.data, 0, (points + 2) * sizeof *u->star_start.data);
    for (size_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && !u->gone.data[t]; k++)
            u->star_start.data[u->soup->tets.data[t].v[k] + 2]++;
    for (size_t p = 0; p < points; p++)
        u->star_start.data[p + 2] += u->star_start.data[p + 1];
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && !u->gone.data[t]; k++)
            u->star.data[u->star_start.data[u->soup->tets.data[t].v[k] + 1]++] = t;
    return KILN_OK;
}

/* The plane of the face opposite a point of a tet: unit normal towards where the point must be. */
typedef struct half_space {
    kiln_vec3 normal, on;
    double size;
} half_space;

static half_space opposite(const untangler *u, uint32_t t, uint32_t point)
{
    const uint32_t *v = u->soup->tets.data[t].v;
    const kiln_vec3 *p = u->soup->points.data;
    int c = v[0] == point ? 0 : v[1] == point ? 1 : v[2] == point ? 2 : 3;
    kiln_vec3 a = p[v[kiln_face_corner[c][0]]], b = p[v[kiln_face_corner[c][1]]],
              d = p[v[kiln_face_corner[c][2]]];
    kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(d, a), kiln_v3_sub(b, a));
    return (half_space){kiln_v3_normalize(area), a, sqrt(kiln_v3_norm(area))};
}

static uint32_t bad_in_star(const untangler *u, uint32_t point)
{
    uint32_t bad = 0;
    for (uint32_t i = u->star_start.data[point]; i < u->star_start.data[point + 1]; i++)
        bad += tet_sign(u, u->star.data[i]) <= 0;
    return bad;
}

/* Agmon and Motzkin's relaxation: step after step onto the half space that is violated most, for a
 * margin that shrinks until there is room for it. */
static kiln_vec3 towards_kernel(const untangler *u, uint32_t point, double margin)
{
    kiln_vec3 x = u->soup->points.data[point];
    for (int step = 0; step < RELAXATIONS; step++) {
        double worst = 0.0;
        kiln_vec3 push = kiln_v3(0, 0, 0);
        for (uint32_t i = u->star_start.data[point]; i < u->star_start.data[point + 1]; i++) {
            half_space h = opposite(u, u->star.data[i], point);
            double lack = margin * h.size - kiln_v3_dot(h.normal, kiln_v3_sub(x, h.on));
            if (lack > worst) {
                worst = lack;
                push = kiln_v3_scale(h.normal, 1.01 * lack);
            }
        }
        if (worst == 0.0)
            break;
        x = kiln_v3_add(x, push);
    }
    return x;
}

/* Takes the first place with fewer bad tets than before. */
static bool improve_point(untangler *u, uint32_t point)
{
    kiln_vec3 *p = &u->soup->points.data[point], old = *p;
    uint32_t before = bad_in_star(u, point);
    for (double margin = 0.1; before > 0 && margin > 1e-4; margin *= 0.3) {
        *p = towards_kernel(u, point, margin);
        if (kiln_v3_finite(*p) && bad_in_star(u, point) < before)
            return true;
        *p = old;
    }
    return false;
}

static void move_points(untangler *u, uint8_t *moved)
{
    bool any = true;
    for (int sweep = 0; any && sweep < SWEEPS; sweep++) {
        any = false;
        for (size_t t = 0; t < u->soup->tets.count; t++)
            for (int k = 0; k < 4 && !u->gone.data[t] && tet_sign(u, t) <= 0; k++) {
                uint32_t point = u->soup->tets.data[t].v[k];
                if (u->on_surface.data[point] || !improve_point(u, point))
                    continue;
                moved[point] = 1;
                any = true;
            }
    }
    for (size_t i = 0; i < u->soup->points.count; i++)
        u->report->moved += moved[i];
}

static size_t count_bad(const untangler *u, size_t *first)
{
    size_t bad = 0;
    for (size_t t = u->soup->tets.count; t-- > 0;)
        if (!u->gone.data[t] && tet_sign(u, t) <= 0) {
            *first = t;
            bad++;
        }
    return bad;
}

/* Peeled tets leave the lists; tags and fields of the others close ranks. */
static void drop_peeled(untangler *u)
{
    kiln_soup *soup = u->soup;
    size_t kept = 0;
    for (size_t t = 0; t < soup->tets.count; t++) {
        if (u->gone.data[t] == PEELED)
            continue;
        soup->tets.data[kept] = soup->tets.data[t];
        if (soup->tet_tags.count)
            soup->tet_tags.data[kept] = soup->tet_tags.data[t];
        for (size_t i = 0; i < soup->fields.count; i++) {
            kiln_soup_field *field = &soup->fields.data[i];
            if (field->where == KILN_ON_TET)
                memmove(field->data.data + kept * field->components,
                        field->data.data + t * field->components,
                        field->components * sizeof(double));
        }
        kept++;
    }
    for (size_t i = 0; i < soup->fields.count; i++)
        if (soup->fields.data[i].where == KILN_ON_TET)
            soup->fields.data[i].data.count = kept * soup->fields.data[i].components;
    soup->tet_tags.count = soup->tet_tags.count ? kept : 0;
    soup->tets.count = kept;
}

static kiln_status untangle(untangler *u, kiln_error *error)
{
    KILN_TRY(link_faces(u, error));
    KILN_TRY(orient(u, error));
    u->report->bad = count_bad(u, &u->report->first_left);
    if (u->report->bad == 0)
        return KILN_OK;
    kiln_rounding rounding = {0};
    for (size_t p = 0; p < u->soup->points.count; p++)
        kiln_rounding_add(&rounding, u->soup->points.data[p]);
    u->rounding = kiln_rounding_length(&rounding);
    /* Turning exchanged faces 2 and 3 of some tets. */
    KILN_TRY(link_faces(u, error));
    while (peel_flat(u))
        ;
    KILN_TRY(link_faces(u, error));
    KILN_TRY(find_stars(u, error));
    KILN_ARRAY_OF(uint8_t)
    moved = {0};
    KILN_TRY(kiln_array_reserve(u->context, &moved, u->soup->points.count + 1, error));
    memset(moved.data, 0, u->soup->points.count);
    move_points(u, moved.data);
    kiln_array_free(u->context, &moved);
    u->report->left = count_bad(u, &u->report->first_left);
    drop_peeled(u);
    return KILN_OK;
}

typedef struct sorted_tet {
    uint32_t corner[4], tet;
} sorted_tet;

static int by_tet(const void *a, const void *b)
{
    const sorted_tet *p = a, *q = b;
    for (int i = 0; i < 4; i++)
        if (p->corner[i] != q->corner[i])
            return p->corner[i] < q->corner[i] ? -1 : 1;
    return (p->tet > q->tet) - (p->tet < q->tet);
}

static int by_number(const void *a, const void *b)
{
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return (p > q) - (p < q);
}

/* Tets that name a corner twice, and all but the first of those given several times. */
static kiln_status pass_over(untangler *u, kiln_error *error)
{
    KILN_ARRAY_OF(sorted_tet)
    sorted = {0};
    size_t tets = u->soup->tets.count;
    KILN_TRY(kiln_array_reserve(u->context, &sorted, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        sorted.data[t].tet = t;
        memcpy(sorted.data[t].corner, u->soup->tets.data[t].v, sizeof sorted.data[t].corner);
        qsort(sorted.data[t].corner, 4, sizeof(uint32_t), by_number);
        u->gone.data[t] = has_repeat(u->soup->tets.data[t].v) ? PASSED_OVER : PRESENT;
    }
    qsort(sorted.data, tets, sizeof *sorted.data, by_tet);
    for (size_t i = 1; i < tets; i++)
        if (memcmp(sorted.data[i].corner, sorted.data[i - 1].corner,
                   sizeof sorted.data[i].corner) == 0)
            u->gone.data[sorted.data[i].tet] = PASSED_OVER;
    kiln_array_free(u->context, &sorted);
    return KILN_OK;
}

/* Most input has nothing to mend. */
static bool all_positive(const untangler *u)
{
    size_t first;
    return count_bad(u, &first) == 0;
}

kiln_status kiln_soup_untangle(kiln_soup *soup, kiln_untangle_report *report, kiln_error *error)
{
    untangler u = {.soup = soup, .context = soup->context, .report = report};
    *report = (kiln_untangle_report){0};
    if (kiln_soup_find_field(soup, KILN_ON_VERTEX, "u") || soup->tets.count > KILN_MAX_TETS)
        return KILN_OK;
    kiln_status status = kiln_array_reserve(u.context, &u.gone, soup->tets.count + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(u.context, &u.on_surface, soup->points.count + 1, error);
    if (status == KILN_OK)
        status = pass_over(&u, error);
    if (status == KILN_OK && !all_positive(&u))
        status = untangle(&u, error);
    kiln_array_free(u.context, &u.faces);
    kiln_array_free(u.context, &u.across);
    kiln_array_free(u.context, &u.star_start);
    kiln_array_free(u.context, &u.star);
    kiln_array_free(u.context, &u.on_surface);
    kiln_array_free(u.context, &u.gone);
    return status;
}
