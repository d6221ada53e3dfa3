/* Kiln: matter that bends, flows, melts, tears and shatters on one self-repairing tetrahedral mesh.
 *
 * The whole public C API; docs/library.md shows it in use. What there is now: contexts, meshes
 * and their improvement, simulations of scenes.
 *
 * Handles are opaque, nothing is global, the library never prints, exits or touches signals.
 * Lengths, times and masses are SI. Every fallible call returns a kiln_status; the optional
 * kiln_error (NULL: not wanted) says what went wrong and where, and the results are as they were.
 *
 * Ownership: who creates, loads or generates something destroys it, meshes before their context.
 * What is passed in is read during the call and never kept; what comes out as a plain pointer is
 * borrowed and says until when. Options, reports and errors may be NULL: the defaults, not wanted.
 * Any other pointer that is NULL is KILN_ERR_INPUT with its name; functions without a status then
 * do nothing and return 0, NULL or "".
 *
 * Threads: a context and everything made from it are used by one thread at a time; different
 * contexts know nothing of each other. The library runs loops on threads of its own (see
 * kiln_context_options.threads) with the same bits for any number of them, on one instruction set.
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

/* One row per status: enum name, text. */
#define KILN_STATUS_TABLE(X)                                                                       \
    X(KILN_OK, "ok")                                                                               \
    X(KILN_ERR_MEMORY, "out of memory")                                                            \
    X(KILN_ERR_INPUT, "bad input")                                                                 \
    X(KILN_ERR_IO, "cannot read or write")                                                         \
    X(KILN_ERR_LIMIT, "too large")                                                                 \
    X(KILN_ERR_UNSUPPORTED, "not supported")                                                       \
    X(KILN_ERR_STATE, "call not allowed in this state")                                            \
    X(KILN_ERR_NUMERIC, "numerical failure")

typedef enum kiln_status {
#define KILN_STATUS_ENUM(name, text) name,
    KILN_STATUS_TABLE(KILN_STATUS_ENUM)
#undef KILN_STATUS_ENUM
} kiln_status;

KILN_API const char *kiln_status_text(kiln_status status);

/* Filled on failure, untouched on success. `line` is 1-based, 0 when unknown; `byte` is the offset
 * in a binary file, -1 when unknown. */
typedef struct kiln_error {
    kiln_status status;
    char place[256]; /* file, key path or element; may be empty */
    long long line;
    long long byte;
    char message[512];
} kiln_error;

/* "place:line: message" or "place: byte N: message" in at most `size` bytes; returns `buffer`. */
KILN_API const char *kiln_error_format(const kiln_error *error, char *buffer, size_t size);

/* realloc semantics with the old size given: new_size 0 frees and returns NULL; failure returns
 * NULL and keeps the old block. Called from several threads only inside parallel loops. */
typedef struct kiln_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} kiln_allocator;

/* Warnings: what the caller may not have meant (parts of a mesh left out or mended, a hold that
 * holds nothing, a goal that is missed, a step given up). Info: what is loaded, steps that were
 * tried again, new meshes, and what a scene prints. On the thread that called. */
typedef enum kiln_log_level { KILN_LOG_DEBUG, KILN_LOG_INFO, KILN_LOG_WARNING } kiln_log_level;
typedef void (*kiln_log_callback)(void *user, kiln_log_level level, const char *message);

typedef struct kiln_context kiln_context;

typedef struct kiln_context_options {
    kiln_allocator allocator; /* resize NULL: malloc */
    kiln_log_callback log;    /* NULL: silent */
    void *log_user;
    int threads;     /* 0: one per core */
    const char *isa; /* "scalar", "avx2", "avx512"; NULL: the best this machine has */
    uint64_t seed;
} kiln_context_options;

KILN_API kiln_context_options kiln_context_default_options(void);
KILN_API kiln_status kiln_context_create(const kiln_context_options *options, kiln_context **out,
                                         kiln_error *error);
KILN_API void kiln_context_destroy(kiln_context *context);

KILN_API const char *kiln_version(void);

/* A mesh of tetrahedra with its surface, regions, parts and fields.
 *
 * Vertices, tets and surface triangles are numbered from 0 without gaps, in the order of what they
 * were made from; the numbers hold until the mesh is changed. A tet (a, b, c, d) is positive:
 * det(b - a, c - a, d - a) > 0. A surface triangle looks outward: counter-clockwise seen from
 * outside. */
typedef struct kiln_mesh kiln_mesh;

/* What a number or a field belongs to. */
typedef enum kiln_where {
    KILN_ON_VERTEX,
    KILN_ON_TET,
    KILN_ON_FACE, /* triangle of the surface */
    KILN_WHERE_COUNT
} kiln_where;

