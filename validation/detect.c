/* Continuous detection of a vertex and a face, and of two edges, against times that are known. */
#include "base/random.h"
#include "contact/ccd.h"
#include "validation/validation.h"

enum { MADE = 200000, VIEWS = 6 };

typedef struct query {
    bool edges;
    kiln_vec3 begin[4], end[4];
    double time; /* INFINITY: they do not meet */
} query;

#define FACE                                                                                       \
    {0, 0, 0}, {1, 0, 0},                                                                          \
    {                                                                                              \
        0, 1, 0                                                                                    \
    }
#define EDGE                                                                                       \
    {-1, 0, 0},                                                                                    \
    {                                                                                              \
        1, 0, 0                                                                                    \
    }

/* The two times with all their digits are roots of cubics, by rational arithmetic. */
static const query cases[] = {
    {false, {{.25, .25, 1}, FACE}, {{.25, .25, -1}, FACE}, .5}, /* inside */
    {false, {{0, 0, 1}, FACE}, {{0, 0, -2}, FACE}, 1.0 / 3},    /* on a vertex */
    {false, {{.5, .5, 1}, FACE}, {{.5, .5, -3}, FACE}, .25},    /* on an edge */
    {false, {{.5 + 1e-9, .5, 1}, FACE}, {{.5 + 1e-9, .5, -3}, FACE}, INFINITY},
    {false, {{.25, .25, 1}, FACE}, {{.25, .25, 1e-12}, FACE}, INFINITY}, /* stops above */
    {false, {{-1, .25, 0}, FACE}, {{1, .25, 0}, FACE}, .5},              /* in the plane */
    {false,
     {{.2, .2, .5}, FACE},
     {{.2, .2, -.25}, {0, 0, .1}, {1, .2, -.3}, {-.2, 1, .2}},
     .6423968846425789},
    {true, {EDGE, {0, -1, 1}, {0, 1, 1}}, {EDGE, {0, -1, -1}, {0, 1, -1}}, .5},
    {true, {EDGE, {0, 0, 1}, {0, 1, 1}}, {EDGE, {0, 0, -2}, {0, 1, -2}}, 1.0 / 3}, /* at an end */
    {true, {EDGE, {-.5, 0, 1}, {2, 0, 1}}, {EDGE, {-.5, 0, -1}, {2, 0, -1}}, .5},  /* parallel */
    {true,
     {EDGE, {.2, -1, 1}, {0, 1, .5}},
     {{-1, 0, 0}, {1, 0, .5}, {.2, -1, -.5}, {.4, 1, -1}},
     .4176222990241626},
};

static double detect(const query *q)
{
    return q->edges ? kiln_ccd_edge_edge(q->begin, q->end, 0.0)
                    : kiln_ccd_vertex_face(q->begin, q->end, 0.0);
}

/* Plain, turned, in mm, in km, far away, and all of it. */
static query seen_from(const query *q, int view)
{
    kiln_mat3 turn =
        view == 1 || view == 5 ? kiln_m3_rotation(kiln_v3(1, 2, 3), 0.7) : kiln_m3_identity();
    double scale = view == 2 || view == 5 ? 1e-3 : view == 3 ? 1e3 : 1.0;
    double shift = view == 4 || view == 5 ? 64.0 : 0.0;
    query seen = *q;
    for (int k = 0; k < 8; k++) {
        kiln_vec3 *p = k < 4 ? &seen.begin[k] : &seen.end[k - 4];
        *p = kiln_v3_add(kiln_m3_apply(turn, *p), kiln_v3(shift, -shift, shift));
        *p = kiln_v3_scale(*p, scale);
    }
    return seen;
}

static void report_cases(kiln_validation *validation)
{
    size_t late = 0, alarms = 0, count = sizeof cases / sizeof *cases;
    double early = 0.0;
    for (size_t i = 0; i < count * VIEWS; i++) {
        query q = seen_from(&cases[i / VIEWS], (int)(i % VIEWS));
        double t = detect(&q);
        late += t > q.time;
        if (isinf(q.time))
            alarms += !isinf(t);
        else
            early = fmax(early, q.time - t);
    }
    kiln_validation_report(validation, (double)late, kiln_exactly(0),
                           "known times: missed or late, %zu cases in %d views", count, VIEWS);
    kiln_validation_report(validation, early, kiln_at_most(1e-6), "known times: earliest by");
    kiln_validation_report(validation, (double)alarms, kiln_exactly(0),
                           "known misses, by 1e-9 and 1e-12: reported");
}

static kiln_vec3 lattice_point(kiln_random *random, double height)
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = (double)kiln_random_below(random, 8193) / 4096.0 - 1.0;
    return kiln_v3(c[0], c[1], height * c[2]);
}

/* On a lattice, placed such that they meet at q->time; then each corner gets a way of its own. All
 * numbers are exact. Small heights of the ways make them graze. */
static void make_meeting(kiln_random *random, query *q, double height)
{
    kiln_vec3 at[4];
    for (int i = 0; i < 4; i++)
        at[i] = lattice_point(random, 1.0);
    double s = kiln_random_below(random, 65) / 64.0, r = kiln_random_below(random, 65) / 64.0;
    if (q->edges)
        at[0] = kiln_v3_sub(kiln_v3_scale(kiln_v3_lerp(at[2], at[3], s), 2.0), at[1]);
    else
        at[0] = kiln_v3_lerp(at[1], kiln_v3_lerp(at[2], at[3], s), r);
    for (int i = 0; i < 4; i++) {
        kiln_vec3 way = lattice_point(random, height);
        q->begin[i] = kiln_v3_madd(at[i], -q->time, way);
        q->end[i] = kiln_v3_madd(at[i], 1.0 - q->time, way);
    }
}

static void report_meetings(kiln_validation *validation)
{
    kiln_random random = kiln_random_start(43, 0);
    size_t late[2] = {0};
    for (int i = 0; i < MADE; i++) {
        query q = {.edges = i % 2, .time = (double)kiln_random_below(&random, 65) / 64.0};
        make_meeting(&random, &q, ldexp(1.0, -(i / 2 % 4) * 4));
        late[q.edges] += detect(&q) > q.time;
    }
    for (int edges = 0; edges < 2; edges++)
        kiln_validation_report(validation, (double)late[edges], kiln_exactly(0),
                               "%s made to meet on a lattice: missed or late, %d",
                               edges ? "two edges" : "vertex and face", MADE / 2);
}

kiln_status kiln_validate_C1(kiln_validation *validation, kiln_error *error)
{
    (void)error;
    report_cases(validation);
    report_meetings(validation);
    return KILN_OK;
}
