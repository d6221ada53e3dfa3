#include "remesh/volumes.h"

#include "remesh/measured.h"
#include "remesh/surface.h"

#include <stdlib.h>
#include <string.h>

/* A vertex has no more kinds of matter than that around it, or it stays; rounds of Newton's method,
 * each of so many conjugate gradients. */
enum { MOST_AROUND = 4, ROUNDS = 12, ITERATIONS = 50 };
/* What counts as met, of the volume. */
static const double MET = 1e-12;
/* Matter that only other matter surrounds has a pressure up to a constant: this much more of the
 * diagonal says which. */
static const double FIRM = 1e-9;

static kiln_vec3 corner(const kiln_mesh *mesh, kiln_space space, uint32_t tet, int k)
{
    return kiln_mesh_positions(mesh, space)[mesh->tet[tet].v[k]];
}

static int compare(const void *a, const void *b)
{
    const kiln_volume *p = a, *q = b;
    if (p->part != q->part)
        return p->part < q->part ? -1 : 1;
    return p->region < q->region ? -1 : p->region > q->region;
}

static kiln_volume *find(const kiln_volumes *volumes, const kiln_tet_info *info)
{
    kiln_volume key = {.region = info->region, .part = info->part};
    return volumes->count ? bsearch(&key, volumes->data, volumes->count, sizeof key, compare)
                          : NULL;
}

/* The matter of the tet, new ones at the end, which are sorted in at once: they are few. */
static kiln_status list_matter(kiln_context *context, const kiln_mesh *mesh, kiln_volumes *out,
                               kiln_error *error)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || find(out, &mesh->info[t]))
            continue;
        kiln_volume fresh = {.region = mesh->info[t].region, .part = mesh->info[t].part};
        KILN_TRY(kiln_array_push(context, out, fresh, error));
        qsort(out->data, out->count, sizeof *out->data, compare);
    }
    return KILN_OK;
}

static void measure(const kiln_mesh *mesh, kiln_space space, kiln_volumes *out)
{
    for (size_t i = 0; i < out->count; i++)
        out->data[i].volume = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_volume *matter = kiln_tet_live(mesh, t) ? find(out, &mesh->info[t]) : NULL;
        if (matter)
            matter->volume += kiln_tet_volume_in(mesh, space, t);
    }
}

kiln_status kiln_volumes_note(const kiln_mesh *mesh, kiln_space space, kiln_volumes *out,
                              kiln_error *error)
{
    out->count = 0;
    KILN_TRY(list_matter(mesh->context, mesh, out, error));
    measure(mesh, space, out);
    return KILN_OK;
}

/* A vertex of a curved surface, and how volumes around it change when it moves. */
typedef struct mover {
    uint32_t vertex, around;
    uint32_t matter[MOST_AROUND]; /* number in `noted` */
    kiln_vec3 gradient[MOST_AROUND];
    double area; /* of the largest gradient */
    double edge; /* shortest there */
} mover;

typedef struct restoring {
    kiln_remesher *remesher;
    kiln_space space;
    const kiln_volumes *noted;
    kiln_volumes now;
    kiln_u32_array number; /* [vertex] mover or KILN_NONE */
    KILN_ARRAY_OF(mover)
    movers;
    kiln_f64_array scratch; /* five of `noted->count`: pressure, residual, way, image, diagonal */
} restoring;

static kiln_status list_movers(restoring *r, kiln_error *error)
{
    const kiln_mesh *mesh = r->remesher->mesh;
    uint32_t used = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(mesh->context, &r->number, used, error));
    for (uint32_t v = 0; v < used; v++) {
        r->number.data[v] = KILN_NONE;
        if (!kiln_vertex_live(mesh, v) || r->remesher->side.data[v].freedom != KILN_ON_SURFACE)
            continue;
        r->number.data[v] = (uint32_t)r->movers.count;
        mover m = {.vertex = v};
        KILN_TRY(kiln_array_push(mesh->context, &r->movers, m, error));
    }
    return KILN_OK;
}

