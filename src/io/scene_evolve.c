/* Plasticity, remeshing and contact. */
#include "io/scene_reader.h"

#include <lua5.4/lauxlib.h>
#include <math.h>

/* Of two keys that say the same in different words. */
static kiln_status check_either(scene_reader *r, const char *one, const char *other)
{
    if (kiln_scene_is_given(r, one) && kiln_scene_is_given(r, other))
        return kiln_scene_fail(r, "must have either %s or %s, got both", one, other);
    return KILN_OK;
}

static kiln_status check_plastic(scene_reader *r, const scene_plastic_draft *draft)
{
    KILN_TRY(check_either(r, "yield", "yield_stress"));
    KILN_TRY(check_either(r, "hardening", "hardening_modulus"));
    if (!kiln_scene_is_given(r, "yield") && !kiln_scene_is_given(r, "yield_stress"))
        return kiln_scene_fail(r, "must have either yield or yield_stress, got none");
    bool has_rate = kiln_scene_is_given(r, "rate");
    if (draft->plastic.instant && has_rate)
        return kiln_scene_fail_key(r, "rate", "flow \"instant\" has no rate");
    if (!draft->plastic.instant && !has_rate)
        return kiln_scene_fail_key(r, "rate", "must be given with flow \"rate\", in 1/s");
    bool is_metal =
        draft->plastic.norm == KILN_YIELD_MISES && draft->plastic.law == KILN_HARDENING_WORK;
    if (draft->by_modulus && !is_metal)
        return kiln_scene_fail_key(r, "hardening_modulus",
                                   "needs the norm \"mises\" and the law \"work\"");
    return KILN_OK;
}

kiln_status kiln_scene_read_plastic(scene_reader *r, void *field)
{
    scene_plastic_draft *draft = field;
    scene_spot spot = {r->path_size, r->line};
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_PLASTIC, &kind));
    KILN_TRY(kiln_scene_read_object(r, &kiln_scene_object_plastic, draft));
    draft->plastic.flows = true;
    draft->plastic.instant = draft->flow == 1;
    draft->by_modulus = kiln_scene_is_given(r, "hardening_modulus");
    KILN_TRY(check_plastic(r, draft));
    if (kiln_scene_is_given(r, "yield_stress"))
        draft->yield = kiln_quantity_number(draft->plastic.norm == KILN_YIELD_MISES
                                                ? sqrt(2.0 / 3.0) * draft->yield_stress
                                                : draft->yield_stress);
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

kiln_status kiln_scene_finish_plastic(scene_reader *r, scene_material_draft *draft)
{
    kiln_scene_material *m = &draft->material;
    scene_plastic_draft *p = &draft->plastic;
    if (p->by_modulus && m->varies)
        return kiln_scene_fail_key(r, "plastic",
                                   "hardening_modulus needs young and poisson to be numbers");
    /* Along the flow the norm falls by 2 mu |d dev ln S| = sqrt(6) mu d(strain), and the threshold
     * is sqrt(2/3) of the yield stress. */
    if (p->by_modulus)
        p->hardening = kiln_quantity_number(p->hardening_modulus / (3.0 * m->base.mu));
    m->yield = p->yield;
    m->rate = p->rate;
    m->hardening = p->hardening;
    m->flow_varies = p->yield.evaluate || p->rate.evaluate || p->hardening.evaluate;
    m->base.plastic = p->plastic;
    m->base.plastic.yield = p->yield.constant[0];
    m->base.plastic.rate = p->rate.constant[0];
    m->base.plastic.hardening = p->hardening.constant[0];
    return KILN_OK;
}

static kiln_status check_method(scene_reader *r, const kiln_scene_remesh *remesh)
{
    static const struct {
        const char *key;
        kiln_remesh_method method;
        const char *name;
    } own[] = {
        {"condition", KILN_REMESH_GLOBAL, "global"},
        {"condition_change", KILN_REMESH_GLOBAL, "global"},
        {"merge", KILN_REMESH_GLOBAL, "global"},
        {"every", KILN_REMESH_LOCAL, "local"},
        {"deformation", KILN_REMESH_LOCAL, "local"},
        {"strain", KILN_REMESH_LOCAL, "local"},
        {"strain_printed", KILN_REMESH_LOCAL, "local"},
        {"curvature", KILN_REMESH_LOCAL, "local"},
        {"isotropic", KILN_REMESH_LOCAL, "local"},
        {"gradation", KILN_REMESH_LOCAL, "local"},
        {"most_tets", KILN_REMESH_LOCAL, "local"},
    };
    if (remesh->method == KILN_REMESH_GLOBAL && remesh->space == KILN_SPACE_MATERIAL &&
        kiln_scene_is_given(r, "space"))
        return kiln_scene_fail_key(r, "space", "the method \"global\" remeshes the world");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (remesh->method != KILN_REMESH_NONE && remesh->method != own[i].method &&
            kiln_scene_is_given(r, own[i].key))
            return kiln_scene_fail_key(r, own[i].key, "is only for the method \"%s\"", own[i].name);
    return KILN_OK;
}

static kiln_status check_sizes(scene_reader *r, const kiln_scene_remesh *remesh)
{
    if (remesh->size_max > 0.0 && remesh->size_min > remesh->size_max)
        return kiln_scene_fail_key(r, "size_min", "must not be above size_max, %g, got %g",
                                   remesh->size_max, remesh->size_min);
    if (remesh->strain_printed && remesh->strain == 0.0)
        return kiln_scene_fail_key(r, "strain_printed", "needs strain");
    if (remesh->gradation != 0.0 && !(remesh->gradation > 1.0))
        return kiln_scene_fail_key(r, "gradation", "must be above 1, or 0, got %g",
                                   remesh->gradation);
    if (!(remesh->condition > 1.0))
        return kiln_scene_fail_key(r, "condition", "must be above 1, got %g", remesh->condition);
    if (!(remesh->condition_change > 1.0))
        return kiln_scene_fail_key(r, "condition_change", "must be above 1, got %g",
                                   remesh->condition_change);
    return KILN_OK;
}

kiln_status kiln_scene_read_remesh(scene_reader *r, void *field)
{
    (void)field;
    kiln_scene_remesh *remesh = &r->scene->remesh;
    const scene_object *object = &kiln_scene_object_remesh;
    scene_spot spot = {r->path_size, r->line};
    int kind;
    if (lua_type(r->L, -1) == LUA_TSTRING) {
        remesh->said = kiln_scene_said(r);
        KILN_TRY(kiln_scene_read_row(r, &object->rows[0], &remesh->method));
    } else {
        KILN_TRY(kiln_scene_expect(r, SCENE_IS_REMESH, &kind));
        remesh->said = kiln_scene_said(r);
        remesh->method = KILN_REMESH_LOCAL;
        KILN_TRY(kiln_scene_read_object(r, object, r->scene));
        KILN_TRY(check_method(r, remesh));
        KILN_TRY(check_sizes(r, remesh));
    }
    if (remesh->method == KILN_REMESH_GLOBAL)
        remesh->space = KILN_SPACE_WORLD;
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

kiln_status kiln_scene_read_contact(scene_reader *r, void *field)
{
    (void)field;
    kiln_scene_contact *contact = &r->scene->contact;
    scene_spot spot = {r->path_size, r->line};
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_CONTACT, &kind));
    contact->said = kiln_scene_said(r);
    contact->bodies = contact->self = true;
    KILN_TRY(kiln_scene_read_object(r, &kiln_scene_object_contact, r->scene));
    kiln_scene_leave(r, spot);
    return KILN_OK;
}
