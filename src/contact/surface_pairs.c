#include "contact/surface_pairs.h"

#include "base/parallel.h"
#include "contact/pair_bounds.h"

#include <string.h>

enum { GRAIN = 128, BLOCK = 64 }; /* pairs per chunk, and at once */
enum { MANY_ITEMS = 1 << 15 };    /* of all trees */
/* Of the distance in the material; the rest is room for the material to be compressed. */
#define NEAR_SHARE 0.5
/* Materials that overlap themselves have places that are no distance apart; those must repel. */
#define LEAST_REACH 1e-3
/* Neighbours in the mesh with air between them, whose material has no memory: cosine from which a
 * side looks at the other; and of their distance, below the thickness, what they repel at. They
 * are pushed apart and not thrown. */
#define LOOKS  0.5
#define PARTED 2.0
/* Sine squared of the angle between two edges that are one line. */
#define LINE 1e-12
/* Of the reach: what is left to pairs that begin nearer than their clearance, or by so little
 * beyond it, so that they are pushed apart and not thrown. */
#define PUSHED   0.5
#define VIOLATED 1e-3

kiln_pair_distance kiln_surface_pair_distance(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    kiln_vec3 p[4], offset;
    kiln_pair_distance out;
    double distance;
    for (int k = 0; k < 4; k++)
        p[k] = x[pair->v[k]];
    if (pair->split == 1) {
        kiln_closest_point at = kiln_closest_on_triangle(p[0], p + 1);
        out = (kiln_pair_distance){.weight = {1.0, -at.weight[0], -at.weight[1], -at.weight[2]}};
        distance = sqrt(at.distance2);
        offset = at.offset;
    } else {
        kiln_closest_pair at = kiln_closest_edges(p, p + 2);
        out = (kiln_pair_distance){
            .weight = {at.weight_a[0], at.weight_a[1], -at.weight_b[0], -at.weight_b[1]}};
        distance = sqrt(at.distance2);
        offset = at.offset;
    }
    out.d = distance - pair->clearance;
    out.normal = distance > 0.0 ? kiln_v3_scale(offset, 1.0 / distance) : kiln_v3(0, 0, 0);
    return out;
}

/* The ways the closest points can go: along the edges from the first corner of each side that has a
 * weight to the others, which gain what it loses. */
typedef struct closest_ways {
    int count;
    double along[2][3];   /* d offset / d way */
    double gain[2][4];    /* d weight / d way */
    double inverse[2][2]; /* of along along' */
} closest_ways;

static bool find_closest_ways(const kiln_surface_pair *pair, const kiln_vec3 *x,
                              const kiln_pair_distance *at, closest_ways *ways)
{
    kiln_vec3 edge[2] = {{0, 0, 0}, {0, 0, 0}};
    int n = 0;
    *ways = (closest_ways){0};
    for (int k = 0, first = -1; k < 4; k++) {
        first = k == (int)pair->split ? -1 : first;
        if (at->weight[k] == 0.0)
            continue;
        if (first >= 0) {
            double side = k < (int)pair->split ? 1.0 : -1.0;
            edge[n] = kiln_v3_scale(kiln_v3_sub(x[pair->v[k]], x[pair->v[first]]), side);
            ways->gain[n][k] = side;
            ways->gain[n][first] = -side;
            const double along[3] = {edge[n].x, edge[n].y, edge[n].z};
            memcpy(ways->along[n++], along, sizeof along);
        }
        first = first < 0 ? k : first;
    }
    ways->count = n;
    double a = kiln_v3_dot(edge[0], edge[0]), b = kiln_v3_dot(edge[0], edge[1]);
    double c = n == 2 ? kiln_v3_dot(edge[1], edge[1]) : 1.0, det = a * c - b * b;
    if (n > 0 && !(det > LINE * a * c))
        return false;
    if (n > 0) {
        ways->inverse[0][0] = c / det;
        ways->inverse[1][1] = n == 2 ? a / det : 0.0;
        ways->inverse[0][1] = ways->inverse[1][0] = -b / det;
    }
    return true;
}

/* d^2 / 2 is the least of |r|^2 / 2 over the ways s, r = sum of weight_k(s) x_k. Of such a least
 * value the Hessian is f_xx - f_xs f_ss^-1 f_sx, here with f_xx = w_k w_l I, f_ss = along along'
 * and f_xs = w_k along + gain_k r; and that of d is what is left of it across grad d, over d. */
