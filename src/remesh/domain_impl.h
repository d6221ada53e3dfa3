/* What the files of the whole-domain remesh share. */
#ifndef KILN_REMESH_DOMAIN_IMPL_H
#define KILN_REMESH_DOMAIN_IMPL_H

#include "geom/bvh.h"
#include "remesh/delaunay.h"
#include "remesh/domain.h"
#include "remesh/volumes.h"

#define KILN_NO_REGION INT32_MIN

/* A triangle of the outline or of an interface between regions: a face of the old mesh, or a part
 * of one that another body covers the rest of. */
typedef struct kiln_piece {
    kiln_vec3 p[3]; /* outward order */
    uint32_t at;    /* tet*4+face of the old mesh */
    bool interface; /* between two regions, of one part or of two; else of the surface */
} kiln_piece;

typedef enum kiln_site_kind {
    KILN_SITE_CORNER, /* stays */
    KILN_SITE_CURVE,  /* on a feature curve, stays */
    KILN_SITE_SHEET,  /* on the surface or an interface */
    KILN_SITE_INSIDE
} kiln_site_kind;

typedef struct kiln_site {
    kiln_vec3 x;
    kiln_vec3 normal; /* of a sheet; zero elsewhere */
    double size;      /* wanted edge length */
    uint32_t vertex;  /* old vertex at this very place, or KILN_NONE */
    uint32_t part;    /* of the old mesh; KILN_NONE inside */
    uint32_t kind;
    bool pinned; /* a sheet site that must not move */
} kiln_site;
typedef KILN_ARRAY_OF(kiln_site)
kiln_site_array;

typedef struct kiln_domain {
    kiln_context *context;
    const kiln_mesh *mesh;
    kiln_domain_options options;
    uint64_t seed;
    const kiln_vec3 *x;  /* of the old vertices, in the space of the remesh */
    kiln_u32_array live; /* old tets, the items of `tets` */
    kiln_bvh tets;
    KILN_ARRAY_OF(kiln_piece)
    pieces;
    kiln_bvh outline;     /* over the pieces */
    kiln_f64_array local; /* [vertex] mean length of the old edges there, smoothed */
    kiln_vec3 low, high;  /* box of the old mesh */
    bool several_parts;
    /* [part] of two in the same place, or on either side of a gap, the one of lower rank is there:
     * the smaller, which would be gone otherwise. The gap is the other's. */
    kiln_u32_array rank;
    bool joins; /* something overlaps, touches, or faces something across a gap to be filled */

    /* Where gaps are filled: all surface faces, how wide the gaps in front of them may be. */
    KILN_ARRAY_OF(kiln_piece)
    skin;
    kiln_f64_array width;
    double widest;
    kiln_bvh skin_tree;

    kiln_site_array sites;
    KILN_ARRAY_OF(kiln_soup_edge)
    segments;                /* of feature curves, between sites */
    kiln_site_array samples; /* of the sheets, about a third of the size apart */
    kiln_delaunay delaunay;

    /* Of the Delaunay tets. */
    KILN_ARRAY_OF(uint8_t)
    keep;
    KILN_ARRAY_OF(int32_t)
    region;               /* KILN_NO_REGION: no old tet in it */
    kiln_volumes volumes; /* of each region in each old part, less what is another's */
    kiln_domain_report report;
} kiln_domain;

/* domain_adapt.c: the new mesh, where nothing becomes one. */
kiln_status kiln_domain_adapt(kiln_domain *domain, kiln_mesh **out, kiln_error *error);

/* domain_outline.c */
double kiln_domain_limited(const kiln_domain_options *options, double size);
kiln_status kiln_domain_begin(kiln_domain *domain, kiln_error *error);
void kiln_domain_end(kiln_domain *domain);
/* Corners of an old tet, positive order whatever its orientation in this space. */
void kiln_domain_tet(const kiln_domain *domain, uint32_t tet, kiln_vec3 out[4]);
/* The old tet that holds the point, of the part of lowest rank; in a gap one next to it; KILN_NONE:
 * outside. */
