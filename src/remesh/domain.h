/* Whole-domain remesh: a new mesh for the space that an old one fills (VPF section 4).
 *
 * Where nothing becomes one, the old mesh is brought to the sizes asked for and made good
 * (remesh/improve_sized.h). Where bodies overlap, touch or nearly do, sites are placed on the old
 * outline (corners, feature curves, surfaces, in that order) and on a lattice inside, those inside
 * are moved to where they make good tets, and the Delaunay tets of the sites that lie in the old
 * mesh for the larger part become the new one. What overlaps or touches in the old mesh is one in
 * the new: bodies merge; what is thinner than the size asked for may tear. Old surface vertices
 * stay sites wherever the size allows it, so that remeshing again and again does not wear the shape
 * down (VPF 4.1). */
#ifndef KILN_REMESH_DOMAIN_H
#define KILN_REMESH_DOMAIN_H

#include "remesh/thin.h"

/* New tets in a cube of the size, where the old mesh is adapted. */
#define KILN_DOMAIN_TETS_IN_CUBE 11.0

typedef struct kiln_domain_options {
    kiln_space space; /* where the domain is taken, and where the new tets are good; world */
    double size;      /* m, edges everywhere; 0: by `size_at`, or as long as the old ones there */
    double (*size_at)(void *user, kiln_vec3 p); /* m, positive; NULL: none */
    void *size_user;
    const char *size_field;    /* vertex field of the old mesh with sizes, m, in place of the old
                                  edges; NULL: none */
    double size_min, size_max; /* m, limits of sizes; 0: none */
    double gap; /* surfaces that face each other closer than this part of the size are joined by
                   filling what is between; 0: only what overlaps or touches is */
    double feature_angle; /* new edges that turn by more are features too, radians; 1.2 */
    int rounds;           /* of site optimisation; 8 */
    kiln_thin_mode thin;  /* tets stretched along plates and needles, where nothing becomes one;
                             never. Quality is that in their metric then */
    uint32_t layers;      /* of tets across these, at least; 0: 1 */
    double goal; /* tets below this quality are repaired by local operators at the end; 0.3 */
    /* A mesh that has a tet below this, and below the worst of the old, is not made; 0.25 */
    double least;
    /* Nor one whose volume differs by more than these parts of it; 0.005 and INFINITY */
    double most_lost, most_gained;
    /* Tets that come and go for a manifold surface, parts of the volume: where it would be more,
     * bodies that meet in an edge or a point are cut apart there. INFINITY: all become one; 0.005
     */
    double most_bridged;
    const struct kiln_transfer_options *transfer; /* remesh/transfer.h; NULL: its presets */
    void (*progress)(void *user, const char *stage, double done); /* done: 0 to 1; may be NULL */
    void *progress_user;
} kiln_domain_options;

kiln_domain_options kiln_domain_default_options(void);

typedef struct kiln_domain_report {
    bool joined; /* bodies may have become one; else the old mesh was adapted, without sites */
    size_t splits, contractions; /* of edges, then */
    size_t corner_sites, curve_sites, surface_sites, inside_sites;
    size_t kept_vertices;  /* surface sites that are old vertices */
    size_t promoted_sites; /* went from inside to the surface (VPF 4.1) */
    size_t poor_removed;   /* slivers, caps, splinters and wedges taken off the surface (VPF 4.2) */
    size_t filled, dug;    /* tets put in or taken out for a manifold surface */
    size_t cuts;           /* what was left of that for topology/repair.h */
    size_t below_goal;     /* tets, before and after the repair by local operators */
    size_t left_below_goal;
    double worst_before, worst_after; /* quality; in their metric where tets are stretched */
    double mean_before, mean_after;   /* the same, only where tets are stretched */
    bool stretched;
    double thickness;     /* m, the least of what is thin; then, too */
    double volume_before; /* of the domain, overlaps counted once, in the space of the remesh */
    double volume_after;
    double transfer_seconds;
    bool material_reset; /* u (x) could not be interpolated without inverting a tet, or two bodies
                            became one: it is the same as x (u) now */
} kiln_domain_report;

/* The mesh is not changed. The new one has regions, tags, features and required vertices of the
 * old, positions in the other space by interpolation (VPF 4.3), and the fields of the old by their
 * rules. KILN_ERR_INPUT: a size is not positive, nothing of the domain is left at this size, or
 * lengths are out of range (kiln_remesh_in_range).
 * *out is NULL where the new mesh would be worse than the old one (options.least), or of another
 * volume (options.most_lost, most_gained). `report` may be NULL. */
kiln_status kiln_domain_remesh(const kiln_mesh *mesh, const kiln_domain_options *options,
                               kiln_mesh **out, kiln_domain_report *report, kiln_error *error);

#endif