bool kiln_surface_pair_turning(const kiln_surface_pair *pair, const kiln_vec3 *x,
                               const kiln_pair_distance *at, double hessian[4][4][3][3])
{
    const double n[3] = {at->normal.x, at->normal.y, at->normal.z};
    const double d = at->d + pair->clearance, *w = at->weight;
    closest_ways ways;
    double mixed[4][2][3];
    if (!(d > 0.0) || !find_closest_ways(pair, x, at, &ways))
        return false;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < ways.count; j++)
            for (int r = 0; r < 3; r++)
                mixed[k][j][r] = w[k] * ways.along[j][r] + ways.gain[j][k] * d * n[r];
    for (int k = 0; k < 4; k++)
        for (int l = k; l < 4; l++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    double sum = w[k] * w[l] * ((r == s) - n[r] * n[s]);
                    for (int i = 0; i < ways.count; i++)
                        for (int j = 0; j < ways.count; j++)
                            sum -= mixed[k][i][r] * ways.inverse[i][j] * mixed[l][j][s];
                    hessian[k][l][r][s] = sum / d;
                }
    return true;
}

/* Bodies or walls, whose lists count from `first` on. */
typedef struct side {
    const kiln_u32_array *vertices, *edges, *faces;
    const double *area, *edge_area; /* [number], [edge] */
    uint32_t first;
    bool wall;
} side;

/* One search. */
typedef struct search {
    kiln_surface_pairs *pairs;
    const kiln_contact_surface *surface;
    const kiln_pair_rules *rules;
    const kiln_box *boxes;
    const kiln_vec3 *u, *x;
    bool edges;     /* what is searched now: edges, or vertices of a and faces of b */
    side of[2];     /* bodies, walls */
    int from, to;   /* a and b */
    double typical; /* m^2, a face of the bodies */
} search;

/* What the body of a vertex asks for; walls ask for nothing. */
KILN_INLINE double clearance_of(const search *s, const side *of, uint32_t v)
{
    const double *clearance = s->rules->clearance;
    return clearance && !of->wall ? clearance[s->surface->body.data[v]] : 0.0;
}

static kiln_box box_of(const search *s, const side *of, const uint32_t *v, int count)
{
    kiln_box box = s->boxes[of->first + v[0]];
    for (int k = 1; k < count; k++)
        box = kiln_box_join(box, s->boxes[of->first + v[k]]);
    double r = 0.5 * (s->rules->thickness + clearance_of(s, of, v[0]));
    kiln_vec3 half = kiln_v3(r, r, r);
    return (kiln_box){kiln_v3_sub(box.low, half), kiln_v3_add(box.high, half)};
}

/* A tree to grow, whose boxes are at `boxes`. */
typedef struct growth {
    const search *s;
    const side *of;
    kiln_bvh *tree;
    const kiln_u32_array *vertices;
    size_t arity;
    kiln_box *boxes;
    kiln_status status;
    kiln_error error;
} growth;

static size_t items_of(const growth *g)
{
    return g->vertices->count / g->arity;
}

static void box_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const growth *g = user;
    for (size_t i = begin; i < end; i++)
        g->boxes[i] = box_of(g->s, g->of, &g->vertices->data[i * g->arity], (int)g->arity);
}

/* Bodies' trees know the vertices of their items, which then are in no pair with each other. */
static kiln_status grow_tree(growth *g, kiln_error *error)
{
    kiln_context *context = g->s->pairs->context;
    kiln_parallel_for(context, items_of(g), GRAIN, box_chunk, g);
    if (g->s->pairs->grown)
        return kiln_bvh_refit(g->tree, g->boxes, error);
    KILN_TRY(kiln_bvh_build(g->tree, context, g->boxes, items_of(g), error));
    return g->of->wall ? KILN_OK
                       : kiln_bvh_set_vertices(g->tree, g->vertices->data, (int)g->arity, error);
}

static void grow_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    growth *all = user;
    for (size_t i = begin; i < end; i++)
        all[i].status = grow_tree(&all[i], &all[i].error);
}

bool kiln_pair_meets(const kiln_pair_rules *rules, const kiln_pair_kind *kind)
{
    if (kind->wall)
        return kiln_body_meets_obstacle(rules->table, kind->body, kind->other);
    return (kind->body == kind->other ? rules->self : rules->bodies) &&
           kiln_bodies_meet(rules->table, kind->body, kind->other);
}