static void add_gradient(mover *m, uint32_t matter, kiln_vec3 gradient)
{
    uint32_t k = 0;
    while (k < m->around && k < MOST_AROUND && m->matter[k] != matter)
        k++;
    if (k < MOST_AROUND && k == m->around) {
        m->matter[k] = matter;
        m->gradient[k] = kiln_v3(0, 0, 0);
    }
    m->around += k == m->around;
    if (k < MOST_AROUND)
        m->gradient[k] = kiln_v3_add(m->gradient[k], gradient);
}

/* Of a tet's volume, by its corner k. */
static kiln_vec3 gradient_at(const kiln_vec3 x[4], int k)
{
    const uint8_t *f = kiln_face_corner[k];
    kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(x[f[1]], x[f[0]]), kiln_v3_sub(x[f[2]], x[f[0]]));
    return kiln_v3_scale(area, -1.0 / 6.0);
}

static void note_tet(restoring *r, uint32_t t)
{
    const kiln_mesh *mesh = r->remesher->mesh;
    const kiln_volume *matter = find(r->noted, &mesh->info[t]);
    kiln_vec3 x[4];
    for (int k = 0; k < 4; k++)
        x[k] = corner(mesh, r->space, t, k);
    for (int k = 0; k < 4 && matter; k++) {
        uint32_t number = r->number.data[mesh->tet[t].v[k]];
        if (number == KILN_NONE)
            continue;
        mover *m = &r->movers.data[number];
        add_gradient(m, (uint32_t)(matter - r->noted->data), gradient_at(x, k));
        for (int i = 0; i < 4; i++)
            if (i != k)
                m->edge = fmin(m->edge, kiln_v3_norm(kiln_v3_sub(x[i], x[k])));
    }
}

