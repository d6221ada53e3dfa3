#include "sim/contact_settings.h"

kiln_scene_contact kiln_contact_default_settings(void)
{
    return (kiln_scene_contact){.stiffness = 1.0, .steady = true};
}

/* A scene that says something about it wants it. */
static void start(void *settings)
{
    kiln_scene_contact *contact = settings;
    *contact = kiln_contact_default_settings();
    contact->bodies = contact->self = true;
}

static void off(void *settings)
{
    *(kiln_scene_contact *)settings = kiln_contact_default_settings();
}

static const char *mode_name(int row)
{
    static const char *const names[] = {"auto", "surfaces", "points"};
    return row < 3 ? names[row] : NULL;
}

static const char *weights_name(int row)
{
    static const char *const names[] = {"area", "once"};
    return row < 2 ? names[row] : NULL;
}

static void start_pair(void *settings)
{
    *(kiln_scene_pair *)settings = (kiln_scene_pair){.friction = NAN};
}

static kiln_status finish_pair(void *settings, const kiln_given *given, kiln_error *error)
{
    const kiln_scene_pair *pair = settings;
    bool friction = kiln_is_given(given, "friction");
    if (!friction && !kiln_is_given(given, "off"))
        return kiln_fail_setting(error, NULL, "must have a friction or off, got none");
    if (friction && pair->off)
        return kiln_fail_setting(error, "friction",
                                 "must not be given with off: what does not touch has none");
    return KILN_OK;
}

#define PAIR(member) offsetof(kiln_scene_pair, member)
static const kiln_schema_row pair_rows[] = {
    {"a", KILN_VALUE_NAME, PAIR(a), .preset = "",
     .meaning = "name of a body, an obstacle or a material"},
    {"b", KILN_VALUE_NAME, PAIR(b), .preset = "", .meaning = "name of the other; may be the same"},
    {"friction", KILN_VALUE_NUMBER, PAIR(friction), KILN_NOT_NEGATIVE, NULL, "as without the pair",
     .meaning = "Coulomb's coefficient between the two"},
    {"off", KILN_VALUE_FLAG, PAIR(off),
     .meaning = "the two pass through each other, as if there were no contact"},
};
const kiln_schema kiln_pair_schema = {
    .name = "pair",
    .about = "What holds between two bodies, a body and an obstacle, or a body and itself. A "
             "material stands for the bodies that are made of it (not for regions in others). "
             "What is said of bodies and obstacles goes before what is said of materials; of two "
             "that say as much the later holds. With an obstacle it must be a surface "
             "(`contact.obstacles`).",
    KILN_SCHEMA_ROWS(pair_rows),
    .size = sizeof(kiln_scene_pair),
    .start = start_pair,
    .finish = finish_pair,
    .has_said = true,
};

#define CONTACT(member) offsetof(kiln_scene_contact, member)
static const kiln_schema_row contact_rows[] = {
    {"bodies", KILN_VALUE_FLAG, CONTACT(bodies), .meaning = "bodies keep out of each other"},
    {"self", KILN_VALUE_FLAG, CONTACT(self), .meaning = "and out of themselves"},
    {"obstacles", KILN_VALUE_CHOICE, CONTACT(obstacles), .choices = mode_name,
     .meaning = "what keeps off them: surfaces of bodies, as off each other, or their points "
                "alone, which are put on the obstacle where they get inside; auto: surfaces, but "
                "points where a body begins inside one or whole domains are remeshed"},
    {"thickness", KILN_VALUE_NUMBER, CONTACT(thickness), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning =
         "surfaces closer than this repel; 0: a tenth of the bodies' mean edge, at most of the "
         "smallest body"},
    {"stiffness", KILN_VALUE_NUMBER, CONTACT(stiffness), KILN_POSITIVE, NULL, NULL,
     .meaning = "of the repulsion, relative to the bodies'"},
    {"weights", KILN_VALUE_CHOICE, CONTACT(weights), .choices = weights_name,
     .meaning = "what counts between bodies: area: each pair of a vertex and a face, or of two "
                "edges, the area it stands for; once: all of them together each place of a "
                "surface once, so that the pressure does not depend on the meshes"},
    {"adaptive", KILN_VALUE_FLAG, CONTACT(adaptive),
     .meaning =
         "more than that while surfaces are pressed so hard that less than a fiftieth of the "
         "thickness would be left; false: less than a thousandth, or steps have failed"},
    {"friction", KILN_VALUE_NUMBER, CONTACT(friction), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "Coulomb's coefficient of bodies; obstacles have their own"},
    {"steady", KILN_VALUE_FLAG, CONTACT(steady),
     .meaning = "what slides with friction, on obstacles too, has its vibration damped while it "
                "slides, so that it slides as Coulomb says; false: what nothing damps may squeal "
                "and flutter"},
    {"pairs", KILN_VALUE_LIST, CONTACT(pairs), .schema = &kiln_pair_schema, .preset = "none",
     .meaning = "friction of single pairs, and which do not see each other"},
};
const kiln_schema kiln_contact_schema = {
    .name = "contact",
    .about = "Bodies against each other and themselves. Without it they pass through each other. "
             "`contact = true` is the same as `contact {}`, `contact = false` as no word about it.",
    KILN_SCHEMA_ROWS(contact_rows),
    .size = sizeof(kiln_scene_contact),
    .start = start,
    .has_said = true,
    .off = off,
};