double kiln_pair_clearance(const kiln_pair_rules *rules, const kiln_pair_kind *kind)
{
    const double *clearance = rules->clearance;
    if (!clearance || (!rules->material_tells && kind->one_part))
        return 0.0;
    return 0.5 * (clearance[kind->body] + (kind->wall ? 0.0 : clearance[kind->other]));
}

double kiln_pair_reach(const kiln_pair_rules *rules, double clearance, double apart)
{
    double thickness = rules->thickness, part = thickness / (thickness + clearance);
    return fmax(fmin(thickness, NEAR_SHARE * apart * part), LEAST_REACH * thickness);
}

KILN_INLINE kiln_pair_kind kind_of(const search *s, const kiln_surface_pair *pair)
{
    const uint32_t *body = s->surface->body.data, *part = s->surface->part.data;
    uint32_t a = pair->v[0], b = pair->v[3], first = s->rules->first_wall;
    if (s->of[s->from].wall || s->of[s->to].wall) {
        uint32_t own = s->of[s->from].wall ? b : a, wall = s->of[s->from].wall ? a : b;
        return (kiln_pair_kind){
            .body = body[own], .other = s->rules->walls->obstacle.data[wall - first], .wall = true};
    }
    return (kiln_pair_kind){.body = body[a], .other = body[b], .one_part = part[a] == part[b]};
}

/* Without its area. */
static kiln_surface_pair pair_of(const search *s, size_t i)
{
    const side *a = &s->of[s->from], *b = &s->of[s->to];
    kiln_bvh_pair found = s->pairs->found.data[i];
    kiln_surface_pair pair = {.split = s->edges ? 2 : 1, .reach = s->rules->thickness};
    if (s->edges) {
        for (size_t k = 0; k < 2; k++) {
            pair.v[k] = a->first + a->edges->data[2 * (size_t)found.a + k];
            pair.v[k + 2] = b->first + b->edges->data[2 * (size_t)found.b + k];
        }
    } else {
        pair.v[0] = a->first + a->vertices->data[found.a];
        pair.face = found.b;
        for (size_t k = 0; k < 3; k++)
            pair.v[k + 1] = b->first + b->faces->data[3 * (size_t)found.b + k];
    }
    kiln_pair_kind kind = kind_of(s, &pair);
    pair.clearance = kiln_pair_clearance(s->rules, &kind);
    return pair;
}

static double area_of(const search *s, size_t i)
{
    const side *a = &s->of[s->from], *b = &s->of[s->to];
    kiln_bvh_pair found = s->pairs->found.data[i];
    if (s->edges) {
        double other = b->edge_area[found.b];
        return 0.25 * (a->edge_area[found.a] + (b->wall ? fmin(other, s->typical) : other));
    }
    double area = a->area[a->vertices->data[found.a]];
    return b->wall ? area : 0.25 * (a->wall ? fmin(area, s->typical) : area);
}

static bool is_wanted(const search *s, const kiln_surface_pair *pair)
{
    const kiln_pair_rules *rules = s->rules;
    kiln_pair_kind kind = kind_of(s, pair);
    if (!kiln_pair_meets(rules, &kind))
        return false;
    if (!rules->held)
        return true;
    for (int k = 0; k < 4; k++)
        if (rules->held[pair->v[k]] != 7)
            return true;
    return false;
}

/* How far a side's points can get from where they are, while its vertices stay in their boxes. */
static double slack_of(const search *s, const uint32_t *v, uint32_t count)
{
    double most = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        const kiln_box *box = &s->boxes[v[k]];
        kiln_vec3 far =
            kiln_v3_max(kiln_v3_sub(box->high, s->x[v[k]]), kiln_v3_sub(s->x[v[k]], box->low));
        most = fmax(most, kiln_v3_norm2(far));
    }
    return sqrt(most);
}

/* By how much the sides of pairs can come nearer: what moves alike stays apart. */
static void find_slack(const search *s, const kiln_surface_pair *pair, size_t count, double *slack)
{
    const kiln_pair_rules *rules = s->rules;
    if (rules->way)
        kiln_pair_ways2(s->pairs->context, pair, count, rules->way, slack);
    for (size_t i = 0; i < count; i++)
        slack[i] = rules->way ? rules->part * sqrt(slack[i]) + 2.0 * rules->skin
                              : slack_of(s, pair[i].v, pair[i].split) +
                                    slack_of(s, pair[i].v + pair[i].split, 4 - pair[i].split);
}

