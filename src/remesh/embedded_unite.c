/* Fine surfaces of bodies that became one become one: cut by each other, joined by a piece of the
 * new mesh where a gap was filled (embedded_bridge.c), without what lies inside. */
#include "remesh/embedded_unite.h"

#include "remesh/embedded_impl.h"

#include <math.h>
#include <string.h>

/* Times that points are moved at random anew where exact signs and rounded places disagree. */
enum { TRIES = 6 };
/* `made` of vertices that came by uniting, until it is done. */
static const double CAME = 2.0;
/* Rounds in which volume is given back, after those that smooth what came; and how far that may
 * move a surface, of the mean edge of the mesh. */
enum { ROUNDS = 3, SMOOTHINGS = 6 };
static const double FARTHEST = 0.1;

/* A surface with what its vertices carry, as the owner's columns have it. */
typedef struct sheet {
    kiln_shell shell;
    kiln_f64_array values; /* [vertex][stride] */
    KILN_ARRAY_OF(int32_t)
    tags; /* [triangle] */
} sheet;

typedef struct uniting {
    kiln_context *context;
    kiln_embedded *const *list;
    const uint32_t *bodies;
    size_t count;
    const kiln_mesh *from, *to;
    kiln_embedded *owner;
    size_t stride;
    kiln_vec3 origin;
    KILN_ARRAY_OF(uint8_t)
    member;        /* [body] */
    sheet all;     /* so far */
    double size;   /* m, mean edge of the fine surfaces */
    double volume; /* m^3, of these before they were cut */
    size_t cuts;
} uniting;

static void free_sheet(kiln_context *context, sheet *s)
{
    kiln_shell_free(context, &s->shell);
    kiln_array_free(context, &s->values);
    kiln_array_free(context, &s->tags);
}

static kiln_status find_members(uniting *w, kiln_error *error)
{
    size_t bodies = 0;
    for (size_t p = 0; p < w->from->parts.count; p++)
        bodies = w->from->parts.data[p].body >= bodies ? w->from->parts.data[p].body + 1u : bodies;
    for (size_t p = 0; p < w->to->parts.count; p++)
        bodies = w->to->parts.data[p].body >= bodies ? w->to->parts.data[p].body + 1u : bodies;
    for (size_t i = 0; i < w->count; i++)
        bodies = w->bodies[i] >= bodies ? w->bodies[i] + 1u : bodies;
    KILN_TRY(kiln_array_reserve(w->context, &w->member, bodies, error));
    memset(w->member.data, 0, bodies);
    for (size_t i = 0; i < w->count; i++)
        w->member.data[w->bodies[i]] = 1;
    return KILN_OK;
}

static kiln_status make_room(const uniting *w, sheet *s, size_t points, size_t triangles,
                             kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(w->context, &s->shell.points, points + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &s->shell.triangles, triangles + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &s->values, w->stride * points + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &s->tags, triangles + 1, error));
    s->shell.points.count = points;
    s->shell.triangles.count = s->tags.count = triangles;
    s->values.count = w->stride * points;
    memset(s->values.data, 0, (w->stride * points + 1) * sizeof(double));
    memset(s->tags.data, 0, (triangles + 1) * sizeof *s->tags.data);
    return KILN_OK;
}

/* Columns of the same name; what only the owner has is zero. */
static void copy_values(const uniting *w, const kiln_embedded *e, double *to)
{
    for (size_t c = 0; c < w->owner->columns.count; c++) {
        const kiln_embedded_column *column = &w->owner->columns.data[c], *own = NULL;
        for (size_t k = 0; k < e->columns.count && !own; k++)
            if (strcmp(e->columns.data[k].name, column->name) == 0 &&
                e->columns.data[k].components == column->components)
                own = &e->columns.data[k];
        for (size_t i = 0; own && i < e->now.u.count; i++)
            memcpy(&to[i * w->stride + column->offset],
                   &e->now.values.data[i * e->stride + own->offset],
                   column->components * sizeof(double));
    }
}

