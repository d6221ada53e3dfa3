#include "sim/heat.h"

static const char *scheme_name(int row)
{
    static const char *const names[] = {"implicit-euler", "sdirk2", NULL};
    return names[row];
}

static void start(void *settings)
{
    *(kiln_heat_settings *)settings =
        (kiln_heat_settings){.temperature = kiln_quantity_number(293.15),
                             .air = kiln_quantity_number(293.15),
                             .compression = true,
                             .plastic_work = 0.9};
}

#define HEAT(member) offsetof(kiln_heat_settings, member)
static const kiln_schema_row heat_rows[] = {
    {"temperature", KILN_VALUE_AMOUNT, HEAT(temperature), KILN_NOT_NEGATIVE, "K", "293.15",
     .meaning = "of bodies at the start that do not say another", .signature = KILN_OF_PLACE},
    {"air", KILN_VALUE_AMOUNT, HEAT(air), KILN_NOT_NEGATIVE, "K", "293.15",
     .meaning = "temperature of the air around", .signature = KILN_OF_TIME},
    {"film", KILN_VALUE_NUMBER, HEAT(film), KILN_NOT_NEGATIVE, "W/(m^2 K)", NULL,
     .meaning = "heat transfer between surfaces and the air; 5 to 25 in still air, 0: none"},
    {"contact", KILN_VALUE_NUMBER, HEAT(contact), KILN_NOT_NEGATIVE, "W/(m^2 K)", NULL,
     .meaning = "heat transfer between bodies that touch, in scenes with `contact`"},
    {"integrator", KILN_VALUE_CHOICE, HEAT(scheme), .choices = scheme_name,
     .meaning = "implicit-euler: of first order; sdirk2: of second order, in two solves"},
    {"compression", KILN_VALUE_FLAG, HEAT(compression),
     .meaning = "what can expand is warmed when it is compressed, and cooled when it is "
                "stretched"},
    {"plastic_work", KILN_VALUE_NUMBER, HEAT(plastic_work), KILN_WITHIN(0, 1), NULL, NULL,
     .meaning = "the part of the work of plastic flow that becomes heat"},
};
const kiln_schema kiln_heat_schema = {
    .name = "heat",
    .about = "Temperatures: bodies conduct heat, exchange it with air, obstacles and each other, "
             "and expand. Every material says what heat does in it ([thermal](#thermal)).",
    KILN_SCHEMA_ROWS(heat_rows),
    .size = sizeof(kiln_heat_settings),
    .start = start,
    .has_said = true,
};
