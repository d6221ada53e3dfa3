#include "io/polygons.h"

#include "base/hash.h"

static kiln_status add_triangle(kiln_soup *soup, uint32_t a, uint32_t b, uint32_t c, int32_t tag,
                                kiln_error *error)
{
    kiln_soup_triangle triangle = {{a, b, c}};
    KILN_TRY(kiln_array_push(soup->context, &soup->triangles, triangle, error));
    if (tag == 0 && soup->triangle_tags.count == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_tags, soup->triangles.count, error));
    while (soup->triangle_tags.count + 1 < soup->triangles.count)
        soup->triangle_tags.data[soup->triangle_tags.count++] = 0;
    soup->triangle_tags.data[soup->triangle_tags.count++] = tag;
    return KILN_OK;
}

/* Newell's normal: twice the vector area. */
static kiln_vec3 polygon_normal(const kiln_vec3 *p, const uint32_t *v, size_t count)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++)
        sum = kiln_v3_add(sum, kiln_v3_cross(kiln_v3_sub(p[v[i]], p[v[0]]),
                                             kiln_v3_sub(p[v[(i + 1) % count]], p[v[0]])));
    return sum;
}

static double turn(const kiln_vec3 *p, kiln_vec3 normal, uint32_t a, uint32_t b, uint32_t c)
{
    return kiln_v3_dot(normal, kiln_v3_cross(kiln_v3_sub(p[b], p[a]), kiln_v3_sub(p[c], p[a])));
}

static bool is_ear(const kiln_vec3 *p, kiln_vec3 normal, const uint32_t *ring, size_t count,
                   size_t i)
{
    uint32_t a = ring[(i + count - 1) % count], b = ring[i], c = ring[(i + 1) % count];
    if (!(turn(p, normal, a, b, c) > 0.0))
        return false;
    for (size_t k = 2; k + 1 < count; k++) {
        uint32_t d = ring[(i + k) % count];
        if (d != a && d != b && d != c && turn(p, normal, a, b, d) >= 0.0 &&
            turn(p, normal, b, c, d) >= 0.0 && turn(p, normal, c, a, d) >= 0.0)
            return false;
    }
    return true;
}

/* Cuts ears off `ring` in place; what is left when none is found becomes a fan. */
static kiln_status cut_ring(kiln_soup *soup, uint32_t *ring, size_t count, int32_t tag,
                            kiln_error *error)
{
    kiln_vec3 normal = polygon_normal(soup->points.data, ring, count);
    while (count > 3) {
        size_t ear = 0;
        while (ear < count && !is_ear(soup->points.data, normal, ring, count, ear))
            ear++;
        if (ear == count)
            break;
        KILN_TRY(add_triangle(soup, ring[(ear + count - 1) % count], ring[ear],
                              ring[(ear + 1) % count], tag, error));
        memmove(ring + ear, ring + ear + 1, (count - ear - 1) * sizeof *ring);
        count--;
    }
    for (size_t i = 1; i + 1 < count; i++)
        KILN_TRY(add_triangle(soup, ring[0], ring[i], ring[i + 1], tag, error));
    return KILN_OK;
}

kiln_status kiln_polygon_split(kiln_soup *soup, const uint32_t *v, size_t count, int32_t tag,
                               kiln_error *error)
{
    enum { SMALL = 64, LARGEST = 4096 };
    if (count == 3)
        return add_triangle(soup, v[0], v[1], v[2], tag, error);
    if (count > LARGEST) { /* ears take the square of it */
        for (size_t i = 1; i + 1 < count; i++)
            KILN_TRY(add_triangle(soup, v[0], v[i], v[i + 1], tag, error));
        return KILN_OK;
    }
    uint32_t small[SMALL], *ring = small;
    if (count > SMALL) {
        ring = kiln_resize(soup->context, NULL, 0, count * sizeof *ring);
        if (!ring)
            return kiln_fail_memory(error, count * sizeof *ring);
    }
    memcpy(ring, v, count * sizeof *ring);
    kiln_status status = cut_ring(soup, ring, count, tag, error);
    if (ring != small)
        kiln_release(soup->context, ring, count * sizeof *ring);
    return status;
}

static uint64_t point_hash(kiln_vec3 p)
{
    uint64_t bits[3];
    memcpy(bits, &p, sizeof bits);
    return kiln_hash_add(kiln_hash_add(kiln_hash_mix(bits[0]), bits[1]), bits[2]);
}

static void put_slot(kiln_weld *weld, uint32_t index)
{
    size_t mask = weld->slots.count - 1;
    size_t slot = point_hash(weld->soup->points.data[index]) & mask;
    while (weld->slots.data[slot] != UINT32_MAX)
        slot = (slot + 1) & mask;
    weld->slots.data[slot] = index;
}

/* Twice the slots, at least half of them free. */
static kiln_status grow_slots(kiln_weld *weld, kiln_error *error)
{
    kiln_context *context = weld->soup->context;
    size_t wanted = weld->slots.count ? 2 * weld->slots.count : 256;
    KILN_TRY(kiln_array_reserve(context, &weld->slots, wanted, error));
    weld->slots.count = wanted;
    memset(weld->slots.data, 0xff, wanted * sizeof *weld->slots.data);
    for (size_t i = 0; i < weld->soup->points.count; i++)
        put_slot(weld, (uint32_t)i);
    return KILN_OK;
}