static bool are_neighbours(const search *s, const kiln_surface_pair *pair)
{
    for (uint32_t i = 0; i < pair->split; i++)
        for (uint32_t j = pair->split; j < 4; j++)
            if (kiln_contact_surface_near(s->surface, pair->v[i], pair->v[j]))
                return true;
    return false;
}

/* Whether the material says how far their reach is. */
KILN_INLINE bool is_near_in_material(const search *s, const kiln_surface_pair *pair)
{
    return kind_of(s, pair).one_part && (s->rules->material_tells || are_neighbours(s, pair));
}

/* The clearance of a pair whose reach is known: both are less by the same part in the material. */
static double clearance_by_reach(const search *s, const kiln_surface_pair *pair, double reach)
{
    return pair->clearance * (reach / s->rules->thickness);
}

static kiln_vec3 normal_of(const search *s, const kiln_surface_pair *pair, const double *weight,
                           uint32_t begin, uint32_t end)
{
    kiln_vec3 sum = {0, 0, 0};
    for (uint32_t k = begin; k < end; k++)
        sum = kiln_v3_madd(sum, fabs(weight[k]), s->pairs->normal.data[pair->v[k]]);
    return kiln_v3_normalize(sum);
}

/* Whether what is between the sides of a pair of neighbours is air, as in a crease that closes, and
 * not matter, as in a thin sheet. */
static bool is_across_air(const search *s, const kiln_surface_pair *pair)
{
    kiln_pair_distance at = kiln_surface_pair_distance(pair, s->u);
    kiln_vec3 a = normal_of(s, pair, at.weight, 0, pair->split);
    kiln_vec3 b = normal_of(s, pair, at.weight, pair->split, 4);
    return kiln_v3_dot(a, at.normal) < -LOOKS && kiln_v3_dot(b, at.normal) > LOOKS;
}

static double inner_reach(const search *s, const kiln_surface_pair *pair, double apart)
{
    return !s->rules->material_tells && is_across_air(s, pair)
               ? fmin(s->rules->thickness, PARTED * fmax(apart, LEAST_REACH * s->rules->thickness))
               : kiln_pair_reach(s->rules, pair->clearance, apart);
}

/* Reaches of wanted pairs, 0: they cannot come near. */
static void judge_block(const search *s, const kiln_surface_pair *pair, size_t count, double *reach)
{
    const kiln_context *context = s->pairs->context;
    double near[BLOCK], slack[BLOCK], thickness = s->rules->thickness;
    kiln_surface_pair inner[BLOCK];
    size_t number[BLOCK], inner_count = 0;
    kiln_pair_distances2(context, pair, count, s->x, 0.0, near);
    find_slack(s, pair, count, slack);
    for (size_t i = 0; i < count; i++) {
        near[i] = sqrt(near[i]) - slack[i];
        reach[i] = near[i] > thickness + pair[i].clearance ? 0.0 : thickness;
        if (reach[i] == 0.0 || !is_near_in_material(s, &pair[i]))
            continue;
        number[inner_count] = i;
        inner[inner_count++] = pair[i];
    }
    double *apart = slack; /* done with */
    kiln_pair_distances2(context, inner, inner_count, s->u, 0.0, apart);
    for (size_t k = 0; k < inner_count; k++) {
        double *out = &reach[number[k]];
        *out = inner_reach(s, &inner[k], sqrt(apart[k]));
        *out = near[number[k]] > *out + clearance_by_reach(s, &inner[k], *out) ? 0.0 : *out;
    }
}

static void judge_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    search *s = user;
    kiln_surface_pair pair[BLOCK];
    double reach[BLOCK], *out = s->pairs->reach.data;
    size_t place[BLOCK], kept = 0;
    for (size_t i = begin; i < end;) {
        size_t count = 0;
        for (; i < end && count < BLOCK; i++) {
            out[i] = 0.0;
            place[count] = i;
            pair[count] = pair_of(s, i);
            count += is_wanted(s, &pair[count]);
        }
        judge_block(s, pair, count, reach);
        for (size_t k = 0; k < count; k++) {
            out[place[k]] = reach[k];
            kept += reach[k] > 0.0;
        }
    }
    s->pairs->kept.data[chunk] = kept;
}

