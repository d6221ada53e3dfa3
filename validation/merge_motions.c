/* Bodies that become one, anywhere and in any position: flat on flat, edges and corners on faces,
 * round on round, that touch, overlap or face each other across a gap of up to half an edge. */
#include "base/random.h"
#include "geom/box.h"
#include "geom/tet_quality.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "remesh/domain.h"
#include "validation/validation.h"

enum { MOTIONS = 9, MOST_BODIES = 3, FARTHEST = 6 };
static const double GAP = 0.6; /* of the size: what is nearer is to be one */

/* How a body meets the first one. */
typedef enum pose { FLAT, TURNED, EDGE, CORNER, ANY } pose;

/* Where: between flat sides the gap is added to the volume; what meets in a point need not become
 * one unless it overlaps. */
typedef enum place { SIDES, ROUND, POINTS } place;

typedef struct pairing {
    const char *name;
    const char *shape[MOST_BODIES], *settings[MOST_BODIES];
    pose pose[MOST_BODIES];
    place at;
    double h;
} pairing;

static const pairing rows[] = {
    {"equal boxes, flat", {"box", "box"}, {"n=5", "n=5"}, {FLAT, FLAT}, SIDES, 0.2},
    {"boxes, flat, turned", {"box", "box"}, {"n=5", "n=4"}, {FLAT, TURNED}, SIDES, 0.2},
    {"box, edge on face", {"box", "box"}, {"n=5", "n=5"}, {FLAT, EDGE}, ROUND, 0.2},
    {"box, corner on face", {"box", "box"}, {"n=5", "n=4"}, {FLAT, CORNER}, POINTS, 0.2},
    {"boxes anyhow", {"box", "box"}, {"n=5", "n=5"}, {ANY, ANY}, POINTS, 0.2},
    {"balls", {"ball", "ball"}, {"h=0.25", "h=0.3"}, {ANY, ANY}, ROUND, 0.25},
    {"ball on box", {"box", "ball"}, {"n=5", "h=0.25"}, {FLAT, ANY}, ROUND, 0.2},
    {"tori", {"torus", "torus"}, {"h=0.2", "h=0.2"}, {ANY, ANY}, ROUND, 0.2},
    {"cylinders", {"cylinder", "cylinder"}, {"h=0.2", "h=0.2"}, {ANY, ANY}, POINTS, 0.2},
    {"cylinder end on box", {"box", "cylinder"}, {"n=5", "h=0.2"}, {FLAT, FLAT}, SIDES, 0.2},
    {"ball, box, torus",
     {"ball", "box", "torus"},
     {"h=0.25", "n=5", "h=0.2"},
     {ANY, ANY, ANY},
     POINTS,
     0.2},
    {"three boxes",
     {"box", "box", "box"},
     {"n=5", "n=4", "n=5"},
     {FLAT, FLAT, TURNED},
     SIDES,
     0.2}};

static kiln_vec3 unit_vector(kiln_random *random)
{
    kiln_vec3 p;
    do
        p = kiln_v3(kiln_random_range(random, -1, 1), kiln_random_range(random, -1, 1),
                    kiln_random_range(random, -1, 1));
    while (kiln_v3_norm2(p) > 1.0 || kiln_v3_norm2(p) < 0.01);
    return kiln_v3_normalize(p);
}

static void turn(kiln_soup *soup, kiln_vec3 axis, double angle)
{
    double c = cos(angle), s = sin(angle);
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i], along = kiln_v3_scale(axis, kiln_v3_dot(axis, p));
        kiln_vec3 across = kiln_v3_sub(p, along), side = kiln_v3_cross(axis, p);
        soup->points.data[i] = kiln_v3_madd(kiln_v3_madd(along, c, across), s, side);
    }
}

static void shift(kiln_soup *soup, kiln_vec3 by)
{
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i] = kiln_v3_add(soup->points.data[i], by);
}

static kiln_box box_of(const kiln_soup *soup)
{
    return kiln_box_of(soup->points.data, soup->points.count);
}

/* Its point farthest along x, or against it. */
static kiln_vec3 farthest(const kiln_soup *soup, double sign)
{
    kiln_vec3 out = soup->points.data[0];
    for (size_t i = 1; i < soup->points.count; i++)
        if (sign * soup->points.data[i].x > sign * out.x)
            out = soup->points.data[i];
    return out;
}

static void centre(kiln_soup *soup)
{
    kiln_box box = box_of(soup);
    shift(soup, kiln_v3_scale(kiln_v3_add(box.low, box.high), -0.5));
}

static void set_pose(kiln_soup *soup, pose how, kiln_random *random)
{
    centre(soup);
    if (how == EDGE || how == CORNER)
        turn(soup, kiln_v3(0, 0, 1), 0.25 * KILN_PI);
    if (how == CORNER)
        turn(soup, kiln_v3(0, 1, 0), atan(sqrt(0.5)));
    if (how == ANY)
        turn(soup, unit_vector(random), kiln_random_range(random, 0.0, KILN_PI));
    else if (how != FLAT)
        turn(soup, kiln_v3(1, 0, 0), kiln_random_range(random, 0.0, KILN_PI));
    centre(soup);
}

/* Beside the first body, the third on its other side, `gap` away; with a region of its own or not.
 */
