#include "validation/rest.h"

#include "fem/offset.h"
#include "geom/svd3.h"

static int largest(kiln_vec3 v)
{
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

/* Three vertices far apart, and which components of each are held. */
typedef struct pins {
    uint32_t vertex[3];
    uint8_t components[3];
} pins;

static const uint32_t *materials_of(const kiln_mesh *mesh)
{
    return (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
}

/* The corner of tets that are stiff farthest from the line through a along `direction`; from a
 * itself where that is zero. */
static uint32_t farthest(const kiln_mesh *mesh, const double *stiffness, kiln_vec3 a,
                         kiln_vec3 direction)
{
    uint32_t best = 0;
    double most = -1.0;
    bool line = kiln_v3_norm2(direction) > 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || (stiffness && stiffness[materials_of(mesh)[t]] < 1.0))
            continue;
        for (int k = 0; k < 4; k++) {
            kiln_vec3 away = kiln_v3_sub(mesh->x[mesh->tet[t].v[k]], a);
            double distance = kiln_v3_norm2(line ? kiln_v3_cross(direction, away) : away);
            if (distance > most)
                most = distance, best = mesh->tet[t].v[k];
        }
    }
    return best;
}

static pins choose_pins(const kiln_mesh *mesh, const double *stiffness)
{
    const kiln_vec3 none = {0, 0, 0};
    pins p = {.components = {7}};
    p.vertex[0] = farthest(mesh, stiffness, none, none);
    kiln_vec3 a = mesh->x[p.vertex[0]];
    p.vertex[1] = farthest(mesh, stiffness, a, none);
    kiln_vec3 along = kiln_v3_sub(mesh->x[p.vertex[1]], a);
    p.vertex[2] = farthest(mesh, stiffness, a, along);
    kiln_vec3 normal = kiln_v3_cross(along, kiln_v3_sub(mesh->x[p.vertex[2]], a));
    p.components[1] = (uint8_t)(7 & ~(1 << largest(along)));
    p.components[2] = (uint8_t)(1 << largest(normal));
    return p;
}

static kiln_status hold_pins(void *self, kiln_solid *solid, double time, double load,
                             kiln_error *error)
{
    (void)time, (void)load, (void)error;
    const pins *p = self;
    kiln_constraints *constraints = kiln_solid_constraints(solid);
    for (int i = 0; i < 3; i++) {
        constraints->held[p->vertex[i]] = p->components[i];
        constraints->target[p->vertex[i]] = kiln_solid_mesh(solid)->x[p->vertex[i]];
    }
    return KILN_OK;
}

static kiln_status solve(kiln_mesh *mesh, const kiln_material *materials, size_t count, pins *held,
                         kiln_error *error)
{
    kiln_solid_options options = kiln_solid_default_options();
    options.integrator = KILN_STATIC;
    options.newton.tolerance = 1e-11;
    kiln_solid *solid;
    KILN_TRY(kiln_solid_create(mesh, &options, materials, count, NULL, 0, &solid, error));
    kiln_driver driver = {held, hold_pins};
    kiln_solid_clock clock = {0};
    kiln_step_report report;
    kiln_status status = kiln_solid_equilibrium(solid, &driver, 1, &clock, &report, error);
    if (status == KILN_OK && report.outcome != KILN_STEP_DONE)
        status = kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "no rest shape: %s, %s",
                           kiln_step_outcome_text(report.outcome),
                           kiln_newton_outcome_text(report.newton.outcome));
    kiln_solid_destroy(solid);
    return status;
}

kiln_status kiln_rest_solve(kiln_world *world, const double *stiffness, kiln_error *error)
{
    const kiln_scene *scene = kiln_world_scene(world);
    kiln_mesh *mesh = kiln_world_mesh(world);
    size_t count = scene->materials.count, bytes = count * sizeof(kiln_material);
    kiln_material *materials = kiln_resize(scene->context, NULL, 0, bytes);
    if (!materials)
        return kiln_fail_memory(error, bytes);
    for (size_t i = 0; i < count; i++) {
        materials[i] = scene->materials.data[i].base;
        materials[i].plastic = (kiln_plastic){.flows = false};
        materials[i].mu *= stiffness ? stiffness[i] : 1.0;
        materials[i].lambda *= stiffness ? stiffness[i] : 1.0;
    }
    pins held = choose_pins(mesh, stiffness);
    kiln_status status = solve(mesh, materials, count, &held, error);
    kiln_release(scene->context, materials, bytes);
    return status;
}

