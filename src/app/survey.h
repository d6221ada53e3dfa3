/* Everything `kiln mesh info` says about a mesh file. It takes a soup, not a mesh, because telling
 * what is wrong with a file that cannot become a mesh is half of its purpose. */
#ifndef KILN_APP_SURVEY_H
#define KILN_APP_SURVEY_H

#include "app/skin.h"

#include <stdio.h>

enum { KILN_QUALITY_BINS = 10, KILN_ANGLE_BINS = 12 };

typedef struct kiln_survey_group {
    int32_t tag;
    size_t count;
    double measure; /* volume of a region, area of a patch */
} kiln_survey_group;
typedef KILN_ARRAY_OF(kiln_survey_group)
kiln_survey_groups;

typedef struct kiln_survey_field {
    char name[KILN_NAME_SIZE];
    kiln_where where;
    uint32_t components;
    double low, high; /* of the finite numbers, or of the lengths of vectors; NAN: none */
} kiln_survey_field;
typedef KILN_ARRAY_OF(kiln_survey_field)
kiln_survey_fields;

typedef struct kiln_survey {
    kiln_context *context; /* borrowed */
    size_t vertices, tets, edges, parts;
    size_t boundary_triangles;           /* those listed, in a file without tets */
    kiln_survey_groups regions, patches; /* by tag, ascending */
    kiln_survey_fields fields;
    kiln_vec3 low, high; /* corners of the bounding box */
    double volume, area; /* volume: signed sum; area: of the boundary. Without tets: inside the
                            triangles, NAN unless they are closed; and of the triangles */
    double q_min, q_mean;
    size_t q_bins[KILN_QUALITY_BINS];      /* of [0, 1]; inverted tets are in none */
    double dihedral_min, dihedral_max;     /* degrees */
    size_t dihedral_bins[KILN_ANGLE_BINS]; /* of [0, 180], six angles a tet */
    double edge_min, edge_mean, edge_max;  /* lengths */
    size_t inverted, flat;                 /* exact signs */
    size_t repeated;                       /* tets (or triangles of a surface file) that name a
                                              vertex twice: in no other count */
    size_t duplicate_tets;                 /* besides the first of each */
    size_t unused_vertices, duplicate_vertices;
    size_t crowded_faces;           /* shared by three tets or more */
    size_t folded_faces;            /* both tets on the same side, by vertex order */
    size_t bad_edges, bad_vertices; /* where the boundary is not a surface */
    size_t open_edges;              /* those of them in one triangle only, in a surface file */
    char crossing[160];             /* where a closed surface of a file meets itself, if it does */
    bool manifold;                  /* no crowded face, bad edge or bad vertex */
} kiln_survey;

kiln_status kiln_survey_take(const kiln_soup *soup, kiln_survey *out, kiln_error *error);
void kiln_survey_free(kiln_survey *survey);

/* The part of it that looks at how tets meet (survey_topology.c). */
kiln_status kiln_survey_topology(const kiln_soup *soup, kiln_survey *survey, kiln_error *error);

void kiln_survey_print(const kiln_survey *survey, const char *name, FILE *out);
void kiln_survey_print_json(const kiln_survey *survey, const char *name, FILE *out);

#endif