uint32_t kiln_domain_locate(const kiln_domain *domain, kiln_vec3 p);
bool kiln_domain_outranks(const kiln_domain *domain, uint32_t tet, uint32_t other); /* old tets */
double kiln_domain_face_size(const kiln_domain *domain, uint32_t at); /* of an old face, m */
/* The nearest piece within `limit`, KILN_BVH_NONE if there is none; *nearest is its point. */
uint32_t kiln_domain_closest(const kiln_domain *domain, kiln_vec3 p, double limit,
                             kiln_vec3 *nearest);
/* The nearest piece of the surface (no interface) that looks the same way as the normal. */
uint32_t kiln_domain_closest_facing(const kiln_domain *domain, kiln_vec3 p, kiln_vec3 normal);
bool kiln_domain_near_interface(const kiln_domain *domain, kiln_vec3 p, double limit);
kiln_status kiln_domain_size(const kiln_domain *domain, kiln_vec3 p, double *size,
                             kiln_error *error);
kiln_vec3 kiln_piece_normal(const kiln_piece *piece);
void kiln_domain_progress(const kiln_domain *domain, const char *stage, double done);

/* domain_gap.c: a tet next to the gap that a point outside the old mesh lies in; KILN_NONE: in
 * none. */
uint32_t kiln_domain_gap_at(const kiln_domain *domain, kiln_vec3 p);
kiln_status kiln_domain_find_skin(kiln_domain *domain, kiln_error *error);
/* domain_curves.c: corners and sites along the feature curves, as candidates. */
kiln_status kiln_domain_trace_curves(kiln_domain *domain, kiln_site_array *out, kiln_error *error);
/* domain_sites.c: all sites. */
kiln_status kiln_domain_place_sites(kiln_domain *domain, kiln_error *error);
/* domain_lattice.c: those inside, appended. */
kiln_status kiln_domain_fill_lattice(kiln_domain *domain, kiln_error *error);
/* The triangulation of the sites, whose places are copied to points[]. */
kiln_status kiln_domain_triangulate(kiln_domain *domain, kiln_vec3 *points, kiln_error *error);
/* domain_relax.c: moves them; the triangulation is that of the result. */
kiln_status kiln_domain_relax(kiln_domain *domain, kiln_error *error);
/* domain_conform.c: more sites on interfaces that the triangulation does not respect. */
kiln_status kiln_domain_conform(kiln_domain *domain, kiln_error *error);
/* domain_perturb.c: small moves that make slivers vanish. */
kiln_status kiln_domain_perturb(kiln_domain *domain, int rounds, kiln_error *error);
/* domain_extract.c: which tets belong to the new mesh, by overlap. */
kiln_status kiln_domain_extract(kiln_domain *domain, kiln_error *error);
/* Which of domain->volumes the old tet is of; SIZE_MAX: none yet. */
size_t kiln_domain_matter(const kiln_domain *domain, uint32_t tet);
/* Crumbs of regions, once it is known which tets stay. */
void kiln_domain_sweep(kiln_domain *domain);
/* domain_peel.c: poor tets off the surface. */
kiln_status kiln_domain_peel(kiln_domain *domain, kiln_error *error);
/* Tets into pits and into sharp valleys between what became one; after the peel. */
kiln_status kiln_domain_fillet(kiln_domain *domain, kiln_error *error);
/* domain_manifold.c: tets in and out until the surface is manifold, as far as that goes. */
kiln_status kiln_domain_mend(kiln_domain *domain, kiln_error *error);
void kiln_domain_put_in(kiln_domain *domain, uint32_t tet); /* of those of the sites */
/* domain_result.c */
kiln_status kiln_domain_result(kiln_domain *domain, kiln_mesh **out, kiln_error *error);
/* domain_finish.c: of what was made from sites. Tets below the goal are repaired; */
kiln_status kiln_domain_repair(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error);
/* curved surfaces go outward or inward until every region has its volume. */
kiln_status kiln_domain_match_volume(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error);
/* domain_seam.c: smooth where bodies became one. */
kiln_status kiln_domain_smooth_seam(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error);

#endif