/* Singular values of F = A Pi, from F F' = A G A' and det F = V_world / V_rest. */
static void stretches(const kiln_mesh *mesh, uint32_t tet, kiln_offsets offsets, double rest,
                      double out[3])
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 u[3], x[3];
    for (int i = 0; i < 3; i++) {
        u[i] = kiln_v3_sub(mesh->u[v[i + 1]], mesh->u[v[0]]);
        x[i] = kiln_v3_sub(mesh->x[v[i + 1]], mesh->x[v[0]]);
    }
    kiln_mat3 a = kiln_m3_mul(kiln_m3_columns(x[0], x[1], x[2]),
                              kiln_m3_inverse(kiln_m3_columns(u[0], u[1], u[2])));
    kiln_sym3 g = offsets.shape ? offsets.shape[tet] : kiln_sym3_identity();
    kiln_mat3 b = kiln_m3_mul(kiln_m3_mul(a, kiln_sym3_to_mat3(g)), kiln_m3_transpose(a));
    kiln_eigen3 eigen = kiln_sym3_eigen(kiln_sym3_from_mat3(b));
    for (int i = 0; i < 3; i++)
        out[i] = sqrt(eigen.values[i]);
    double volume = kiln_v3_triple(x[0], x[1], x[2]) / 6.0;
    double scale = cbrt(volume / rest / (out[0] * out[1] * out[2]));
    for (int i = 0; i < 3; i++)
        out[i] *= scale;
}

double kiln_rest_energy(kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_scene *scene = kiln_world_scene(world);
    kiln_offsets offsets = kiln_offsets_of(mesh);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const kiln_material *m = &scene->materials.data[materials_of(mesh)[t]].base;
        double rest = offsets.rest_volume ? offsets.rest_volume[t] : kiln_mesh_tet_volume(mesh, t);
        double s[3], trace = 0.0, squares = 0.0;
        stretches(mesh, t, offsets, rest, s);
        for (int i = 0; i < 3; i++) {
            trace += s[i] - 1.0;
            squares += (s[i] - 1.0) * (s[i] - 1.0);
        }
        sum += rest * (m->mu * squares + 0.5 * m->lambda * trace * trace);
    }
    return sum;
}

kiln_rigid kiln_rigid_fit(const kiln_vec3 *from, const kiln_vec3 *to, size_t count)
{
    kiln_vec3 a = {0, 0, 0}, b = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        a = kiln_v3_madd(a, 1.0 / (double)count, from[i]);
        b = kiln_v3_madd(b, 1.0 / (double)count, to[i]);
    }
    kiln_mat3 spread = {0};
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 p = kiln_v3_sub(from[i], a), q = kiln_v3_sub(to[i], b);
        const kiln_mat3 product = {{{q.x * p.x, q.x * p.y, q.x * p.z},
                                    {q.y * p.x, q.y * p.y, q.y * p.z},
                                    {q.z * p.x, q.z * p.y, q.z * p.z}}};
        spread = kiln_m3_add(spread, product);
    }
    /* Kabsch: the rotation of the polar decomposition, never a reflection. */
    kiln_svd3 svd = kiln_svd3_decompose(spread);
    kiln_rigid fit = {.rotation = kiln_m3_mul(svd.u, kiln_m3_transpose(svd.v))};
    fit.shift = kiln_v3_sub(b, kiln_m3_apply(fit.rotation, a));
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 there = kiln_v3_add(kiln_m3_apply(fit.rotation, from[i]), fit.shift);
        fit.rms += kiln_v3_norm2(kiln_v3_sub(to[i], there)) / (double)count;
    }
    fit.rms = sqrt(fit.rms);
    return fit;
}