kiln_status kiln_weld_point(kiln_weld *weld, kiln_vec3 p, uint32_t *index, kiln_error *error)
{
    kiln_soup *soup = weld->soup;
    p = kiln_v3(p.x + 0.0, p.y + 0.0, p.z + 0.0); /* no negative zeros */
    if (2 * soup->points.count >= weld->slots.count)
        KILN_TRY(grow_slots(weld, error));
    size_t mask = weld->slots.count - 1, slot = point_hash(p) & mask;
    for (; weld->slots.data[slot] != UINT32_MAX; slot = (slot + 1) & mask) {
        kiln_vec3 q = soup->points.data[weld->slots.data[slot]];
        if (q.x == p.x && q.y == p.y && q.z == p.z) {
            *index = weld->slots.data[slot];
            return KILN_OK;
        }
    }
    if (soup->points.count >= UINT32_MAX - 1)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many points");
    KILN_TRY(kiln_array_push(soup->context, &soup->points, p, error));
    *index = weld->slots.data[slot] = (uint32_t)soup->points.count - 1;
    return KILN_OK;
}

void kiln_weld_free(kiln_weld *weld)
{
    kiln_array_free(weld->soup->context, &weld->slots);
}

/* Points on triangles numbered in their order, the others UINT32_MAX; all of them when there are no
 * tets. */
static void number_points(const kiln_soup *soup, uint32_t *number)
{
    bool all = soup->tets.count == 0;
    memset(number, all ? 0 : 0xff, soup->points.count * sizeof *number);
    for (size_t i = 0; i < soup->triangles.count; i++)
        for (int k = 0; k < 3; k++)
            number[soup->triangles.data[i].v[k]] = 0;
    uint32_t next = 0;
    for (size_t i = 0; i < soup->points.count; i++)
        if (number[i] == 0)
            number[i] = next++;
}

static kiln_status extract_material(const kiln_soup *soup, const uint32_t *number, kiln_soup *out,
                                    kiln_error *error)
{
    const kiln_soup_field *u = kiln_soup_find_field(soup, KILN_ON_VERTEX, "u");
    kiln_soup_field *made;
    if (!u || u->components != 3)
        return KILN_OK;
    KILN_TRY(kiln_soup_add_field(out, "u", KILN_ON_VERTEX, 3, &made, error));
    for (size_t i = 0; i < soup->points.count; i++)
        if (number[i] != UINT32_MAX)
            memcpy(made->data.data + 3 * (size_t)number[i], u->data.data + 3 * i,
                   3 * sizeof(double));
    return KILN_OK;
}

static kiln_status extract(const kiln_soup *soup, uint32_t *number, kiln_soup *out,
                           kiln_error *error)
{
    kiln_context *context = soup->context;
    number_points(soup, number);
    for (size_t i = 0; i < soup->points.count; i++)
        if (number[i] != UINT32_MAX)
            KILN_TRY(kiln_array_push(context, &out->points, soup->points.data[i], error));
    KILN_TRY(kiln_array_reserve(context, &out->triangles, soup->triangles.count, error));
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        out->triangles.data[i] = (kiln_soup_triangle){{number[v[0]], number[v[1]], number[v[2]]}};
    }
    out->triangles.count = soup->triangles.count;
    KILN_TRY(kiln_array_reserve(context, &out->triangle_tags, soup->triangle_tags.count, error));
    out->triangle_tags.count = soup->triangle_tags.count;
    if (soup->triangle_tags.count)
        memcpy(out->triangle_tags.data, soup->triangle_tags.data,
               soup->triangle_tags.count * sizeof *out->triangle_tags.data);
    return extract_material(soup, number, out, error);
}

kiln_status kiln_surface_extract(const kiln_soup *soup, const char *path, kiln_soup *out,
                                 kiln_error *error)
{
    kiln_soup_init(out, soup->context);
    if (soup->triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "the mesh lists no surface triangles, and this format holds nothing else");
    size_t size = soup->points.count * sizeof(uint32_t);
    uint32_t *number = kiln_resize(soup->context, NULL, 0, size);
    if (!number)
        return kiln_fail_memory(error, size);
    kiln_status status = extract(soup, number, out, error);
    kiln_release(soup->context, number, size);
    if (status != KILN_OK)
        kiln_soup_free(out);
    return status;
}

kiln_status kiln_surface_write(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_surface_put put, kiln_error *error)
{
    kiln_soup surface;
    kiln_sink sink;
    KILN_TRY(kiln_surface_extract(soup, path, &surface, error));
    kiln_status status = kiln_sink_open(&sink, context, path, error);
    if (status == KILN_OK) {
        put(&sink, &surface, encoding);
        status = kiln_sink_commit(&sink, error);
    }
    kiln_soup_free(&surface);
    return status;
}

void kiln_surface_put_triangle(kiln_sink *sink, const char *before, const uint32_t v[3],
                               uint32_t first)
{
    kiln_sink_text(sink, before);
    for (int k = 0; k < 3; k++) {
        kiln_sink_char(sink, ' ');
        kiln_sink_integer(sink, (int64_t)v[k] + first);
    }
}

void kiln_surface_put_lines(kiln_sink *sink, const kiln_soup *surface, const char *before_point,
                            const char *before_triangle, uint32_t first)
{
    for (size_t i = 0; i < surface->points.count; i++) {
        kiln_sink_text(sink, before_point);
        kiln_sink_point(sink, surface->points.data[i]);
        kiln_sink_char(sink, '\n');
    }
    for (size_t i = 0; i < surface->triangles.count; i++) {
        kiln_surface_put_triangle(sink, before_triangle, surface->triangles.data[i].v, first);
        kiln_sink_char(sink, '\n');
    }
}