static kiln_status sheet_of_surface(const uniting *w, const kiln_embedded *e, sheet *s,
                                    kiln_error *error)
{
    KILN_TRY(make_room(w, s, e->now.u.count, e->now.triangles.count, error));
    KILN_TRY(kiln_embedded_positions(e, w->from, KILN_SPACE_WORLD, s->shell.points.data, error));
    for (size_t i = 0; i < s->shell.points.count; i++)
        s->shell.points.data[i] = kiln_v3_sub(s->shell.points.data[i], w->origin);
    memcpy(s->shell.triangles.data, e->now.triangles.data,
           e->now.triangles.count * sizeof *e->now.triangles.data);
    for (size_t t = 0; t < e->now.tags.count; t++)
        s->tags.data[t] = e->now.tags.data[t];
    copy_values(w, e, s->values.data);
    return KILN_OK;
}

/* A body that has no fine surface gives its outline. */
static kiln_status sheet_of_body(const uniting *w, uint32_t body, sheet *s, kiln_error *error)
{
    const kiln_mesh *mesh = w->from;
    kiln_u32_array number = {0};
    size_t points = 0, faces = 0, rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(w->context, &number, rows, error));
    for (size_t v = 0; v < rows; v++)
        number.data[v] = KILN_NONE;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        if (!kiln_face_live(mesh, f) || kiln_embedded_body(mesh, at / 4) != body)
            continue;
        faces++;
        for (int k = 0; k < 3; k++) {
            uint32_t v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            if (number.data[v] == KILN_NONE)
                number.data[v] = (uint32_t)points++;
        }
    }
    kiln_status status = make_room(w, s, points, faces, error);
    faces = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && status == KILN_OK; f++) {
        uint32_t at = mesh->face[f].at;
        if (!kiln_face_live(mesh, f) || kiln_embedded_body(mesh, at / 4) != body)
            continue;
        s->tags.data[faces] = mesh->face[f].tag;
        for (int k = 0; k < 3; k++) {
            uint32_t v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]], n = number.data[v];
            s->shell.triangles.data[faces].v[k] = n;
            s->shell.points.data[n] = kiln_v3_sub(mesh->x[v], w->origin);
            memcpy(&s->values.data[n * w->stride + KILN_FINE_START], &mesh->u[v],
                   sizeof(kiln_vec3));
        }
        faces++;
    }
    kiln_array_free(w->context, &number);
    return status;
}

static double mean_edge(const sheet *s)
{
    double sum = 0.0;
    for (size_t i = 0; i < 3 * s->shell.triangles.count; i++) {
        const uint32_t *v = s->shell.triangles.data[i / 3].v;
        sum += kiln_v3_norm(
            kiln_v3_sub(s->shell.points.data[v[i % 3]], s->shell.points.data[v[(i + 1) % 3]]));
    }
    return sum / fmax((double)(3 * s->shell.triangles.count), 1.0);
}

static kiln_status make_sheet(const uniting *w, size_t i, sheet *s, kiln_error *error)
{
    if (w->list[i])
        return sheet_of_surface(w, w->list[i], s, error);
    KILN_TRY(sheet_of_body(w, w->bodies[i], s, error));
    double edge = mean_edge(s);
    for (size_t v = 0; v < s->shell.points.count; v++) {
        s->values.data[v * w->stride + KILN_FINE_EDGE] = edge;
        s->values.data[v * w->stride + KILN_FINE_ORIGIN] = w->bodies[i];
    }
    return KILN_OK;
}

/* What the vertices of the union carry: those that came, of their edge. */
static void blend_values(const uniting *w, const sheet *a, const sheet *b,
                         const kiln_shell_union *u, double *out)
{
    size_t first = a->shell.points.count, stride = w->stride;
    for (size_t i = 0; i < u->vertices.count; i++) {
        const kiln_union_vertex *v = &u->vertices.data[i];
        const double *p = v->a < first ? &a->values.data[v->a * stride]
                                       : &b->values.data[(v->a - first) * stride];
        const double *q = v->b < first ? &a->values.data[v->b * stride]
                                       : &b->values.data[(v->b - first) * stride];
        double *row = &out[i * stride];
        for (size_t k = 0; k < stride; k++)
            row[k] = v->a == v->b ? p[k] : (1.0 - v->part) * p[k] + v->part * q[k];
        if (v->a != v->b)
            row[KILN_FINE_MADE] = CAME;
    }
}