static void find_gradients(restoring *r)
{
    const kiln_mesh *mesh = r->remesher->mesh;
    for (size_t i = 0; i < r->movers.count; i++) {
        r->movers.data[i].around = 0;
        r->movers.data[i].edge = INFINITY;
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            note_tet(r, t);
    for (size_t i = 0; i < r->movers.count; i++) {
        mover *m = &r->movers.data[i];
        if (m->around > MOST_AROUND)
            m->around = 0;
        m->area = 0.0;
        for (uint32_t k = 0; k < m->around; k++)
            m->area = fmax(m->area, kiln_v3_norm(m->gradient[k]));
        if (!(m->area > 0.0))
            m->around = 0;
    }
}

/* Where pressures in the matter around it send a vertex: by their difference, whatever its area. */
static kiln_vec3 sent(const mover *m, const double *pressure)
{
    kiln_vec3 way = kiln_v3(0, 0, 0);
    for (uint32_t k = 0; k < m->around; k++)
        way = kiln_v3_madd(way, pressure[m->matter[k]] / m->area, m->gradient[k]);
    return way;
}

/* What volumes gain by that. */
static void gain(const restoring *r, const double *pressure, double *out)
{
    memset(out, 0, r->noted->count * sizeof *out);
    for (size_t i = 0; i < r->movers.count; i++) {
        const mover *m = &r->movers.data[i];
        kiln_vec3 way = sent(m, pressure);
        for (uint32_t k = 0; k < m->around; k++)
            out[m->matter[k]] += kiln_v3_dot(m->gradient[k], way);
    }
}

/* By conjugate gradients with the diagonal: some regions, seldom many. What has no curved side
 * has no diagonal, and is left as it is. */
static void find_pressures(const restoring *r)
{
    size_t count = r->noted->count;
    double *p = r->scratch.data, *residual = p + count, *way = residual + count;
    double *image = way + count, *diagonal = image + count, rho = 0.0, first;
    memset(p, 0, 5 * count * sizeof *p);
    for (size_t i = 0; i < r->movers.count; i++) {
        const mover *m = &r->movers.data[i];
        for (uint32_t k = 0; k < m->around; k++)
            diagonal[m->matter[k]] += kiln_v3_norm2(m->gradient[k]) / m->area;
    }
    for (size_t i = 0; i < count; i++) {
        residual[i] = diagonal[i] > 0.0 ? r->noted->data[i].volume - r->now.data[i].volume : 0.0;
        way[i] = diagonal[i] > 0.0 ? residual[i] / diagonal[i] : 0.0;
        rho += residual[i] * way[i];
    }
    first = rho;
    for (int k = 0; k < ITERATIONS && rho > MET * first; k++) {
        double along = 0.0, next = 0.0;
        gain(r, way, image);
        for (size_t i = 0; i < count; i++) {
            image[i] += FIRM * diagonal[i] * way[i];
            along += way[i] * image[i];
        }
        if (!(along > 0.0))
            break;
        for (size_t i = 0; i < count; i++) {
            p[i] += rho / along * way[i];
            residual[i] -= rho / along * image[i];
            next += diagonal[i] > 0.0 ? residual[i] * residual[i] / diagonal[i] : 0.0;
        }
        for (size_t i = 0; i < count; i++)
            way[i] = (diagonal[i] > 0.0 ? residual[i] / diagonal[i] : 0.0) + next / rho * way[i];
        rho = next;
    }
}

static void move_all(restoring *r, double goal)
{
    kiln_remesher *remesher = r->remesher;
    for (size_t i = 0; i < r->movers.count; i++) {
        mover *m = &r->movers.data[i];
        kiln_vec3 way = sent(m, r->scratch.data);
        double length = kiln_v3_norm(way), most = KILN_BAND_OF_EDGE * m->edge;
        if (m->around == 0 || !(length > 0.0))
            continue;
        if (length > most)
            way = kiln_v3_scale(way, most / length);
        kiln_place place = {.side = remesher->side.data[m->vertex]};
        kiln_vec3 p = kiln_v3_add(kiln_mesh_positions(remesher->mesh, r->space)[m->vertex], way);
        if (!kiln_surface_has_room(remesher, m->vertex, p))
            continue;
        kiln_remesher_locate(remesher, p, &place);
        kiln_remesher_move_above(remesher, m->vertex, &place, goal);
    }
}

static double largest_error(const restoring *r)
{
    double largest = 0.0;
    for (size_t i = 0; i < r->noted->count; i++)
        if (r->noted->data[i].volume > 0.0)
            largest = fmax(largest, fabs(r->now.data[i].volume / r->noted->data[i].volume - 1.0));
    return largest;
}

static kiln_status restore(restoring *r, double goal, kiln_error *error)
{
    kiln_context *context = r->remesher->context;
    KILN_TRY(list_movers(r, error));
    KILN_TRY(kiln_array_reserve(context, &r->scratch, 5 * r->noted->count, error));
    KILN_TRY(kiln_array_reserve(context, &r->now, r->noted->count, error));
    r->now.count = r->noted->count;
    memcpy(r->now.data, r->noted->data, r->noted->count * sizeof *r->now.data);
    for (int round = 0; round < ROUNDS; round++) {
        measure(r->remesher->mesh, r->space, &r->now);
        if (largest_error(r) < MET)
            break;
        find_gradients(r);
        find_pressures(r);
        move_all(r, goal);
    }
    return r->remesher->workspace.failed ? kiln_fail_memory(error, 0) : KILN_OK;
}

kiln_status kiln_volumes_restore(kiln_remesher *remesher, const kiln_volumes *noted, double goal,
                                 kiln_error *error)
{
    kiln_context *context = remesher->context;
    restoring r = {.remesher = remesher, .space = remesher->options.space, .noted = noted};
    kiln_status status = noted->count ? restore(&r, goal, error) : KILN_OK;
    kiln_array_free(context, &r.now);
    kiln_array_free(context, &r.number);
    kiln_array_free(context, &r.movers);
    kiln_array_free(context, &r.scratch);
    return status;
}
