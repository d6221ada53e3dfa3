/* Chords of new sites cut off convex parts of the old surface and fill concave ones. What that
 * changes of the volume is given back by an offset of the bent part of the surface along its
 * normals, the same everywhere: flat faces and features stay where they are. */
#include "remesh/domain_impl.h"

#include "geom/predicates.h"
#include "geom/tet_quality.h"

static const double FULLY_BENT = 0.05; /* radians; flatter vertices move in proportion */
static const double FLAT = 1e-4;       /* radians; flatter ones do not */
static const double POOR = 0.1;        /* no tet may fall below this quality, and */
static const double WORSE = 0.5;       /* below this part of the quality it had */
static const double FARTHEST = 0.1;    /* of the size */
enum { ROUNDS = 3, HALVINGS = 6 };

typedef struct surface_site {
    kiln_vec3 area; /* vector: the sum over faces, a third each */
    kiln_vec3 sum;  /* of unit normals */
    double faces;
    double weight; /* of the offset */
} surface_site;

static kiln_vec3 position(const kiln_domain *domain, uint32_t site)
{
    return domain->sites.data[site].x;
}

static void add_faces(const kiln_domain *domain, surface_site *at, double *volume)
{
    for (size_t t = 0; t < domain->delaunay.tets.count; t++) {
        const kiln_tet *tet = &domain->delaunay.tets.data[t];
        if (!domain->keep.data[t])
            continue;
        *volume += kiln_tet_volume(position(domain, tet->v[0]), position(domain, tet->v[1]),
                                   position(domain, tet->v[2]), position(domain, tet->v[3]));
        for (int i = 0; i < 4; i++) {
            if (tet->n[i] != KILN_NONE && domain->keep.data[tet->n[i] / 4])
                continue;
            uint32_t v[3];
            for (int k = 0; k < 3; k++)
                v[k] = tet->v[kiln_face_corner[i][k]];
            kiln_vec3 a = position(domain, v[0]);
            kiln_vec3 area = kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(position(domain, v[1]), a),
                                                         kiln_v3_sub(position(domain, v[2]), a)),
                                           0.5);
            kiln_vec3 normal = kiln_v3_normalize(area);
            for (int k = 0; k < 3; k++) {
                surface_site *s = &at[v[k]];
                s->area = kiln_v3_madd(s->area, 1.0 / 3.0, area);
                s->sum = kiln_v3_add(s->sum, normal);
                s->faces += 1.0;
            }
        }
    }
}

/* How far each site goes for an offset of 1; returns the volume that this brings. */
static double weigh(const kiln_domain *domain, surface_site *at)
{
    double gain = 0.0;
    for (size_t i = 0; i < domain->sites.count; i++) {
        surface_site *s = &at[i];
        if (s->faces == 0.0 || domain->sites.data[i].kind != KILN_SITE_SHEET)
            continue;
        double shrunk = 1.0 - kiln_v3_norm(s->sum) / s->faces;
        double angle = sqrt(2.0 * (shrunk > 0.0 ? shrunk : 0.0));
        s->weight = angle < FLAT ? 0.0 : angle < FULLY_BENT ? angle / FULLY_BENT : 1.0;
        gain += s->weight * kiln_v3_norm(s->area);
    }
    return gain;
}

static kiln_vec3 moved(const kiln_domain *domain, const surface_site *at, uint32_t site,
                       double offset)
{
    return kiln_v3_madd(position(domain, site), offset * at[site].weight,
                        kiln_v3_normalize(at[site].area));
}

static bool allowed(const kiln_domain *domain, const surface_site *at, double offset)
{
    for (size_t t = 0; t < domain->delaunay.tets.count; t++) {
        if (!domain->keep.data[t])
            continue;
        const uint32_t *v = domain->delaunay.tets.data[t].v;
        kiln_vec3 x[4], y[4];
        for (int i = 0; i < 4; i++) {
            x[i] = position(domain, v[i]);
            y[i] = moved(domain, at, v[i], offset);
        }
        double before = kiln_tet_quality(&x[0], &x[1], &x[2], &x[3]);
        double after = kiln_tet_quality(&y[0], &y[1], &y[2], &y[3]);
        if (kiln_orient3d(y[0], y[1], y[2], y[3]) <= 0.0 ||
            (after < POOR && after < WORSE * before))
            return false;
    }
    return true;
}

static bool offset_once(kiln_domain *domain, surface_site *at)
{
    for (size_t i = 0; i < domain->sites.count; i++)
        at[i] = (surface_site){{0, 0, 0}, {0, 0, 0}, 0.0, 0.0};
    double volume = 0.0;
    add_faces(domain, at, &volume);
    double gain = weigh(domain, at), lack = domain->report.volume_before - volume;
    domain->report.volume_after = volume;
    if (gain <= 0.0 || fabs(lack) < 1e-12 * volume)
        return false;
    double offset = lack / gain, most = INFINITY;
    for (size_t i = 0; i < domain->sites.count; i++)
        if (at[i].weight > 0.0 && FARTHEST * domain->sites.data[i].size < most)
            most = FARTHEST * domain->sites.data[i].size;
    offset = offset > most ? most : offset < -most ? -most : offset;
    int halvings = 0;
    while (!allowed(domain, at, offset)) {
        if (halvings++ == HALVINGS)
            return false;
        offset *= 0.5;
    }
    for (uint32_t i = 0; i < domain->sites.count; i++)
        if (at[i].weight > 0.0) {
            domain->sites.data[i].x = moved(domain, at, i, offset);
            domain->sites.data[i].vertex = KILN_NONE;
        }
    return true;
}

kiln_status kiln_domain_match_volume(kiln_domain *domain, kiln_error *error)
{
    size_t bytes = domain->sites.count * sizeof(surface_site);
    surface_site *at = kiln_resize(domain->context, NULL, 0, bytes);
    if (!at)
        return kiln_fail_memory(error, bytes);
    for (int round = 0; round <= ROUNDS && offset_once(domain, at); round++)
        ;
    kiln_release(domain->context, at, bytes);
    return KILN_OK;
}
