/* Whole-domain remeshes of six bodies anywhere and in any position: rigid motions at random, up to
 * ten million sizes from the origin. */
#include "base/random.h"
#include "geom/tet_quality.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "remesh/domain.h"
#include "validation/validation.h"

enum { MOTIONS = 34, FARTHEST = 7 };

typedef struct found {
    double worst;    /* quality of all */
    double ridges;   /* length of feature edges, largest difference to that of the body, relative */
    double volume;   /* likewise */
    size_t corners;  /* remeshes with another number of them */
    size_t failures; /* that made no mesh */
} found;

static kiln_vec3 unit_vector(kiln_random *random)
{
    kiln_vec3 p;
    do
        p = kiln_v3(kiln_random_range(random, -1, 1), kiln_random_range(random, -1, 1),
                    kiln_random_range(random, -1, 1));
    while (kiln_v3_norm2(p) > 1.0 || kiln_v3_norm2(p) < 0.01);
    return kiln_v3_normalize(p);
}

/* About a random axis, by any angle, and away by 0 to 10^FARTHEST. */
static void move(kiln_soup *soup, kiln_random *random)
{
    kiln_vec3 axis = unit_vector(random), away = unit_vector(random);
    double angle = kiln_random_range(random, 0.0, 2.0 * KILN_PI), c = cos(angle), s = sin(angle);
    double exponent = kiln_random_range(random, -1.0, FARTHEST);
    double far = exponent < 0.0 ? 0.0 : pow(10.0, exponent);
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i], along = kiln_v3_scale(axis, kiln_v3_dot(axis, p));
        kiln_vec3 across = kiln_v3_sub(p, along), side = kiln_v3_cross(axis, p);
        p = kiln_v3_madd(kiln_v3_madd(along, c, across), s, side);
        soup->points.data[i] = kiln_v3_madd(p, far, away);
    }
}

typedef struct figures {
    double worst, volume, ridges;
    size_t corners;
} figures;

static figures measure(const kiln_mesh *mesh)
{
    figures out = {.worst = 1.0};
    const kiln_vec3 *x = mesh->x;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        out.corners += (mesh->vertex[v].flags & KILN_VERTEX_CORNER) != 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        out.worst = fmin(out.worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
        out.volume += kiln_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
    }
    /* Each edge from both of its faces. */
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3; k++) {
            uint32_t at = mesh->face[f].at, t = at / 4;
            uint32_t a = kiln_face_corner[at % 4][k], b = kiln_face_corner[at % 4][(k + 1) % 3];
            if (mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1)
                out.ridges +=
                    0.5 * kiln_v3_norm(kiln_v3_sub(x[mesh->tet[t].v[a]], x[mesh->tet[t].v[b]]));
        }
    return out;
}

static kiln_status remesh_once(const kiln_soup *soup, double size, found *all, kiln_error *error)
{
    kiln_build_options building = kiln_build_default_options();
    kiln_domain_options options = kiln_domain_default_options();
    kiln_mesh *mesh, *made;
    options.size = size;
    KILN_TRY(kiln_mesh_build(soup->context, soup, &building, &mesh, NULL, error));
    figures was = measure(mesh);
    kiln_status status = kiln_domain_remesh(mesh, &options, &made, NULL, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    if (!made) {
        all->failures++;
        return KILN_OK;
    }
    figures is = measure(made);
    kiln_mesh_destroy(made);
    all->worst = fmin(all->worst, is.worst);
    all->corners += is.corners != was.corners;
    all->volume = fmax(all->volume, fabs(is.volume / was.volume - 1.0));
    if (was.ridges > 0.0)
        all->ridges = fmax(all->ridges, fabs(is.ridges / was.ridges - 1.0));
    else
        all->ridges = fmax(all->ridges, is.ridges);
    return KILN_OK;
}

static kiln_status remesh_all(kiln_context *context, const char *shape, const char *settings,
                              double h, kiln_random *random, found *all, kiln_error *error)
{
    *all = (found){.worst = 1.0};
    for (int i = 0; i < MOTIONS; i++) {
        kiln_soup soup;
        KILN_TRY(kiln_fixture_soup(context, shape, settings, &soup, error));
        move(&soup, random);
        double size = i % 3 ? h * kiln_random_range(random, 0.7, 1.6) : 0.0;
        kiln_status status = remesh_once(&soup, size, all, error);
        kiln_soup_free(&soup);
        KILN_TRY(status);
    }
    return KILN_OK;
}

kiln_status kiln_validate_domain_motions(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *name, *shape, *settings;
        double h, ridges; /* what chords of curved ridges may differ by */
    } rows[] = {{"box", "box", "n=6", 0.2, 1e-6},
                {"ball", "ball", "h=0.25", 0.25, 0.0},
                {"cylinder", "cylinder", "h=0.2", 0.2, 0.02},
                {"torus", "torus", "h=0.2", 0.2, 0.0},
                {"cone", "cone", "h=0.2", 0.2, 0.02},
                {"L with a hole", "polygon", "h=0.2", 0.2, 1e-6}};
    kiln_random random = kiln_random_start(15, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        found all;
        KILN_TRY(remesh_all(kiln_validation_context(validation), rows[i].shape, rows[i].settings,
                            rows[i].h, &random, &all, error));
        kiln_validation_report(validation, (double)all.failures, kiln_exactly(0),
                               "%s, %d motions: no mesh", rows[i].name, MOTIONS);
        kiln_validation_report(validation, all.worst, kiln_at_least(0.25), "%s: worst quality",
                               rows[i].name);
        kiln_validation_report(validation, (double)all.corners, kiln_exactly(0),
                               "%s: remeshes with other corners", rows[i].name);
        kiln_validation_report(validation, all.ridges, kiln_at_most(rows[i].ridges),
                               "%s: length of ridges, off by", rows[i].name);
        kiln_validation_report(validation, all.volume, kiln_at_most(1e-6), "%s: volume, off by",
                               rows[i].name);
    }
    return KILN_OK;
}