/* Whether the pair has less than its clearance where the step begins: beyond it there is *d. */
static bool is_violated(const search *s, const kiln_surface_pair *pair, double *d)
{
    if (pair->clearance == 0.0 || !s->rules->begin)
        return false;
    *d = kiln_surface_pair_distance(pair, s->rules->begin).d;
    return !(*d > VIOLATED * pair->reach);
}

/* Then that is what it has. */
static void take_what_is(const search *s, kiln_surface_pair *pair)
{
    double d;
    if (is_violated(s, pair, &d))
        pair->clearance = fmax(pair->clearance + d - PUSHED * pair->reach, 0.0);
}

bool kiln_surface_pair_is_whole(const kiln_contact_surface *surface, const kiln_pair_rules *rules,
                                const kiln_vec3 *u, uint32_t vertex, const uint32_t face[3])
{
    const search s = {.surface = surface, .rules = rules, .to = 1};
    kiln_surface_pair pair = {
        .v = {vertex, face[0], face[1], face[2]}, .split = 1, .reach = rules->thickness};
    double d;
    kiln_pair_kind kind = kind_of(&s, &pair);
    pair.clearance = kiln_pair_clearance(rules, &kind);
    if (is_near_in_material(&s, &pair)) {
        const kiln_vec3 corner[3] = {u[face[0]], u[face[1]], u[face[2]]};
        double apart = sqrt(kiln_triangle_distance2(u[vertex], corner));
        if (kiln_pair_reach(rules, pair.clearance, apart) < rules->thickness)
            return false;
    }
    return !is_violated(&s, &pair, &d);
}

/* To the places from kept[chunk] on. */
static void keep_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const search *s = user;
    kiln_surface_pair *to = s->pairs->pairs.data + s->pairs->kept.data[chunk];
    for (size_t i = begin; i < end; i++) {
        if (s->pairs->reach.data[i] == 0.0)
            continue;
        *to = pair_of(s, i);
        to->area = area_of(s, i);
        to->reach = s->pairs->reach.data[i];
        to->clearance = clearance_by_reach(s, to, to->reach);
        take_what_is(s, to++);
    }
}

/* Of what the trees found, what can indeed come near. */
static kiln_status sift(search *s, kiln_error *error)
{
    kiln_surface_pairs *p = s->pairs;
    size_t found = p->found.count, chunks = kiln_chunk_count(found, GRAIN), all = p->pairs.count;
    KILN_TRY(kiln_array_reserve(p->context, &p->reach, found, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->kept, chunks, error));
    kiln_parallel_for(p->context, found, GRAIN, judge_chunk, s);
    for (size_t c = 0; c < chunks; c++) {
        size_t first = all;
        all += p->kept.data[c];
        p->kept.data[c] = first;
    }
    KILN_TRY(kiln_array_reserve(p->context, &p->pairs, all + 1, error));
    kiln_parallel_for(p->context, found, GRAIN, keep_chunk, s);
    p->pairs.count = all;
    p->meetings = found > p->meetings ? found : p->meetings;
    return KILN_OK;
}

enum { BODIES, WALLS };

/* Vertices (edges) of one side against faces (edges) of the other. */
static kiln_status search_between(search *s, int from, int to, bool edges, kiln_error *error)
{
    kiln_surface_pairs *p = s->pairs;
    const kiln_bvh *vertices[2] = {&p->vertex_tree, &p->wall_vertex_tree};
    const kiln_bvh *faces[2] = {&p->face_tree, &p->wall_face_tree};
    const kiln_bvh *lines[2] = {&p->edge_tree, &p->wall_edge_tree};
    s->from = from;
    s->to = to;
    s->edges = edges;
    p->found.count = 0;
    if (edges && from == to)
        KILN_TRY(kiln_bvh_self_overlap(lines[from], &p->found, error));
    else
        KILN_TRY(kiln_bvh_pair_overlap(edges ? lines[from] : vertices[from],
                                       edges ? lines[to] : faces[to], &p->found, error));
    return sift(s, error);
}

/* Small ones that only follow side by side: their loops are too short to be shared. What grows asks
 * for memory, and the caller's allocator serves one thread at a time. */
