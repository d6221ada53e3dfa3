#include "sim/contact_settings.h"

kiln_scene_contact kiln_contact_default_settings(void)
{
    return (kiln_scene_contact){.stiffness = 1.0};
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

#define CONTACT(member) offsetof(kiln_scene_contact, member)
static const kiln_schema_row contact_rows[] = {
    {"bodies", KILN_VALUE_FLAG, CONTACT(bodies), .meaning = "bodies keep out of each other"},
    {"self", KILN_VALUE_FLAG, CONTACT(self), .meaning = "and out of themselves"},
    {"obstacles", KILN_VALUE_CHOICE, CONTACT(obstacles), .choices = mode_name,
     .meaning = "what keeps off them: surfaces of bodies, as off each other, or their points "
                "alone, which are put on the obstacle where they get inside; auto: surfaces, but "
                "points where a body begins inside one or whole domains are remeshed"},
    {"thickness", KILN_VALUE_NUMBER, CONTACT(thickness), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "surfaces closer than this repel; 0: a tenth of the bodies' mean edge"},
    {"stiffness", KILN_VALUE_NUMBER, CONTACT(stiffness), KILN_POSITIVE, NULL, NULL,
     .meaning = "of the repulsion, relative to the bodies'"},
    {"friction", KILN_VALUE_NUMBER, CONTACT(friction), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "Coulomb's coefficient"},
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
