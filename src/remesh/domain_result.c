/* The kept tets as a mesh: numbers, tags, features, and positions in the other space. */
#include "remesh/domain_impl.h"

#include "geom/distance.h"
#include "geom/predicates.h"
#include "mesh/build.h"
#include "topology/import.h"

#include <string.h>

typedef struct gatherer {
    kiln_domain *domain;
    kiln_u32_array number; /* [site] point of the soup, or KILN_NONE */
    KILN_ARRAY_OF(kiln_vec3)
    other;               /* [point] place in the other space */
    kiln_u32_array part; /* [point] old part that place is from */
    kiln_soup soup;
} gatherer;

static kiln_status gather_points(gatherer *g, kiln_error *error)
{
    const kiln_domain *domain = g->domain;
    kiln_context *context = domain->context;
    const kiln_mesh *mesh = domain->mesh;
    KILN_TRY(kiln_array_reserve(context, &g->number, domain->sites.count, error));
    memset(g->number.data, 0xFF, domain->sites.count * sizeof *g->number.data);
    for (size_t t = 0; t < domain->delaunay.tets.count; t++)
        for (int i = 0; i < 4 && domain->keep.data[t]; i++)
            g->number.data[domain->delaunay.tets.data[t].v[i]] = 0;
    for (size_t s = 0; s < domain->sites.count; s++) {
        if (g->number.data[s] == KILN_NONE)
            continue;
        const kiln_site *site = &domain->sites.data[s];
        uint32_t point = g->number.data[s] = (uint32_t)g->soup.points.count;
        bool known = site->vertex != KILN_NONE;
        KILN_TRY(kiln_array_push(context, &g->soup.points, site->x, error));
        KILN_TRY(kiln_array_push(context, &g->soup.point_tags,
                                 known ? mesh->vertex[site->vertex].tag : 0, error));
        if (site->kind == KILN_SITE_CORNER)
            KILN_TRY(kiln_array_push(context, &g->soup.corners, point, error));
        if (known && (mesh->vertex[site->vertex].flags & KILN_VERTEX_REQUIRED))
            KILN_TRY(kiln_array_push(context, &g->soup.required_points, point, error));
    }
    return KILN_OK;
}

/* Of the old face nearest to the new one that looks the same way. */
static int32_t tag_of_face(const kiln_domain *domain, const uint32_t v[3])
{
    const kiln_site *s = domain->sites.data;
    const kiln_mesh *mesh = domain->mesh;
    kiln_piece face = {.p = {s[v[0]].x, s[v[1]].x, s[v[2]].x}};
    kiln_vec3 centre =
        kiln_v3_scale(kiln_v3_add(kiln_v3_add(face.p[0], face.p[1]), face.p[2]), 1.0 / 3.0);
    uint32_t piece = kiln_domain_closest_facing(domain, centre, kiln_piece_normal(&face));
    if (piece == KILN_BVH_NONE)
        return 0;
    uint32_t at = domain->pieces.data[piece].at;
    return mesh->face[mesh->tet[at / 4].n[at % 4] - KILN_LINK_SURFACE].tag;
}

static kiln_status gather_tets(gatherer *g, kiln_error *error)
{
    const kiln_domain *domain = g->domain;
    kiln_context *context = domain->context;
    for (size_t t = 0; t < domain->delaunay.tets.count; t++) {
        const kiln_tet *tet = &domain->delaunay.tets.data[t];
        if (!domain->keep.data[t])
            continue;
        kiln_soup_tet out;
        for (int i = 0; i < 4; i++)
            out.v[i] = g->number.data[tet->v[i]];
        KILN_TRY(kiln_array_push(context, &g->soup.tets, out, error));
        KILN_TRY(kiln_array_push(context, &g->soup.tet_tags, domain->region.data[t], error));
        for (int i = 0; i < 4; i++) {
            if (tet->n[i] != KILN_NONE && domain->keep.data[tet->n[i] / 4])
                continue;
            uint32_t v[3];
            kiln_soup_triangle triangle;
            for (int k = 0; k < 3; k++) {
                v[k] = tet->v[kiln_face_corner[i][k]];
                triangle.v[k] = g->number.data[v[k]];
            }
            KILN_TRY(kiln_array_push(context, &g->soup.triangles, triangle, error));
            KILN_TRY(
                kiln_array_push(context, &g->soup.triangle_tags, tag_of_face(domain, v), error));
        }
    }
    if (g->soup.tets.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1,
                         "nothing of the domain is left at this size");
    return KILN_OK;
}

