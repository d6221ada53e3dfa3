/* Sizes for plates and needles: as many layers of tets across a body as are asked for where it is
 * thinner than its tets are to be long, and tets along it as long as that.
 *
 * From the middle of every face of the surface, or between regions, a ray goes into the body until
 * it leaves it. Where it is short against the size there, and what it leaves by looks the other
 * way, the body is thin along it, at the corners of all tets on the way. What the rays of a vertex
 * sweep is summed as a tensor: one direction for a plate, two for a needle or where two plates
 * meet. */
#include "remesh/sizing_impl.h"

/* A body is thin where it is less than this part of the size across, and its sides look away from
 * each other by more than 114 degrees: those of a needle with three sides do. */
static const double THIN = 0.5, OPPOSITE = -0.4;
/* Directions that have at least this part of what the rays of a vertex sweep: those of the faces of
 * a curved shell within 30 degrees of each other are one. */
static const double OWN_DIRECTION = 0.25;
/* Edges along the body for the size it has: most of their length is that way. */
static const double ALONG = 0.5;
enum { STEPS = 256, SMOOTHING = 2 };
/* Height of a layer of regular tets and octahedra with edges of 1: as it is, no diagonal across a
 * layer is so long that size control would split it. */
static const double LAYER = 0.81649658092772603;
/* Tets in a unit of volume: regular ones in a layer, which is what there is room for, and those
 * that fill a body. */
static const double IN_LAYER = 8.4852813742385713, IN_BODY = 12.0;

/* Edges between features are the size across where they are less than this part of it. */
static const double RIB = 0.6, LEANS = 0.3;
/* Edges round what is curved turn by about this much at most, whatever else they may be. */
static const double MOST_TURN = 0.8;

typedef struct thin_vertex {
    kiln_sym3 swept, over; /* sums of n n' w and of n n' w / t over its rays */
    double weight;
    kiln_mat3 directions;
    double across[3]; /* m, sizes along them; 0: not thin */
    double along;     /* m */
    double thickness; /* m, the least of the directions that are thin */
    double rib;       /* m, the shortest edge across between two features; infinite: none */
    double volume;
    int thin; /* directions */
} thin_vertex;

typedef struct thin_job {
    kiln_sizing *sizing;
    const kiln_thin_sizing *options;
    thin_vertex *vertex;
    double *sum, *count, *thickness, *curvature; /* [vertex] */
} thin_job;

/* Outward, twice the area long. */
static kiln_vec3 face_normal(const kiln_sizing *s, uint32_t tet, uint32_t face)
{
    const uint32_t *v = s->tet[tet].v;
    kiln_vec3 a = s->point[v[kiln_face_corner[face][0]]];
    kiln_vec3 b = kiln_v3_sub(s->point[v[kiln_face_corner[face][1]]], a);
    return kiln_v3_cross(b, kiln_v3_sub(s->point[v[kiln_face_corner[face][2]]], a));
}

typedef struct thin_ray {
    kiln_vec3 from, way;
    double length;
    uint32_t tet, face; /* where it is, and by which face it came or leaves */
    uint32_t passed[STEPS];
    uint32_t count;
} thin_ray;

/* To the face by which it leaves the tet; `face` is that by which it came. */
static void cross_tet(const kiln_sizing *s, thin_ray *ray)
{
    uint32_t exit = ray->face;
    double nearest = INFINITY;
    for (uint32_t f = 0; f < 4; f++) {
        kiln_vec3 n = face_normal(s, ray->tet, f);
        double speed = kiln_v3_dot(n, ray->way);
        if (f == ray->face || !(speed > 0.0))
            continue;
        kiln_vec3 corner = s->point[s->tet[ray->tet].v[kiln_face_corner[f][0]]];
        double way = kiln_v3_dot(n, kiln_v3_sub(corner, ray->from)) / speed;
        if (way < nearest) {
            nearest = way;
            exit = f;
        }
    }
    ray->passed[ray->count++] = ray->tet;
    ray->length = nearest;
    ray->face = exit;
}