/* Every vertex has two positions: where it is in the undeformed material and where it is now. They
 * are the same unless the input gave a vertex field "u", the material position. */
typedef enum kiln_space { KILN_SPACE_MATERIAL, KILN_SPACE_WORLD } kiln_space;

typedef enum kiln_mesh_policy {
    KILN_MESH_STRICT, /* any defect is an error that names the element and the rule it breaks */
    KILN_MESH_REPAIR  /* mends what has one sensible meaning and reports it: tets that are turned,
                         given twice or name a corner twice; vertices and edges where pieces merely
                         touch. Flat tets and faces with more than two tets or with two on the same
                         side are refused all the same. */
} kiln_mesh_policy;

typedef struct kiln_mesh_options {
    kiln_mesh_policy policy; /* strict */
    double feature_angle;    /* surface edges that turn by more are features; radians, 0 to pi */
    int32_t opened_tag;      /* of surface triangles that repair makes by cutting; 0 */
    /* Of kiln_mesh_load only. */
    const char *format; /* "medit", "gmsh", ...; NULL: by the file's extension, then its content */
    bool fill;          /* a closed surface without tets is filled with tets by running the program
                           tetgen, which must be in PATH; otherwise (preset) it is an error */
    double fill_edge;   /* edge length to fill with, m; 0: as the surface has it */
} kiln_mesh_options;

KILN_API kiln_mesh_options kiln_mesh_default_options(void);

/* What was done to the input; all zero for a mesh with nothing to it but tets and their surface. */
typedef struct kiln_mesh_report {
    /* Under both policies: */
    size_t points_unused;    /* in no tet: left out */
    size_t triangles_unused; /* face of no tet: left out */
    size_t triangles_inside; /* between two tets: their tags are not kept */
    /* Tets in the other orientation, turned. Strict takes them only if all are, which is just
     * another convention. */
    size_t tets_turned;
    /* Under KILN_MESH_REPAIR: */
    size_t tets_dropped;   /* given before, or with a corner named twice */
    size_t vertices_split; /* copies made where pieces met in a vertex or edge only */
    size_t edges_split;    /* halved, because the tets round them were several fans */
    size_t tunnels;        /* cuts between two sheets of the surface that met in a vertex */
} kiln_mesh_report;

/* Reads a mesh file: Medit .mesh .meshb, Gmsh .msh, TetGen .node .ele, VTK .vtu .vtk; surfaces
 * .stl .obj .ply .off with options->fill. Tags of tets become regions, tags of triangles those of
 * the surface, fields come along. `report` may be NULL. */
KILN_API kiln_status kiln_mesh_load(kiln_context *context, const char *path,
                                    const kiln_mesh_options *options, kiln_mesh **out,
                                    kiln_mesh_report *report, kiln_error *error);

/* Corners count from 0. What is 0 or NULL is not given, except points and tets. */
typedef struct kiln_mesh_arrays {
    size_t point_count;
    const double *points;   /* [point_count][3] world position, m */
    const double *material; /* [point_count][3] material position, m; NULL: as in the world */
    size_t tet_count;
    const uint32_t *tets;   /* [tet_count][4] */
    const int32_t *regions; /* [tet_count]; NULL: 0 */
    size_t triangle_count;
    const uint32_t *triangles;    /* [triangle_count][3] tagged surface triangles, in any order */
    const int32_t *triangle_tags; /* [triangle_count]; surface triangles not listed have tag 0 */
} kiln_mesh_arrays;

/* The same from memory; everything is copied. Elements in messages count from 1, as in files. */
KILN_API kiln_status kiln_mesh_from_arrays(kiln_context *context, const kiln_mesh_arrays *arrays,
                                           const kiln_mesh_options *options, kiln_mesh **out,
                                           kiln_mesh_report *report, kiln_error *error);

/* A simple shape: "box", "ball", "cylinder", ... with settings "name=value", as `kiln mesh
 * generate` takes them (`kiln mesh generate --help` lists them). "random" runs tetgen. Surface
 * tags number the patches, all tets have region 1. */
KILN_API kiln_status kiln_mesh_generate(kiln_context *context, const char *shape,
                                        size_t setting_count, const char *const *settings,
                                        kiln_mesh **out, kiln_error *error);

KILN_API void kiln_mesh_destroy(kiln_mesh *mesh); /* NULL is fine */

typedef enum kiln_encoding {
    KILN_ENCODING_ANY, /* the format's own choice: by extension, otherwise binary where there is one
                        */
    KILN_ENCODING_ASCII,
    KILN_ENCODING_BINARY
} kiln_encoding;

typedef struct kiln_format_options {
    const char *format;     /* "medit", "gmsh", ...; NULL: by the extension */
    kiln_encoding encoding; /* writing only */
} kiln_format_options;

KILN_API kiln_format_options kiln_format_default_options(void);

