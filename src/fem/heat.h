/* Heat in linear tets: what they store, what they conduct, what passes through their surface.
 *
 * Temperatures are unknown at vertices. A vertex stores the heat of a quarter of each of its tets,
 *     E_i(T_i) = sum m_t / 4 e_t(T_i),   e' = c + more f(T) + latent f'(T) per mass,
 * f the part that has melted, which grows from 0 to 1 over the range about the melting point. It
 * gives sum c_ij (T_i - T_j) to its neighbours, c_ij = -k V g_i . g_j of their common tets in the
 * world, G (T_i - T_air) to films, and to others by links (bodies that touch). A step finds
 *     E(T) + tau (what is given away at T) = E(T_begin) + tau sources
 * once (implicit Euler) or twice (SDIRK of order 2, L-stable, one step back is enough: the mesh may
 * change in between). Everything is monotone, so there is one solution, and what one vertex gives
 * another gets: heat is kept to rounding of Newton's last step.
 *
 * Where e has bends Newton steps in heat and not in temperature, T := T(E + E' dT): what melts in
 * one iteration does not jump beyond its range. */
#ifndef KILN_FEM_HEAT_H
#define KILN_FEM_HEAT_H

#include "mesh/mesh.h"
#include "solve/solver.h"

/* What heat does in a material. */
typedef struct kiln_thermal {
    double conductivity; /* W/(m K) */
    double capacity;     /* J/(kg K) */
    double more;         /* J/(kg K), by which the capacity of what has melted is larger */
    double latent;       /* J/kg; 0: none */
    double melts;        /* K, the middle of */
    double range;        /* K, half of the range in which it melts; positive where latent or more
                            is not 0 */
} kiln_thermal;

double kiln_thermal_enthalpy(const kiln_thermal *thermal, double temperature); /* J/kg */
double kiln_thermal_temperature(const kiln_thermal *thermal, double enthalpy); /* K */
/* 0 to 1; range must be positive. */
double kiln_thermal_melted(const kiln_thermal *thermal, double temperature);

typedef enum kiln_heat_scheme { KILN_HEAT_EULER, KILN_HEAT_SDIRK2 } kiln_heat_scheme;

typedef struct kiln_heat kiln_heat;

kiln_status kiln_heat_create(kiln_context *context, const kiln_solver_options *options,
                             kiln_heat **out, kiln_error *error);
void kiln_heat_destroy(kiln_heat *heat); /* NULL allowed */

/* What a step is about; all borrowed, valid until the step is made. */
typedef struct kiln_heat_matter {
    const kiln_thermal *thermal; /* [material] */
    const uint32_t *material;    /* [tet slot] */
    const double *mass;          /* [tet slot] kg */
    const double *conductivity;  /* [tet slot] instead of the material's; NULL: the material's */
} kiln_heat_matter;

/* The stars of the mesh. */
kiln_status kiln_heat_build(kiln_heat *heat, const kiln_mesh *mesh, kiln_error *error);
/* Nothing is held, supplied or linked; for all steps that follow until the next one. */
void kiln_heat_clear(kiln_heat *heat);
void kiln_heat_supply(kiln_heat *heat, uint32_t vertex, double watts);
/* conductance (air - T) flows in; conductance in W/K. */
void kiln_heat_film(kiln_heat *heat, uint32_t vertex, double conductance, double air);
/* The vertex is led from one temperature to the other in the step, whatever it has now. */
void kiln_heat_hold(kiln_heat *heat, uint32_t vertex, double from, double to);
/* From where weights are positive to where they are negative: conductance times the weighted sum of
 * temperatures, W/K. Weights sum to 0. */
kiln_status kiln_heat_link(kiln_heat *heat, const uint32_t vertex[4], const double weight[4],
                           double conductance, kiln_error *error);

typedef struct kiln_heat_report {
    kiln_solve_outcome outcome;
    int iterations;  /* Newton's, of all stages */
    bool settled;    /* false: not within MOST of them */
    double heat;     /* J stored in the end, from 0 K */
    double received; /* J from sources, films and what is held */
} kiln_heat_report;

/* temperature [vertex slot] from the begin to the end of a step of h seconds; left alone unless it
 * settled. */
kiln_status kiln_heat_step(kiln_heat *heat, const kiln_heat_matter *matter, kiln_heat_scheme scheme,
                           double h, double *temperature, kiln_heat_report *report,
                           kiln_error *error);
/* J, from 0 K. */
double kiln_heat_stored(const kiln_heat *heat, const kiln_heat_matter *matter,
                        const double *temperature);

#endif