static kiln_status grow_all(kiln_surface_pairs *p, growth *all, size_t count, kiln_error *error)
{
    size_t items = 0;
    for (size_t i = 0; i < count; i++)
        items += items_of(&all[i]);
    KILN_TRY(kiln_array_reserve(p->context, &p->boxes, items + 1, error));
    items = 0;
    for (size_t i = 0; i < count; i++) {
        all[i].boxes = p->boxes.data + items;
        items += items_of(&all[i]);
    }
    if (items < MANY_ITEMS && p->grown)
        kiln_parallel_for(p->context, count, 1, grow_chunk, all);
    else
        grow_chunk(all, 0, 0, count, 0);
    for (size_t i = 0; i < count; i++)
        if (all[i].status != KILN_OK) {
            if (error)
                *error = all[i].error;
            return all[i].status;
        }
    return KILN_OK;
}

/* Those that take longest first. */
static kiln_status grow_trees(search *s, bool walls, kiln_error *error)
{
    kiln_surface_pairs *p = s->pairs;
    const side *b = &s->of[BODIES], *w = &s->of[WALLS];
    growth all[] = {
        {.s = s, .of = b, .tree = &p->edge_tree, .vertices = b->edges, .arity = 2},
        {.s = s, .of = b, .tree = &p->face_tree, .vertices = b->faces, .arity = 3},
        {.s = s, .of = b, .tree = &p->vertex_tree, .vertices = b->vertices, .arity = 1},
        {.s = s, .of = w, .tree = &p->wall_edge_tree, .vertices = w->edges, .arity = 2},
        {.s = s, .of = w, .tree = &p->wall_face_tree, .vertices = w->faces, .arity = 3},
        {.s = s, .of = w, .tree = &p->wall_vertex_tree, .vertices = w->vertices, .arity = 1}};
    KILN_TRY(grow_all(p, all, walls ? 6 : 3, error));
    p->grown = true;
    return KILN_OK;
}

/* The mean area of a face of the bodies. */
static double typical_area(const kiln_contact_surface *surface)
{
    double sum = 0.0;
    for (size_t i = 0; i < surface->vertices.count; i++)
        sum += surface->area.data[surface->vertices.data[i]];
    return 3.0 * sum / (double)surface->faces.count;
}

/* Outwards, of vertices in the material: sums over their faces. */
static kiln_status find_normals(search *s, kiln_error *error)
{
    const kiln_contact_surface *surface = s->surface;
    kiln_surface_pairs *p = s->pairs;
    if (s->rules->material_tells || !s->rules->self)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(p->context, &p->normal, surface->body.count, error));
    for (size_t i = 0; i < surface->vertices.count; i++)
        p->normal.data[surface->vertices.data[i]] = kiln_v3(0, 0, 0);
    for (size_t f = 0; f < surface->faces.count; f += 3) {
        const uint32_t *v = &surface->faces.data[f];
        kiln_vec3 normal =
            kiln_v3_cross(kiln_v3_sub(s->u[v[1]], s->u[v[0]]), kiln_v3_sub(s->u[v[2]], s->u[v[0]]));
        for (int k = 0; k < 3; k++)
            p->normal.data[v[k]] = kiln_v3_add(p->normal.data[v[k]], normal);
    }
    return KILN_OK;
}

static kiln_status search_all(search *s, bool walls, kiln_error *error)
{
    bool bodies = s->rules->bodies || s->rules->self;
    KILN_TRY(grow_trees(s, walls, error));
    KILN_TRY(find_normals(s, error));
    if (bodies)
        KILN_TRY(search_between(s, BODIES, BODIES, false, error));
    if (walls) {
        KILN_TRY(search_between(s, BODIES, WALLS, false, error));
        KILN_TRY(search_between(s, WALLS, BODIES, false, error));
    }
    if (bodies)
        KILN_TRY(search_between(s, BODIES, BODIES, true, error));
    return walls ? search_between(s, BODIES, WALLS, true, error) : KILN_OK;
}

kiln_status kiln_surface_pairs_find(kiln_surface_pairs *pairs, const kiln_contact_surface *surface,
                                    const kiln_pair_rules *rules, const kiln_box *boxes,
                                    const kiln_vec3 *u, const kiln_vec3 *x, kiln_error *error)
{
    const kiln_walls *walls = rules->walls;
    search s = {.pairs = pairs,
                .surface = surface,
                .rules = rules,
                .boxes = boxes,
                .u = u,
                .x = x,
                .of[BODIES] = {&surface->vertices, &surface->edges, &surface->faces,
                               surface->area.data, surface->edge_area.data, 0, false}};
    pairs->context = surface->context;
    pairs->pairs.count = pairs->found.count = pairs->meetings = 0;
    if (surface->faces.count == 0)
        return KILN_OK;
    s.typical = typical_area(surface);
    if (walls)
        s.of[WALLS] =
            (side){&walls->vertices,      &walls->edges,     &walls->faces, walls->area.data,
                   walls->edge_area.data, rules->first_wall, true};
    return search_all(&s, walls && walls->faces.count > 0, error);
}