/* Segments whose ends are not joined by an edge are left out by the build, as loose edges. */
static kiln_status gather_segments(gatherer *g, kiln_error *error)
{
    const kiln_domain *domain = g->domain;
    for (size_t i = 0; i < domain->segments.count; i++) {
        const uint32_t *v = domain->segments.data[i].v;
        kiln_soup_edge edge = {{g->number.data[v[0]], g->number.data[v[1]]}};
        if (edge.v[0] == KILN_NONE || edge.v[1] == KILN_NONE)
            continue;
        uint32_t number = (uint32_t)g->soup.edges.count;
        KILN_TRY(kiln_array_push(domain->context, &g->soup.edges, edge, error));
        KILN_TRY(kiln_array_push(domain->context, &g->soup.ridges, number, error));
    }
    return KILN_OK;
}

/* VPF 4.3: in the old tet that holds the site, or at the nearest point of the old surface. */
static kiln_vec3 other_place(const kiln_domain *domain, const kiln_site *site,
                             const kiln_vec3 *other, uint32_t *part)
{
    const kiln_mesh *mesh = domain->mesh;
    if (site->vertex != KILN_NONE) {
        *part = mesh->info[mesh->vertex[site->vertex].tet].part;
        return other[site->vertex];
    }
    kiln_vec3 p = site->x;
    uint32_t tet = kiln_domain_locate(domain, p);
    if (tet == KILN_NONE) {
        uint32_t piece = kiln_domain_closest(domain, site->x, INFINITY, &p);
        tet = domain->pieces.data[piece].at / 4;
    }
    kiln_vec3 x[4], place = kiln_v3(0, 0, 0);
    const uint32_t *v = mesh->tet[tet].v;
    for (int i = 0; i < 4; i++)
        x[i] = domain->x[v[i]];
    kiln_closest_point in = kiln_closest_on_tet(p, x);
    for (int i = 0; i < 4; i++)
        place = kiln_v3_madd(place, in.weight[i], other[v[i]]);
    *part = mesh->info[tet].part;
    return place;
}

static bool other_is_valid(const gatherer *g)
{
    for (size_t t = 0; t < g->soup.tets.count; t++) {
        const uint32_t *v = g->soup.tets.data[t].v;
        for (int i = 1; i < 4; i++)
            if (g->part.data[v[i]] != g->part.data[v[0]])
                return false;
        const kiln_vec3 *x = g->other.data;
        if (kiln_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) <= 0.0)
            return false;
    }
    return true;
}

static kiln_status gather_other(gatherer *g, kiln_error *error)
{
    kiln_domain *domain = g->domain;
    const kiln_mesh *mesh = domain->mesh;
    bool world = domain->options.space == KILN_SPACE_WORLD;
    if (kiln_mesh_spaces_agree(mesh))
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(domain->context, &g->other, g->soup.points.count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &g->part, g->soup.points.count, error));
    for (size_t s = 0; s < domain->sites.count; s++)
        if (g->number.data[s] != KILN_NONE) {
            uint32_t point = g->number.data[s];
            g->other.data[point] = other_place(domain, &domain->sites.data[s],
                                               world ? mesh->u : mesh->x, &g->part.data[point]);
        }
    if (!other_is_valid(g)) {
        domain->report.material_reset = true;
        return KILN_OK;
    }
    kiln_soup_field *field;
    KILN_TRY(kiln_soup_add_field(&g->soup, "u", KILN_ON_VERTEX, 3, &field, error));
    memcpy(field->data.data, world ? g->other.data : g->soup.points.data,
           g->soup.points.count * sizeof(kiln_vec3));
    if (!world)
        memcpy(g->soup.points.data, g->other.data, g->soup.points.count * sizeof(kiln_vec3));
    return KILN_OK;
}

static kiln_status gather(gatherer *g, kiln_mesh **out, kiln_error *error)
{
    KILN_TRY(gather_points(g, error));
    KILN_TRY(gather_tets(g, error));
    KILN_TRY(gather_segments(g, error));
    KILN_TRY(gather_other(g, error));
    kiln_mesh_options options = kiln_mesh_default_options();
    kiln_mesh_report report;
    options.policy = KILN_MESH_REPAIR;
    options.feature_angle = g->domain->options.feature_angle;
    KILN_TRY(kiln_mesh_import(g->domain->context, &g->soup, NULL, &options, out, &report, error));
    g->domain->report.cuts = report.vertices_split + report.edges_split + report.tunnels;
    return KILN_OK;
}

kiln_status kiln_domain_result(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    gatherer g = {.domain = domain};
    kiln_soup_init(&g.soup, domain->context);
    kiln_status status = gather(&g, out, error);
    kiln_soup_free(&g.soup);
    kiln_array_free(domain->context, &g.number);
    kiln_array_free(domain->context, &g.other);
    kiln_array_free(domain->context, &g.part);
    return status;
}