/* Writes a mesh file, whole or not at all: on failure what had the name before is untouched. World
 * positions, regions, surface triangles with tags, feature edges, corners and required entities
 * where the format has them; fields, and material positions as "u", in .msh and .vtu only. A .stl,
 * .obj, .ply or .off file gets the surface alone, a .sol file the fields alone. */
KILN_API kiln_status kiln_mesh_save(const kiln_mesh *mesh, const char *path,
                                    const kiln_format_options *options, kiln_error *error);

/* How many vertices, tets or surface triangles; pieces that hang together. */
KILN_API size_t kiln_mesh_count(const kiln_mesh *mesh, kiln_where where);
KILN_API uint32_t kiln_part_count(const kiln_mesh *mesh);

/* Copies into the caller's arrays, whose shapes the count gives. */
KILN_API void kiln_mesh_copy_positions(const kiln_mesh *mesh, kiln_space space,
                                       double *positions /* [vertex][3], m */);
KILN_API kiln_status kiln_mesh_copy_tets(const kiln_mesh *mesh, uint32_t *tets /* [tet][4] */,
                                         kiln_error *error);
KILN_API kiln_status kiln_mesh_copy_triangles(const kiln_mesh *mesh,
                                              uint32_t *triangles /* [surface triangle][3] */,
                                              kiln_error *error);
/* Tag of each vertex, region of each tet or tag of each surface triangle. */
KILN_API void kiln_mesh_copy_tags(const kiln_mesh *mesh, kiln_where where, int32_t *tags);

KILN_API double kiln_mesh_volume(const kiln_mesh *mesh); /* of the material, m^3 */

/* q = 6 sqrt(2) V l_harm / l_rms^4 of each tet, V its volume, l its edge lengths: 1 for the regular
 * tet, 0 for a flat one, negative for an inverted one. */
KILN_API void kiln_mesh_copy_quality(const kiln_mesh *mesh, kiln_space space,
                                     double *quality /* [tet] */);
KILN_API void kiln_mesh_quality(const kiln_mesh *mesh, kiln_space space, double *min, double *mean);

/* Fields: named columns of doubles on vertices, tets or surface triangles. They follow the mesh
 * when it changes: values on vertices are interpolated, on tets averaged, on triangles copied. */
enum { KILN_NAME_SIZE = 64 }; /* of a field's name, zero terminator included */

/* Name of field number `index`, NULL past the last; borrowed until a field is added. */
KILN_API const char *kiln_mesh_field_name(const kiln_mesh *mesh, kiln_where where, size_t index);
/* Numbers per item; 0: there is no such field. */
KILN_API uint32_t kiln_mesh_field_components(const kiln_mesh *mesh, kiln_where where,
                                             const char *name);
KILN_API kiln_status kiln_mesh_get_field(const kiln_mesh *mesh, kiln_where where, const char *name,
                                         double *values /* [item][components] */,
                                         kiln_error *error);
/* Makes the field when there is none of that name; otherwise it must have as many components (1 to
 * 256). Values must be finite. The vertex name "u" is taken (kiln_space), names beginning with a
 * dot are too. */
KILN_API kiln_status kiln_mesh_set_field(kiln_mesh *mesh, kiln_where where, const char *name,
                                         uint32_t components,
                                         const double *values /* [item][components] */,
                                         kiln_error *error);

typedef struct kiln_audit_report {
    const char *invariant; /* "M1" ... "M9" (docs/library.md), NULL when all hold; never freed */
    char message[200];     /* the element and what is wrong with it */
} kiln_audit_report;

/* Does the mesh keep all its invariants? A broken one is a bug in Kiln. Fails only for lack of
 * memory. */
KILN_API kiln_status kiln_mesh_audit(const kiln_mesh *mesh, kiln_audit_report *report,
                                     kiln_error *error);

/* Over every bit of the mesh's state. Equal for two meshes made and changed in the same way on the
 * same kind of machine by the same version, whatever the threads; not for keeping in files. */
KILN_API uint64_t kiln_mesh_hash(const kiln_mesh *mesh);

/* How good a tet is; every measure is 0 for a flat tet, negative for an inverted one. */
typedef enum kiln_measure {
    KILN_MEASURE_QUALITY,      /* q, as kiln_mesh_copy_quality has it */
    KILN_MEASURE_MIN_SINE,     /* least sine of the dihedral angles; 0.943 for the regular tet */
    KILN_MEASURE_VOLUME_LENGTH /* 6 sqrt(2) V / l_rms^3; 1 for the regular tet */
} kiln_measure;

