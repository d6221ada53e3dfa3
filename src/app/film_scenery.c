#include "app/film_scenery.h"

#include "app/film_parts.h"
#include "app/render_mesh.h"
#include "io/format.h"

static double diagonal(const kiln_box *box)
{
    return kiln_v3_norm(kiln_v3_sub(box->high, box->low));
}

static bool is_ground(const kiln_box *piece, const kiln_box *bodies)
{
    bool level = piece->high.z - piece->low.z <= 1e-6 * diagonal(piece);
    double low = bodies->low.z, high = bodies->high.z;
    return level && piece->high.z <= low + 0.35 * (high - low);
}

static const double much_larger = 2.5;

static bool is_of(const kiln_soup *soup, uint32_t *root, size_t triangle, uint32_t part)
{
    return triangle < soup->triangles.count &&
           kiln_part_root(root, soup->triangles.data[triangle].v[0]) == part;
}

/* A plane is written as a square, two triangles alone, that goes along with the bodies; slopes and
 * walls must stand still over the film, so the square is put where the bodies are in all frames,
 * and made larger. Its box grows with it. */
static void spread_planes(kiln_soup *soup, char up, const kiln_box *bodies, uint32_t *root,
                          kiln_box *box)
{
    kiln_vec3 center = kiln_v3_lerp(bodies->low, bodies->high, 0.5);
    for (size_t i = 0; i + 1 < soup->triangles.count; i++) {
        const uint32_t *a = soup->triangles.data[i].v, *b = soup->triangles.data[i + 1].v;
        uint32_t part = kiln_part_root(root, a[0]);
        bool square = b[0] == a[0] && b[1] == a[2] && part == a[0] && a[1] == a[0] + 1 &&
                      a[2] == a[0] + 2 && b[2] == a[0] + 3 && !is_of(soup, root, i + 2, part) &&
                      !(i > 0 && is_of(soup, root, i - 1, part));
        if (!square)
            continue;
        kiln_vec3 *p = &soup->points.data[a[0]];
        kiln_vec3 side = kiln_v3_normalize(kiln_v3_sub(p[1], p[0]));
        kiln_vec3 other = kiln_v3_normalize(kiln_v3_sub(p[3], p[0]));
        kiln_vec3 from = kiln_v3_sub(center, kiln_render_turn_up(p[0], up));
        kiln_vec3 s = kiln_render_turn_up(side, up), t = kiln_render_turn_up(other, up);
        kiln_vec3 foot = kiln_v3_madd(kiln_v3_madd(p[0], kiln_v3_dot(from, s), side),
                                      kiln_v3_dot(from, t), other);
        double half = 4.0 * diagonal(bodies);
        const double corner[4][2] = {{-half, -half}, {half, -half}, {half, half}, {-half, half}};
        for (int k = 0; k < 4; k++) {
            p[k] = kiln_v3_madd(kiln_v3_madd(foot, corner[k][0], side), corner[k][1], other);
            box[part] = kiln_box_grow(box[part], kiln_render_turn_up(p[k], up));
        }
    }
}

/* Of a piece: the sums of its areas, as vectors and as numbers, and of its volume. */
typedef struct turn {
    kiln_vec3 face;
    double area, volume;
} turn;

static turn *measure_turns(kiln_arena *arena, const kiln_soup *soup, uint32_t *root)
{
    turn *all = kiln_arena_array(arena, turn, soup->points.count);
    for (size_t v = 0; all && v < soup->points.count; v++)
        all[v] = (turn){.area = 0.0};
    for (size_t i = 0; all && i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v, part = kiln_part_root(root, v[0]);
        const kiln_vec3 *p = soup->points.data;
        kiln_vec3 a = kiln_v3_sub(p[v[0]], p[part]);
        kiln_vec3 face = kiln_v3_scale(
            kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]])), 0.5);
        all[part].face = kiln_v3_add(all[part].face, face);
        all[part].area += kiln_v3_norm(face);
        all[part].volume += kiln_v3_dot(a, face) / 3.0;
    }
    return all;
}