static kiln_status add_body(kiln_context *context, const pairing *p, int k, double gap,
                            bool regions, kiln_random *random, kiln_soup *all, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(context, p->shape[k], p->settings[k], &soup, error));
    set_pose(&soup, p->pose[k], random);
    kiln_box own = box_of(&soup), first = box_of(all);
    double x = k == 1 ? first.high.x - own.low.x + gap : first.low.x - own.high.x - gap;
    double aside = p->pose[k] == FLAT || p->pose[k] == ANY ? 0.0 : 0.3;
    if (p->pose[k] == ANY) {
        kiln_vec3 to = farthest(all, k == 1 ? 1.0 : -1.0),
                  from = farthest(&soup, k == 1 ? -1.0 : 1.0);
        shift(&soup, kiln_v3(0, to.y - from.y, to.z - from.z));
    }
    shift(&soup, kiln_v3(x, kiln_random_range(random, -aside, aside),
                         kiln_random_range(random, -aside, aside)));
    kiln_status status = kiln_soup_append(all, &soup, regions ? k : 0, error);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status make_bodies(kiln_context *context, const pairing *p, double gap, bool regions,
                               kiln_random *random, kiln_soup *all, kiln_error *error)
{
    KILN_TRY(kiln_fixture_soup(context, p->shape[0], p->settings[0], all, error));
    set_pose(all, p->pose[0], random);
    kiln_status status = KILN_OK;
    for (int k = 1; k < MOST_BODIES && p->shape[k] && status == KILN_OK; k++)
        status = add_body(context, p, k, gap, regions, random, all, error);
    if (status != KILN_OK)
        kiln_soup_free(all);
    return status;
}

/* Turned about any axis, a millimetre to a kilometre large, up to 10^FARTHEST sizes away. */
static void move(kiln_soup *soup, kiln_random *random)
{
    double scale = pow(10.0, kiln_random_range(random, -3.0, 3.0));
    double exponent = kiln_random_range(random, -1.0, FARTHEST);
    turn(soup, unit_vector(random), kiln_random_range(random, 0.0, KILN_PI));
    shift(soup, kiln_v3_scale(unit_vector(random), exponent < 0.0 ? 0.0 : pow(10.0, exponent)));
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i] = kiln_v3_scale(soup->points.data[i], scale);
}

typedef struct found {
    double worst;    /* quality */
    double lost;     /* volume, largest, relative */
    double gained;   /* likewise */
    size_t failures; /* no mesh, or bodies that are not one */
} found;

static void measure(const kiln_mesh *mesh, const kiln_domain_report *report, found *all)
{
    const kiln_vec3 *x = mesh->x;
    double volume = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        all->worst = fmin(all->worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
        volume += kiln_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
    }
    all->lost = fmax(all->lost, 1.0 - volume / report->volume_before);
    all->gained = fmax(all->gained, volume / report->volume_before - 1.0);
}

static kiln_status join(const kiln_soup *soup, bool must, found *all, kiln_error *error)
{
    kiln_build_options building = kiln_build_default_options();
    kiln_domain_options options = kiln_domain_default_options();
    kiln_domain_report report = {0};
    kiln_mesh *mesh, *made = NULL;
    options.gap = GAP;
    KILN_TRY(kiln_mesh_build(soup->context, soup, &building, &mesh, NULL, error));
    kiln_status status = kiln_domain_remesh(mesh, &options, &made, &report, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    all->failures += !made || (must && made->parts.count != 1);
    if (!made)
        return KILN_OK;
    measure(made, &report, all);
    kiln_mesh_destroy(made);
    return KILN_OK;
}

static kiln_status join_all(kiln_context *context, const pairing *p, kiln_random *random,
                            found *all, kiln_error *error)
{
    *all = (found){.worst = 1.0};
    for (int i = 0; i < MOTIONS; i++) {
        kiln_soup soup;
        double gap = i % 3 == 0   ? 0.0
                     : i % 3 == 1 ? kiln_random_range(random, 0.02, 0.5) * p->h
                                  : -kiln_random_range(random, 0.02, 0.5) * p->h;
        KILN_TRY(make_bodies(context, p, gap, i % 2 == 1, random, &soup, error));
        move(&soup, random);
        kiln_status status = join(&soup, gap < 0.0 || p->at != POINTS, all, error);
        kiln_soup_free(&soup);
        KILN_TRY(status);
    }
    return KILN_OK;
}

kiln_status kiln_validate_merge_motions(kiln_validation *validation, kiln_error *error)
{
    kiln_random random = kiln_random_start(15, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        found all;
        KILN_TRY(join_all(kiln_validation_context(validation), &rows[i], &random, &all, error));
        kiln_validation_report(validation, (double)all.failures, kiln_exactly(0),
                               "%s, %d motions: not made one", rows[i].name, MOTIONS);
        kiln_validation_report(validation, all.worst, kiln_at_least(0.15), "%s: worst quality",
                               rows[i].name);
        kiln_validation_report(validation, all.lost, kiln_at_most(0.005), "%s: volume lost",
                               rows[i].name);
        /* The rim of an interface stays where it is: corners of few tets do not give back what
         * was filled. */
        kiln_validation_report(validation, all.gained,
                               kiln_at_most(rows[i].at == SIDES    ? 0.5 * rows[i].h
                                            : rows[i].at == POINTS ? 0.02
                                                                   : 0.005),
                               "%s: volume gained", rows[i].name);
    }
    return KILN_OK;
}