static kiln_status take_union(const uniting *w, sheet *all, const sheet *more,
                              const kiln_shell_union *u, kiln_error *error)
{
    sheet now = {0};
    size_t points = u->shell.points.count, triangles = u->shell.triangles.count;
    kiln_status status = make_room(w, &now, points, triangles, error);
    if (status == KILN_OK) {
        blend_values(w, all, more, u, now.values.data);
        for (size_t i = 0; i < points; i++)
            now.shell.points.data[i] = u->shell.points.data[i];
        for (size_t t = 0; t < triangles; t++) {
            uint32_t from = u->triangle.data[t];
            size_t first = all->shell.triangles.count;
            now.shell.triangles.data[t] = u->shell.triangles.data[t];
            now.tags.data[t] = from < first ? all->tags.data[from] : more->tags.data[from - first];
        }
    }
    sheet old = *all;
    *all = status == KILN_OK ? now : old;
    free_sheet(w->context, status == KILN_OK ? &old : &now);
    return status;
}

/* `more` joins all that there is. */
static kiln_status add_sheet(uniting *w, const sheet *more, bool *done, kiln_error *error)
{
    kiln_shell_union u = {0};
    kiln_status status = KILN_OK;
    *done = false;
    for (uint64_t seed = 0; seed < TRIES && !*done && status == KILN_OK; seed++)
        status = kiln_shell_unite(w->context, &w->all.shell, &more->shell, w->size, seed, &u, done,
                                  error);
    if (status == KILN_OK && *done) {
        w->cuts += u.cuts;
        status = take_union(w, &w->all, more, &u, error);
    }
    kiln_shell_union_free(w->context, &u);
    return status;
}

static kiln_status plant(const uniting *w, const sheet *s, kiln_triangle_tree *tree,
                         kiln_error *error)
{
    kiln_triangle_array list = {0};
    size_t count = s->shell.triangles.count;
    KILN_TRY(kiln_array_reserve(w->context, &list, count + 1, error));
    for (size_t t = 0; t < count; t++)
        for (int k = 0; k < 3; k++)
            list.data[t].p[k] = s->shell.points.data[s->shell.triangles.data[t].v[k]];
    kiln_status status = kiln_triangle_tree_build(tree, w->context, list.data, count, error);
    kiln_array_free(w->context, &list);
    return status;
}

/* Vertices of the bridge carry what the fine vertex that is closest does, as if they had come
 * there. */
static kiln_status dress_bridge(const uniting *w, const kiln_triangle_tree *fine, sheet *bridge,
                                kiln_error *error)
{
    kiln_shell shell = bridge->shell; /* only it is there yet */
    KILN_TRY(make_room(w, bridge, shell.points.count, shell.triangles.count, error));
    for (size_t i = 0; i < bridge->shell.points.count; i++) {
        kiln_vec3 p = bridge->shell.points.data[i];
        double unused, best = INFINITY;
        uint32_t triangle = kiln_triangle_tree_closest(fine, p, INFINITY, &unused), from = 0;
        for (int k = 0; k < 3 && triangle != KILN_BVH_NONE; k++) {
            uint32_t v = w->all.shell.triangles.data[triangle].v[k];
            double far = kiln_v3_norm2(kiln_v3_sub(w->all.shell.points.data[v], p));
            from = far < best ? v : from;
            best = fmin(best, far);
        }
        double *row = &bridge->values.data[i * w->stride];
        memcpy(row, &w->all.values.data[from * w->stride], w->stride * sizeof *row);
        row[KILN_FINE_MADE] = CAME;
    }
    for (size_t t = 0; t < bridge->shell.triangles.count; t++) {
        uint32_t near = kiln_triangle_tree_closest(
            fine, bridge->shell.points.data[bridge->shell.triangles.data[t].v[0]], INFINITY,
            &(double){0});
        bridge->tags.data[t] = near != KILN_BVH_NONE ? w->all.tags.data[near] : 0;
    }
    return KILN_OK;
}