/* Whether the body is thin from this wall of a tet inward. */
static bool shoot(const kiln_sizing *s, double limit, thin_ray *ray)
{
    const kiln_vec3 normal = kiln_v3_normalize(face_normal(s, ray->tet, ray->face));
    ray->way = kiln_v3_scale(normal, -1.0);
    ray->count = 0;
    while (ray->count < STEPS) {
        uint32_t entry = ray->face;
        cross_tet(s, ray);
        if (ray->face == entry || !(ray->length < limit))
            return false;
        if (kiln_link_is_wall(s->mesh, ray->tet, s->tet[ray->tet].n[ray->face]))
            return ray->length > 0.0 &&
                   kiln_v3_dot(normal, kiln_v3_normalize(face_normal(s, ray->tet, ray->face))) <
                       OPPOSITE;
        uint32_t link = s->tet[ray->tet].n[ray->face];
        ray->tet = link / 4;
        ray->face = link % 4;
    }
    return false;
}

static void note_ray(thin_job *job, const thin_ray *ray, double area)
{
    const kiln_vec3 n = ray->way;
    const kiln_sym3 outer = {n.x * n.x, n.y * n.y, n.z * n.z, n.y * n.z, n.x * n.z, n.x * n.y};
    double weight = area * ray->length;
    for (uint32_t i = 0; i < ray->count; i++)
        for (int k = 0; k < 4; k++) {
            thin_vertex *v = &job->vertex[job->sizing->tet[ray->passed[i]].v[k]];
            v->swept = kiln_sym3_madd(v->swept, weight, outer);
            v->over = kiln_sym3_madd(v->over, area, outer);
            v->weight += weight;
        }
}

static void look_from(thin_job *job, uint32_t tet, uint32_t face)
{
    const kiln_sizing *s = job->sizing;
    kiln_vec3 p[3], middle = {0};
    double edge = 0.0;
    for (int k = 0; k < 3; k++) {
        p[k] = s->point[s->tet[tet].v[kiln_face_corner[face][k]]];
        middle = kiln_v3_madd(middle, 1.0 / 3.0, p[k]);
    }
    for (int k = 0; k < 3; k++)
        edge += kiln_v3_norm(kiln_v3_sub(p[k], p[(k + 1) % 3])) / 3.0;
    double size = job->options->size > 0.0 ? job->options->size : edge;
    thin_ray ray = {.from = middle, .tet = tet, .face = face};
    if (shoot(s, THIN * size, &ray))
        note_ray(job, &ray, 0.5 * kiln_v3_norm(face_normal(s, tet, face)));
}

static double along(const kiln_sym3 *m, kiln_vec3 n)
{
    return kiln_v3_dot(n, kiln_sym3_apply(*m, n));
}

static kiln_vec3 column(const kiln_mat3 *m, int k)
{
    return kiln_v3(m->m[0][k], m->m[1][k], m->m[2][k]);
}

/* By how much faces there are: what they sweep is as much for both pairs of sides of a bar,
 * whatever its section, and would not tell them apart. */
static void find_directions(const thin_job *job, thin_vertex *v)
{
    v->directions = kiln_m3_identity();
    if (!(v->weight > 0.0))
        return;
    v->directions = kiln_sym3_eigen(v->over).vectors;
    for (int k = 0; k < 3; k++) {
        kiln_vec3 n = column(&v->directions, k);
        if (!(along(&v->swept, n) > OWN_DIRECTION * v->weight))
            break;
        double thickness = along(&v->swept, n) / along(&v->over, n);
        v->across[k] = thickness / (LAYER * fmax(job->options->layers, 1));
        v->thickness = k == 0 ? thickness : fmin(v->thickness, thickness);
        v->thin = k + 1;
    }
}

/* What of an edge is along the body there; 0 where most of it goes across. */
static double length_along(const thin_vertex *v, kiln_vec3 edge)
{
    double length = kiln_v3_norm(edge);
    for (int k = 0; k < v->thin; k++) {
        kiln_vec3 n = column(&v->directions, k);
        edge = kiln_v3_madd(edge, -kiln_v3_dot(n, edge), n);
    }
    double rest = kiln_v3_norm(edge);
    return rest > ALONG * length ? rest : 0.0;
}

