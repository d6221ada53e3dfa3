#include "app/film_scenery.h"

#include "app/render_mesh.h"
#include "io/format.h"

/* Pieces are points connected by triangles; `root` [point] leads to a piece's first point. */
static uint32_t root_of(uint32_t *root, uint32_t v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

static void connect(uint32_t *root, uint32_t a, uint32_t b)
{
    a = root_of(root, a);
    b = root_of(root, b);
    root[a > b ? a : b] = a < b ? a : b;
}

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
        connect(root, v[0], v[1]);
        connect(root, v[0], v[2]);
    }
    for (size_t i = 0; i < 3 * soup->triangles.count; i++) {
        uint32_t v = soup->triangles.data[i / 3].v[i % 3];
        kiln_box *piece = &box[root_of(root, v)];
        *piece = kiln_box_grow(*piece, kiln_render_turn_up(soup->points.data[v], up));
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const kiln_box *piece = &box[root_of(root, soup->triangles.data[i].v[0])];
        if (!is_ground(piece, bodies)) {
            soup->triangles.data[kept++] = soup->triangles.data[i];
            continue;
        }
        double height = piece->high.z;
        scenery->ground = scenery->has_ground ? fmax(scenery->ground, height) : height;
        scenery->has_ground = true;
    }
    soup->triangles.count = kept;
    for (uint32_t v = 0; v < points; v++) {
        const kiln_box *piece = &box[root_of(root, v)];
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
    kiln_arena_destroy(&arena);
    if (status != KILN_OK)
        kiln_film_scenery_free(out);
    return status;
}

void kiln_film_scenery_free(kiln_film_scenery *scenery)
{
    kiln_array_free(scenery->surface.context, &scenery->framed);
    kiln_soup_free(&scenery->surface);
}