static kiln_status add_bridge(uniting *w, bool *done, kiln_error *error)
{
    sheet bridge = {0};
    kiln_triangle_tree fine = {0};
    kiln_status status = plant(w, &w->all, &fine, error);
    if (status == KILN_OK)
        status = kiln_bridge_find(w->from, w->to, w->member.data, w->origin, &fine, w->size,
                                  &bridge.shell, error);
    if (status == KILN_OK && bridge.shell.triangles.count > 0) {
        status = dress_bridge(w, &fine, &bridge, error);
        if (status == KILN_OK)
            status = add_sheet(w, &bridge, done, error);
    }
    kiln_triangle_tree_destroy(&fine);
    free_sheet(w->context, &bridge);
    return status;
}

typedef struct component {
    double six;     /* times its volume */
    int64_t inside; /* of its vertices, less those outside the new mesh */
} component;

static uint32_t root_of(uint32_t *root, uint32_t v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

static kiln_status weigh(const uniting *w, uint32_t *root, component *of, kiln_error *error)
{
    const kiln_shell *shell = &w->all.shell;
    kiln_triangle_array outline = {0};
    kiln_triangle_tree tree = {0};
    kiln_status status = kiln_outline_of(w->to, w->member.data, w->origin, &outline, error);
    if (status == KILN_OK)
        status = kiln_triangle_tree_build(&tree, w->context, outline.data, outline.count, error);
    for (uint32_t v = 0; v < shell->points.count; v++)
        root[v] = v;
    for (size_t t = 0; t < shell->triangles.count; t++)
        for (int k = 1; k < 3; k++) {
            uint32_t a = root_of(root, shell->triangles.data[t].v[0]);
            uint32_t b = root_of(root, shell->triangles.data[t].v[k]);
            root[a > b ? a : b] = a > b ? b : a;
        }
    for (size_t t = 0; t < shell->triangles.count; t++) {
        const uint32_t *v = shell->triangles.data[t].v;
        of[root_of(root, v[0])].six += kiln_v3_triple(
            shell->points.data[v[0]], shell->points.data[v[1]], shell->points.data[v[2]]);
    }
    for (uint32_t v = 0; v < shell->points.count && status == KILN_OK; v++) {
        component *own = &of[root_of(root, v)];
        if (own->six <= 0.0)
            own->inside += kiln_triangle_tree_winding(&tree, shell->points.data[v]) > 0.5 ? 1 : -1;
    }
    kiln_triangle_tree_destroy(&tree);
    kiln_array_free(w->context, &outline);
    return status;
}

/* Pockets between surfaces that touched in several places are matter now. */
static kiln_status drop_pockets(uniting *w, kiln_error *error)
{
    kiln_shell *shell = &w->all.shell;
    size_t points = shell->points.count, kept = 0;
    size_t bytes = (points + 1) * sizeof(component), root_bytes = (points + 1) * sizeof(uint32_t);
    component *of = kiln_resize(w->context, NULL, 0, bytes);
    uint32_t *root = kiln_resize(w->context, NULL, 0, root_bytes);
    kiln_status status = of && root ? KILN_OK : kiln_fail_memory(error, bytes);
    if (status == KILN_OK) {
        memset(of, 0, bytes);
        status = weigh(w, root, of, error);
    }
    for (size_t t = 0; t < shell->triangles.count && status == KILN_OK; t++) {
        const component *own = &of[root_of(root, shell->triangles.data[t].v[0])];
        if (own->six <= 0.0 && own->inside > 0)
            continue;
        shell->triangles.data[kept] = shell->triangles.data[t];
        w->all.tags.data[kept++] = w->all.tags.data[t];
    }
    if (status == KILN_OK)
        shell->triangles.count = w->all.tags.count = kept;
    kiln_release(w->context, of, bytes);
    kiln_release(w->context, root, root_bytes);
    return status;
}

static double six_volumes(const kiln_shell *shell)
{
    double sum = 0.0;
    for (size_t t = 0; t < shell->triangles.count; t++) {
        const uint32_t *v = shell->triangles.data[t].v;
        sum += kiln_v3_triple(shell->points.data[v[0]], shell->points.data[v[1]],
                              shell->points.data[v[2]]);
    }
    return sum;
}

/* Volume of the bodies in the world, and the mean size of their tets. */
static double mesh_volume(const uniting *w, const kiln_mesh *mesh, double *edge)
{
    double sum = 0.0;
    size_t tets = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t) || !w->member.data[kiln_embedded_body(mesh, t)])
            continue;
        kiln_vec3 o = mesh->x[v[0]];
        sum += kiln_v3_triple(kiln_v3_sub(mesh->x[v[1]], o), kiln_v3_sub(mesh->x[v[2]], o),
                              kiln_v3_sub(mesh->x[v[3]], o)) /
               6.0;
        tets++;
    }
    *edge = cbrt(6.0 * sqrt(2.0) * fabs(sum) / fmax((double)tets, 1.0));
    return sum;
}