/* Length of the edge from a to b, or what b has, to the mean at a. */
static void add_edge(thin_job *job, uint32_t a, uint32_t b, bool smooth)
{
    const kiln_vec3 *point = job->sizing->point;
    double length = smooth ? job->vertex[b].along
                           : length_along(&job->vertex[a], kiln_v3_sub(point[b], point[a]));
    job->sum[a] += length;
    job->count[a] += length > 0.0;
}

/* The mean of the edges along the body at each vertex, then of what its neighbours have. */
static void measure_edges(thin_job *job)
{
    const kiln_sizing *s = job->sizing;
    for (int pass = 0; pass <= SMOOTHING; pass++) {
        for (uint32_t v = 0; v < s->vertex_rows; v++)
            job->sum[v] = job->count[v] = 0.0;
        for (uint32_t t = 0; t < s->tet_rows; t++)
            for (int e = 0; e < 6 && kiln_sizing_live(s, t); e++) {
                uint32_t a = s->tet[t].v[kiln_edge_ends[e][0]];
                uint32_t b = s->tet[t].v[kiln_edge_ends[e][1]];
                add_edge(job, a, b, pass > 0);
                add_edge(job, b, a, pass > 0);
            }
        for (uint32_t v = 0; v < s->vertex_rows; v++)
            if (job->count[v] > 0.0)
                job->vertex[v].along = job->sum[v] / job->count[v];
    }
}

/* An edge across the body between two features of it, which will not vanish: it is the size along
 * the directions that it goes, where it is much shorter than the body is thick. */
static void note_rib(thin_vertex *v, kiln_vec3 edge)
{
    double length = kiln_v3_norm(edge);
    if (length_along(v, edge) > 0.0)
        return;
    v->rib = fmin(v->rib, length);
    for (int k = 0; k < v->thin; k++)
        if (fabs(kiln_v3_dot(edge, column(&v->directions, k))) > LEANS * length &&
            length < RIB * v->across[k])
            v->across[k] = length;
}

static void find_ribs(thin_job *job)
{
    const kiln_sizing *s = job->sizing;
    for (uint32_t v = 0; v < s->vertex_rows; v++)
        job->vertex[v].rib = INFINITY;
    for (uint32_t t = 0; t < s->tet_rows; t++)
        for (int e = 0; e < 6 && kiln_sizing_live(s, t); e++) {
            uint32_t a = s->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = s->tet[t].v[kiln_edge_ends[e][1]];
            kiln_vec3 edge = kiln_v3_sub(s->point[b], s->point[a]);
            if (!(s->mesh->vertex[a].flags & s->mesh->vertex[b].flags & KILN_VERTEX_FEATURE))
                continue;
            note_rib(&job->vertex[a], edge);
            note_rib(&job->vertex[b], edge);
        }
}

static void share_volumes(thin_job *job)
{
    const kiln_sizing *s = job->sizing;
    for (uint32_t t = 0; t < s->tet_rows; t++) {
        if (!kiln_sizing_live(s, t))
            continue;
        const uint32_t *v = s->tet[t].v;
        double volume =
            fabs(kiln_tet_volume(s->point[v[0]], s->point[v[1]], s->point[v[2]], s->point[v[3]]));
        for (int k = 0; k < 4; k++)
            job->vertex[v[k]].volume += 0.25 * volume;
    }
}

/* Never longer across than along. */
static double size_of(const thin_vertex *v, int k, double scale)
{
    double h = scale * v->along;
    return v->across[k] > 0.0 ? fmin(v->across[k], h) : h;
}

static double tets_with(const thin_job *job, double scale)
{
    double tets = 0.0;
    for (uint32_t i = 0; i < job->sizing->vertex_rows; i++) {
        const thin_vertex *v = &job->vertex[i];
        if (v->volume > 0.0)
            tets += (v->thin ? IN_LAYER : IN_BODY) * v->volume /
                    (size_of(v, 0, scale) * size_of(v, 1, scale) * size_of(v, 2, scale));
    }
    return tets;
}