/* Closed surfaces that face inward: obstacles that are inside out. */
static kiln_status find_hollow(kiln_film_scenery *scenery, kiln_arena *arena, uint32_t *root,
                               kiln_error *error)
{
    kiln_soup *soup = &scenery->surface;
    const turn *all = measure_turns(arena, soup, root);
    if (!all)
        return kiln_fail_memory(error, soup->points.count * sizeof *all);
    for (uint32_t i = 0; i < soup->triangles.count; i++) {
        const turn *piece = &all[kiln_part_root(root, soup->triangles.data[i].v[0])];
        bool closed = kiln_v3_norm(piece->face) <= 1e-6 * piece->area;
        if (closed && piece->volume < 0.0)
            KILN_TRY(kiln_array_push(soup->context, &scenery->hollow, i, error));
    }
    return KILN_OK;
}

void kiln_film_scenery_open(kiln_film_scenery *scenery, char up, kiln_vec3 eye)
{
    kiln_soup *soup = &scenery->surface;
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < soup->triangles.count; i++) {
        bool hollow = next < scenery->hollow.count && scenery->hollow.data[next] == i;
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = kiln_render_turn_up(soup->points.data[v[k]], up);
        next += hollow;
        kiln_vec3 face = kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
        if (!hollow || kiln_v3_dot(kiln_v3_sub(eye, p[0]), face) > 0.0)
            soup->triangles.data[kept++] = soup->triangles.data[i];
    }
    soup->triangles.count = kept;
    scenery->hollow.count = 0;
}

/* What each piece is: decides ground and framed, and takes the ground's triangles out. */
static kiln_status sort_pieces(kiln_film_scenery *scenery, char up, const kiln_box *bodies,
                               uint32_t *root, kiln_box *box, kiln_error *error)
{
    kiln_soup *soup = &scenery->surface;
    size_t points = soup->points.count, kept = 0;
    for (uint32_t v = 0; v < points; v++) {
        root[v] = v;
        box[v] = kiln_box_empty();
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_part_connect(root, v[0], v[1]);
        kiln_part_connect(root, v[0], v[2]);
    }
    for (size_t i = 0; i < 3 * soup->triangles.count; i++) {
        uint32_t v = soup->triangles.data[i / 3].v[i % 3];
        kiln_box *piece = &box[kiln_part_root(root, v)];
        *piece = kiln_box_grow(*piece, kiln_render_turn_up(soup->points.data[v], up));
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const kiln_box *piece = &box[kiln_part_root(root, soup->triangles.data[i].v[0])];
        if (!is_ground(piece, bodies)) {
            soup->triangles.data[kept++] = soup->triangles.data[i];
            continue;
        }
        double height = piece->high.z;
        scenery->ground = scenery->has_ground ? fmax(scenery->ground, height) : height;
        scenery->has_ground = true;
    }
    soup->triangles.count = kept;
    spread_planes(soup, up, bodies, root, box);
    for (uint32_t v = 0; v < points; v++) {
        const kiln_box *piece = &box[kiln_part_root(root, v)];
        bool drawn = piece->low.x <= piece->high.x && !is_ground(piece, bodies);
        if (drawn && diagonal(piece) <= much_larger * diagonal(bodies))
            KILN_TRY(kiln_array_push(soup->context, &scenery->framed, v, error));
    }
    return KILN_OK;
}

kiln_status kiln_film_scenery_read(kiln_context *context, const char *path, char up,
                                   const kiln_box *bodies, kiln_film_scenery *out,
                                   kiln_error *error)
{
    *out = (kiln_film_scenery){0};
    kiln_soup_init(&out->surface, context);
    if (!path)
        return KILN_OK;
    KILN_TRY(kiln_soup_read(context, path, NULL, &out->surface, error));
    kiln_arena arena;
    kiln_arena_init(&arena, context);
    size_t points = out->surface.points.count;
    uint32_t *root = kiln_arena_array(&arena, uint32_t, points);
    kiln_box *box = kiln_arena_array(&arena, kiln_box, points);
    kiln_status status = root && box ? sort_pieces(out, up, bodies, root, box, error)
                                     : kiln_fail_memory(error, points * sizeof *box);
    if (status == KILN_OK)
        status = find_hollow(out, &arena, root, error);
    kiln_arena_destroy(&arena);
    if (status != KILN_OK)
        kiln_film_scenery_free(out);
    return status;
}

void kiln_film_scenery_free(kiln_film_scenery *scenery)
{
    kiln_array_free(scenery->surface.context, &scenery->framed);
    kiln_array_free(scenery->surface.context, &scenery->hollow);
    kiln_soup_free(&scenery->surface);
}