static bool has_come(const uniting *w, size_t v)
{
    return w->all.values.data[v * w->stride + KILN_FINE_MADE] == CAME;
}

/* The bridge has the bumps of a mesh that is coarser, and the seam those of triangles that were
 * cut: they are no detail of anything. */
static kiln_status smooth(uniting *w, kiln_error *error)
{
    kiln_shell *shell = &w->all.shell;
    KILN_ARRAY_OF(kiln_vec3)
    sum = {0};
    kiln_f64_array count = {0};
    kiln_status status = kiln_array_reserve(w->context, &sum, shell->points.count + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(w->context, &count, shell->points.count + 1, error);
    for (int round = 0; round < SMOOTHINGS && status == KILN_OK; round++) {
        memset(sum.data, 0, shell->points.count * sizeof *sum.data);
        memset(count.data, 0, shell->points.count * sizeof *count.data);
        for (size_t s = 0; s < 3 * shell->triangles.count; s++) {
            const uint32_t *v = shell->triangles.data[s / 3].v;
            uint32_t a = v[s % 3], b = v[(s + 1) % 3];
            sum.data[a] = kiln_v3_add(sum.data[a], shell->points.data[b]);
            count.data[a] += 1.0;
        }
        for (size_t v = 0; v < shell->points.count; v++)
            if (has_come(w, v) && count.data[v] > 0.0)
                shell->points.data[v] = kiln_v3_lerp(
                    shell->points.data[v], kiln_v3_scale(sum.data[v], 1.0 / count.data[v]), 0.5);
    }
    kiln_array_free(w->context, &sum);
    kiln_array_free(w->context, &count);
    return status;
}

/* The new mesh has the volume of the old: what the bridge brought is taken off all round, as it was
 * there. Vertices that came stay: they are where the mesh is. */
static kiln_status give_back(uniting *w, kiln_error *error)
{
    kiln_shell *shell = &w->all.shell;
    KILN_ARRAY_OF(kiln_vec3)
    normal = {0};
    double edge, unused, moved = 0.0;
    double wanted =
        6.0 * w->volume * mesh_volume(w, w->to, &edge) / mesh_volume(w, w->from, &unused);
    KILN_TRY(kiln_array_reserve(w->context, &normal, shell->points.count + 1, error));
    for (int round = 0; round < ROUNDS; round++) {
        double area2 = 0.0;
        memset(normal.data, 0, shell->points.count * sizeof *normal.data);
        for (size_t t = 0; t < shell->triangles.count; t++) {
            const uint32_t *v = shell->triangles.data[t].v;
            const kiln_vec3 *p = shell->points.data;
            kiln_vec3 n =
                kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]));
            for (int k = 0; k < 3; k++)
                normal.data[v[k]] = kiln_v3_add(normal.data[v[k]], n);
        }
        for (size_t v = 0; v < shell->points.count; v++)
            if (!has_come(w, v))
                area2 += kiln_v3_norm(normal.data[v]);
        double by = (wanted - six_volumes(shell)) / fmax(area2, 1e-300);
        by = fmax(fmin(by, FARTHEST * edge - moved), -FARTHEST * edge - moved);
        moved += by;
        for (size_t v = 0; v < shell->points.count; v++) {
            double size = kiln_v3_norm(normal.data[v]);
            if (size > 0.0 && !has_come(w, v))
                shell->points.data[v] =
                    kiln_v3_madd(shell->points.data[v], by / size, normal.data[v]);
        }
    }
    kiln_array_free(w->context, &normal);
    return KILN_OK;
}