/* What may happen to the surface. Flat faces and sharp edges stay where they are in every mode. */
typedef enum kiln_surface_mode {
    KILN_SURFACE_KEEP,    /* flat faces and straight edges may be remeshed, curved ones stay */
    KILN_SURFACE_QUADRIC, /* curved ones may be remeshed too, held by quadrics (DLR 4.3) */
    KILN_SURFACE_SMOOTH   /* vertices are samples of a smooth surface and stay on it (SLI 6.1) */
} kiln_surface_mode;

typedef struct kiln_mesh_improve_options {
    bool aggressive;           /* the whole mesh as high as it will go; otherwise (preset) tets
                                  below the goal only, and no more than they need */
    double goal;               /* in the measure, above 0 and below 1; 0.15 */
    kiln_measure measure;      /* q */
    kiln_surface_mode surface; /* quadric */
    double size;               /* edge length wanted, 1e-30 to 1e30 m; 0 (preset): as the mesh has
                                  it */
    /* Called now and then; false stops, with the mesh as good as it has become. May be NULL. */
    bool (*progress)(void *user, size_t tets, double worst);
    void *user;
} kiln_mesh_improve_options;

KILN_API kiln_mesh_improve_options kiln_mesh_improve_default_options(void);

typedef struct kiln_mesh_improve_report {
    size_t tets_before, tets_after;
    size_t below_goal;                /* tets that are so afterwards */
    double worst_before, worst_after; /* in the measure */
    double mean_before, mean_after;
    double hausdorff;     /* distance of the surfaces before and after, m */
    double of_band;       /* its largest part of what is allowed: 0.1 % of the mesh's longest side
                             or 5 % of the local edge, whichever is larger */
    double volume_change; /* of the whole, as a part of it */
    bool stopped;         /* by progress */
} kiln_mesh_improve_report;

/* Makes bad tets better by moving vertices, flipping, inserting and contracting (docs/improve.md).
 * Regions, tags, features and what is between regions are kept, fields are carried over, no tet is
 * ever inverted, and the worst tet gets no worse. Rows are numbered anew. `report` may be NULL.
 * Bad options change nothing; KILN_ERR_MEMORY leaves a valid mesh, perhaps improved in part. */
KILN_API kiln_status kiln_mesh_improve(kiln_mesh *mesh, const kiln_mesh_improve_options *options,
                                       kiln_mesh_improve_report *report, kiln_error *error);

/* A simulation: a scene (docs/scene.md) made into bodies on one mesh, and the state they are in. */
typedef struct kiln_simulation kiln_simulation;

typedef struct kiln_simulation_options {
    size_t set_count;
    const char *const *sets; /* "path=value", as `kiln run --set` takes them */
} kiln_simulation_options;

/* Reads the scene and makes its world at time 0. Bad scenes: file, line, key path and rule. */
KILN_API kiln_status kiln_simulation_load(kiln_context *context, const char *scene,
                                          const kiln_simulation_options *options,
                                          kiln_simulation **out, kiln_error *error);
/* Goes on from a checkpoint, to the same bits as a run that was never interrupted, on
 * one instruction set. The scene's text
 * and settings are those the checkpoint keeps; `scene` is where its file was, for messages and for
 * the files it names. */
KILN_API kiln_status kiln_simulation_resume(kiln_context *context, const char *scene,
                                            const char *checkpoint, kiln_simulation **out,
                                            kiln_error *error);
KILN_API void kiln_simulation_destroy(kiln_simulation *simulation); /* NULL is fine */

/* One step, no farther than `until` (s), which is finite and not before the time that is reached;
 * nothing is done when it is that time. When it is later by less than a step resolves (1e-9 of the
 * shortest of dt, frame interval and duration) only the clock goes there, so `while (time < until)`
 * ends. A step that fails is taken back and tried shorter; when
 * the scene's shortest has failed too, KILN_ERR_STATE says what and where, and the state is that of
 * the last good step. */
KILN_API kiln_status kiln_simulation_step(kiln_simulation *simulation, double until,
                                          kiln_error *error);
KILN_API double kiln_simulation_time(const kiln_simulation *simulation);     /* s */
KILN_API double kiln_simulation_duration(const kiln_simulation *simulation); /* of the scene, s */

/* The mesh as it is now, with the vertex field "v" (velocity, m/s) among its fields; borrowed, and
 * its numbers hold until the next step. */
KILN_API const kiln_mesh *kiln_simulation_mesh(const kiln_simulation *simulation);

/* A frame as `kiln run` writes them (.vtu), and a checkpoint; whole or not at all. After a
 * checkpoint everything derived is built anew, as it is when one is resumed. */
KILN_API kiln_status kiln_simulation_save_frame(kiln_simulation *simulation, const char *path,
                                                kiln_error *error);
KILN_API kiln_status kiln_simulation_save_checkpoint(kiln_simulation *simulation, const char *path,
                                                     kiln_error *error);

#ifdef __cplusplus
}
#endif
#endif