/* About as many tets as there were, where sizes are those of the mesh. */
static void calibrate(thin_job *job, double tets)
{
    enum { HALVINGS = 20 };
    double low = 0.25, high = 4.0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        if (tets_with(job, middle) > tets)
            low = middle;
        else
            high = middle;
    }
    for (uint32_t v = 0; v < job->sizing->vertex_rows; v++)
        job->vertex[v].along *= high;
}

/* What the field asks for, and what one would that is the same in all directions. */
static void report_thin(const thin_job *job, kiln_thin_report *report)
{
    *report = (kiln_thin_report){.thickness = INFINITY, .tets = tets_with(job, 1.0)};
    for (uint32_t i = 0; i < job->sizing->vertex_rows; i++) {
        const thin_vertex *v = &job->vertex[i];
        if (!(v->volume > 0.0))
            continue;
        double least = fmin(size_of(v, 0, 1.0), fmin(size_of(v, 1, 1.0), size_of(v, 2, 1.0)));
        least = fmin(least, MOST_TURN / fmax(job->curvature[i], 1e-300));
        least = fmin(least, v->rib);
        report->isotropic += IN_BODY * v->volume / (least * least * least);
        report->vertices += v->thin > 0;
        report->thickness = fmin(report->thickness, v->thin ? job->thickness[i] : INFINITY);
    }
}

static kiln_status set_metrics(thin_job *job, kiln_error *error)
{
    kiln_sizing *s = job->sizing;
    for (uint32_t i = 0; i < s->vertex_rows; i++) {
        const thin_vertex *v = &job->vertex[i];
        const double sizes[3] = {size_of(v, 0, 1.0), size_of(v, 1, 1.0), size_of(v, 2, 1.0)};
        job->thickness[i] = v->thin ? v->thickness : 0.0;
        job->sum[i] = v->along;
        if (!(v->volume > 0.0))
            continue;
        kiln_sym3 m = kiln_metric_from_directions(&v->directions, sizes);
        kiln_sizing_combine(s, i, &m);
    }
    s->sources++;
    const kiln_shell_sizing shell = {
        .thickness = job->thickness, .most = job->sum, .sag = job->options->sag};
    return kiln_sizing_add_shells(s, &shell, error);
}

static kiln_status add_thin(thin_job *job, kiln_thin_report *report, kiln_error *error)
{
    kiln_sizing *s = job->sizing;
    size_t rows = s->vertex_rows, tets = 0;
    job->vertex = kiln_sizing_zeros(s, thin_vertex, rows);
    job->sum = kiln_sizing_zeros(s, double, rows);
    job->count = kiln_sizing_zeros(s, double, rows);
    job->thickness = kiln_sizing_zeros(s, double, rows);
    job->curvature = kiln_sizing_zeros(s, double, rows);
    if (!job->vertex || !job->sum || !job->count || !job->thickness || !job->curvature)
        return kiln_fail_memory(error, rows * sizeof *job->vertex);
    for (uint32_t t = 0; t < s->tet_rows; t++) {
        for (uint32_t f = 0; f < 4 && kiln_sizing_live(s, t); f++)
            if (kiln_link_is_wall(s->mesh, t, s->tet[t].n[f]))
                look_from(job, t, f);
        tets += kiln_sizing_live(s, t);
    }
    for (uint32_t v = 0; v < rows; v++) {
        find_directions(job, &job->vertex[v]);
        job->vertex[v].along = job->options->size;
    }
    share_volumes(job);
    find_ribs(job);
    if (!(job->options->size > 0.0)) {
        measure_edges(job);
        calibrate(job, (double)tets);
    }
    KILN_TRY(set_metrics(job, error));
    KILN_TRY(kiln_sizing_curvatures(s, job->curvature, error));
    report_thin(job, report);
    report->tets = fmax(report->tets, (double)tets);
    return KILN_OK;
}

kiln_status kiln_sizing_add_thin(kiln_sizing *sizing, const kiln_thin_sizing *options,
                                 kiln_thin_report *report, kiln_error *error)
{
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    thin_job job = {.sizing = sizing, .options = options};
    kiln_status status = add_thin(&job, report, error);
    kiln_arena_release(&sizing->arena, mark);
    return status;
}