static kiln_status put_together(uniting *w, bool *done, kiln_error *error)
{
    size_t surfaces = 0;
    *done = true;
    for (size_t i = 0; i < w->count && *done; i++) {
        sheet s = {0};
        if (w->list[i] && w->list[i]->now.triangles.count == 0)
            continue;
        kiln_status status = make_sheet(w, i, &s, error);
        if (status == KILN_OK)
            status = kiln_shell_is_closed(w->context, &s.shell, done, error);
        double size = mean_edge(&s);
        w->size = surfaces++ == 0 ? size : fmin(w->size, size);
        w->volume += six_volumes(&s.shell) / 6.0;
        *done = *done && six_volumes(&s.shell) > 0.0; /* turned inside out it has no inside */
        if (status == KILN_OK && *done)
            status = add_sheet(w, &s, done, error);
        free_sheet(w->context, &s);
        KILN_TRY(status);
    }
    size_t cuts = w->cuts;
    if (*done)
        KILN_TRY(add_bridge(w, done, error));
    *done = *done && (surfaces > 1 || w->cuts > cuts);
    if (!*done || w->cuts == 0)
        return KILN_OK;
    KILN_TRY(drop_pockets(w, error));
    KILN_TRY(smooth(w, error));
    return give_back(w, error);
}

/* All that there is becomes the owner's, and hangs in the new mesh. */
static kiln_status hand_over(uniting *w, kiln_error *error)
{
    kiln_embedded *e = w->owner;
    kiln_embedded_state *now = &e->now;
    size_t points = w->all.shell.points.count, triangles = w->all.shell.triangles.count;
    bool tagged = now->tags.count > 0;
    KILN_TRY(kiln_array_reserve(w->context, &now->u, points, error));
    KILN_TRY(kiln_array_reserve(w->context, &now->hangs, points, error));
    KILN_TRY(kiln_array_reserve(w->context, &now->values, w->stride * points, error));
    KILN_TRY(kiln_array_reserve(w->context, &now->triangles, triangles, error));
    KILN_TRY(kiln_array_reserve(w->context, &now->tags, triangles, error));
    now->u.count = now->hangs.count = points;
    now->values.count = w->stride * points;
    now->triangles.count = triangles;
    now->tags.count = tagged ? triangles : 0;
    memcpy(now->values.data, w->all.values.data, now->values.count * sizeof(double));
    for (size_t i = 0; i < points; i++)
        now->values.data[i * w->stride + KILN_FINE_MADE] =
            fmin(now->values.data[i * w->stride + KILN_FINE_MADE], 1.0);
    memcpy(now->triangles.data, w->all.shell.triangles.data,
           triangles * sizeof *now->triangles.data);
    for (size_t t = 0; t < now->tags.count; t++)
        now->tags.data[t] = w->all.tags.data[t];
    for (size_t i = 0; i < points; i++)
        w->all.shell.points.data[i] = kiln_v3_add(w->all.shell.points.data[i], w->origin);
    for (size_t i = 0; i < w->count; i++) {
        kiln_embedded *other = w->list[i];
        if (!other || other == e)
            continue;
        other->now.u.count = other->now.hangs.count = other->now.values.count = 0;
        other->now.triangles.count = other->now.tags.count = 0;
        KILN_TRY(kiln_embedded_relist(other, w->to, error));
    }
    return kiln_embedded_hang_at(e, w->to, KILN_SPACE_WORLD, w->all.shell.points.data, NULL, error);
}

kiln_status kiln_embedded_unite(kiln_embedded *const *list, const uint32_t *bodies, size_t count,
                                const kiln_mesh *from, const kiln_mesh *to, bool *done,
                                kiln_error *error)
{
    uniting w = {.context = to->context,
                 .list = list,
                 .bodies = bodies,
                 .count = count,
                 .from = from,
                 .to = to};
    for (size_t i = 0; i < count && !w.owner; i++)
        w.owner = list[i] && list[i]->now.triangles.count > 0 ? list[i] : NULL;
    *done = false;
    if (!w.owner)
        return KILN_OK;
    w.stride = w.owner->stride;
    w.origin = from->x[from->tet[w.owner->now.hangs.data[0].tet].v[0]];
    kiln_status status = find_members(&w, error);
    if (status == KILN_OK)
        status = put_together(&w, done, error);
    if (status == KILN_OK && *done)
        status = hand_over(&w, error);
    free_sheet(w.context, &w.all);
    kiln_array_free(w.context, &w.member);
    return status;
}