static kiln_box side_box(const search *s, const uint32_t *v, uint32_t count)
{
    kiln_box box = s->boxes[v[0]];
    for (uint32_t k = 1; k < count; k++)
        box = kiln_box_join(box, s->boxes[v[k]]);
    return box;
}

/* Whether the sides' boxes are nearer than the thickness, beyond the clearance. */
static bool boxes_meet(const search *s, const kiln_surface_pair *pair)
{
    double margin = s->rules->thickness + pair->clearance;
    kiln_box a = side_box(s, pair->v, pair->split);
    a.low = kiln_v3_sub(a.low, kiln_v3(margin, margin, margin));
    a.high = kiln_v3_add(a.high, kiln_v3(margin, margin, margin));
    return kiln_box_overlap(a, side_box(s, pair->v + pair->split, 4 - pair->split));
}

/* Which stay: reach > 0. */
static void thin_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const search *s = user;
    for (size_t i = begin; i < end; i += BLOCK) {
        const kiln_surface_pair *pair = &s->pairs->pairs.data[i];
        double near[BLOCK], slack[BLOCK];
        size_t count = end - i < BLOCK ? end - i : BLOCK;
        kiln_pair_distances2(s->pairs->context, pair, count, s->x, 0.0, near);
        find_slack(s, pair, count, slack);
        for (size_t k = 0; k < count; k++) {
            bool can = !(sqrt(near[k]) - slack[k] > pair[k].reach + pair[k].clearance) &&
                       boxes_meet(s, &pair[k]);
            s->pairs->reach.data[i + k] = can ? pair[k].reach : 0.0;
        }
    }
}

kiln_status kiln_surface_pairs_thin(kiln_surface_pairs *pairs, const kiln_pair_rules *rules,
                                    const kiln_box *boxes, const kiln_vec3 *x, size_t *count,
                                    kiln_error *error)
{
    search s = {.pairs = pairs, .rules = rules, .boxes = boxes, .x = x};
    kiln_surface_pair *pair = pairs->pairs.data;
    size_t all = *count, kept = 0;
    KILN_TRY(kiln_array_reserve(pairs->context, &pairs->reach, all, error));
    kiln_parallel_for(pairs->context, all, GRAIN, thin_chunk, &s);
    for (size_t i = 0; i < all; i++)
        if (pairs->reach.data[i] > 0.0)
            pair[kept++] = pair[i];
    for (size_t i = all; i < pairs->pairs.count; i++)
        pair[kept + i - all] = pair[i];
    pairs->pairs.count -= all - kept;
    *count = kept;
    return KILN_OK;
}

void kiln_surface_pairs_free(kiln_surface_pairs *pairs)
{
    kiln_bvh_destroy(&pairs->vertex_tree);
    kiln_bvh_destroy(&pairs->edge_tree);
    kiln_bvh_destroy(&pairs->face_tree);
    kiln_bvh_destroy(&pairs->wall_vertex_tree);
    kiln_bvh_destroy(&pairs->wall_edge_tree);
    kiln_bvh_destroy(&pairs->wall_face_tree);
    kiln_array_free(pairs->context, &pairs->boxes);
    kiln_array_free(pairs->context, &pairs->found);
    kiln_array_free(pairs->context, &pairs->reach);
    kiln_array_free(pairs->context, &pairs->kept);
    kiln_array_free(pairs->context, &pairs->normal);
    kiln_array_free(pairs->context, &pairs->pairs);
}

size_t kiln_surface_pairs_bytes(const kiln_surface_pairs *pairs)
{
    return pairs->boxes.capacity * sizeof(kiln_box) +
           pairs->found.capacity * sizeof(kiln_bvh_pair) + pairs->reach.capacity * sizeof(double) +
           pairs->normal.capacity * sizeof(kiln_vec3) + pairs->kept.capacity * sizeof(size_t) +
           pairs->pairs.capacity * sizeof(kiln_surface_pair);
}
