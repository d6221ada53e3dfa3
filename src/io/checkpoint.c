/* The file is an HDF5 file behind a block of our own, which HDF5's tools pass over (a user block):
 * magic, version, length and hash of what follows. It is made and read in memory, so that HDF5
 * never meets a full disk, and never a byte that we have not written: it is known to fall over
 * damaged files. */
#include "io/checkpoint.h"

#include "base/hash.h"
#include "io/sink.h"
#include "io/source.h"
#include "mesh/audit.h"
#include "sim/change.h"

#include <hdf5/serial/hdf5.h>
#include <pthread.h>
#include <string.h>

enum { HEAD_SIZE = 512, FORMAT = 3, IMAGE_STEP = 1 << 20, PATH_SIZE = KILN_NAME_SIZE + 32 };

static const char magic[16] = "kiln checkpoint";

typedef struct head {
    char magic[16];
    uint64_t format, size, hash;
    char version[32];
} head;

/* One direction of travel for both: a description of the data calls `column` for each array, and
 * whether it is written or read is the traveller's business. */
typedef struct traveller {
    kiln_context *context;
    hid_t file;
    bool writing;
    bool changed;     /* reading for another scene: what is not in the file is left as it is */
    const char *path; /* for messages */
    kiln_status status;
    kiln_error *error;
} traveller;

static void fail(traveller *t, kiln_status status, const char *what, const char *name)
{
    if (t->status == KILN_OK)
        t->status = kiln_fail(t->error, status, t->path, 0, -1, "%s '%s'", what, name);
}

static hid_t number_type(kiln_type type)
{
    switch (type) {
    case KILN_F64:
        return H5T_NATIVE_DOUBLE;
    case KILN_U32:
        return H5T_NATIVE_UINT32;
    case KILN_I32:
        return H5T_NATIVE_INT32;
    default:
        return H5T_NATIVE_UINT64;
    }
}

static void write_array(traveller *t, const char *name, hid_t type, size_t rows, size_t width,
                        const void *data)
{
    hsize_t shape[2] = {rows, width};
    hid_t space = H5Screate_simple(width == 1 ? 1 : 2, shape, NULL);
    hid_t link = H5Pcreate(H5P_LINK_CREATE), made = H5Pcreate(H5P_DATASET_CREATE);
    bool fine = space >= 0 && link >= 0 && made >= 0;
    /* No times of creation: the same state must be the same bytes. */
    fine = fine && H5Pset_obj_track_times(made, false) >= 0 &&
           H5Pset_create_intermediate_group(link, 1) >= 0;
    hid_t set =
        fine ? H5Dcreate2(t->file, name, type, space, link, made, H5P_DEFAULT) : H5I_INVALID_HID;
    fine = fine && set >= 0 &&
           (rows == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (set >= 0)
        fine = H5Dclose(set) >= 0 && fine;
    if (made >= 0)
        H5Pclose(made);
    if (link >= 0)
        H5Pclose(link);
    if (space >= 0)
        H5Sclose(space);
    if (!fine)
        fail(t, KILN_ERR_MEMORY, "out of memory while writing", name);
}

/* The set's rows; its width and type must be those asked for. */
static bool look_at(hid_t set, hid_t type, size_t width, size_t *rows)
{
    hid_t space = H5Dget_space(set), kind = H5Dget_type(set);
    hsize_t shape[2] = {0, 1};
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool fine = kind >= 0 && (rank == 1 || rank == 2) &&
                H5Sget_simple_extent_dims(space, shape, NULL) == rank && shape[1] == width &&
                H5Tequal(kind, type) > 0;
    *rows = shape[0];
    if (kind >= 0)
        H5Tclose(kind);
    if (space >= 0)
        H5Sclose(space);
    return fine;
}

static size_t array_rows(traveller *t, const char *name, hid_t type, size_t width)
{
    size_t rows = 0;
    if (t->status != KILN_OK)
        return 0;
    hid_t set = H5Dopen2(t->file, name, H5P_DEFAULT);
    if (set < 0 || !look_at(set, type, width, &rows))
        fail(t, KILN_ERR_INPUT, "lacks, or has in another shape,", name);
    if (set >= 0)
        H5Dclose(set);
    return t->status == KILN_OK ? rows : 0;
}

static void read_array(traveller *t, const char *name, hid_t type, size_t rows, size_t width,
                       void *data)
{
    size_t found = array_rows(t, name, type, width);
    if (t->status != KILN_OK)
        return;
    if (found != rows) {
        fail(t, KILN_ERR_INPUT, "has the wrong number of rows in", name);
        return;
    }
    hid_t set = H5Dopen2(t->file, name, H5P_DEFAULT);
    if (set < 0 || (rows > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
        fail(t, KILN_ERR_INPUT, "cannot read", name);
    if (set >= 0)
        H5Dclose(set);
}

static bool is_there(const traveller *t, const char *name)
{
    return H5Lexists(t->file, name, H5P_DEFAULT) > 0;
}

static void column(traveller *t, const char *name, hid_t type, size_t rows, size_t width,
                   void *data)
{
    if (t->status != KILN_OK || (t->changed && !is_there(t, name)))
        return;
    if (t->writing)
        write_array(t, name, type, rows, width, data);
    else
        read_array(t, name, type, rows, width, data);
}

static void number(traveller *t, const char *name, double *value)
{
    column(t, name, H5T_NATIVE_DOUBLE, 1, 1, value);
}

static void count(traveller *t, const char *name, uint64_t *value)
{
    column(t, name, H5T_NATIVE_UINT64, 1, 1, value);
}

static void travel_state(traveller *t, kiln_world_state *state)
{
    uint64_t good = (uint64_t)state->pace.good;
    /* Never is no number that a file may hold. */
    double frame = isfinite(state->next_frame) ? state->next_frame : -1.0;
    double checkpoint = isfinite(state->next_checkpoint) ? state->next_checkpoint : -1.0;
    number(t, "/state/time", &state->clock.time);
    number(t, "/state/h_before", &state->clock.h_before);
    if (t->writing || is_there(t, "/state/surplus")) /* files of before have none */
        number(t, "/state/surplus", &state->clock.surplus);
    number(t, "/state/dt", &state->pace.dt);
    count(t, "/state/good", &good);
    count(t, "/state/step", &state->step);
    count(t, "/state/frame", &state->frame);
    count(t, "/state/checkpoint", &state->checkpoint);
    number(t, "/state/next_frame", &frame);
    number(t, "/state/next_checkpoint", &checkpoint);
    count(t, "/state/rejected", &state->rejected);
    if (t->writing || t->status != KILN_OK)
        return;
    state->pace.good = (int)(good < INT32_MAX ? good : INT32_MAX);
    state->next_frame = frame < 0.0 ? INFINITY : frame;
    state->next_checkpoint = checkpoint < 0.0 ? INFINITY : checkpoint;
    if (!isfinite(state->clock.time) || !isfinite(state->clock.h_before) ||
        !isfinite(state->clock.surplus) || !(state->pace.dt > 0.0) || !isfinite(state->pace.dt))
        fail(t, KILN_ERR_INPUT, "bad number in", "/state");
}

/* Modules keep words of 64 bits. */
static void travel_modules(traveller *t, kiln_world *world)
{
    char path[PATH_SIZE];
    const char *name = "";
    for (size_t row = 0; name; row++) {
        size_t size;
        void *state = kiln_world_module_state(world, row, &name, &size);
        if (!state)
            continue;
        snprintf(path, sizeof path, "/module/%s", name);
        if (!t->writing && !is_there(t, path)) /* in files of before: as it begins */
            continue;
        column(t, path, H5T_NATIVE_UINT64, size / sizeof(uint64_t), 1, state);
    }
}

static const char *const table_names[KILN_WHERE_COUNT] = {"vertex", "tet", "face"};

/* Core columns are records of 32-bit words but for the positions. */
static void column_shape(const kiln_field *field, kiln_type *type, size_t *width)
{
    bool positions = field->core && field->stride == sizeof(kiln_vec3);
    *type = field->core ? positions ? KILN_F64 : KILN_U32 : field->type;
    *width = field->stride / kiln_type_size(*type);
}

/* Without the dot that marks core columns, which would mean "here" in a path. */
static void column_name(int where, const kiln_field *field, char name[PATH_SIZE])
{
    snprintf(name, PATH_SIZE, "/mesh/%s/%s%s", table_names[where], field->core ? "core_" : "field_",
             field->name + (field->name[0] == '.'));
}

static void travel_tables(traveller *t, kiln_mesh *mesh)
{
    char name[PATH_SIZE];
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_table *table = &mesh->table[where];
        for (size_t i = 0; i < table->fields.count; i++) {
            kiln_field *field = &table->fields.data[i];
            kiln_type type;
            size_t width;
            column_shape(field, &type, &width);
            column_name(where, field, name);
            column(t, name, number_type(type), table->used, width, field->data);
        }
    }
}

static void travel_parts(traveller *t, kiln_mesh *mesh)
{
    size_t parts = mesh->parts.count, size = parts * sizeof(uint64_t) + 1;
    uint64_t *words = kiln_resize(t->context, NULL, 0, size);
    if (!words) {
        if (t->status == KILN_OK)
            t->status = kiln_fail_memory(t->error, size);
        return;
    }
    double *volume = (double *)words;
#define PART_COLUMN(name, array, type)                                                             \
    for (size_t p = 0; p < parts && t->writing; p++)                                               \
        array[p] = mesh->parts.data[p].name;                                                       \
    column(t, "/mesh/parts/" #name, type, parts, 1, array);                                        \
    for (size_t p = 0; p < parts && !t->writing && t->status == KILN_OK; p++)                      \
        mesh->parts.data[p].name = array[p];
    PART_COLUMN(stamp, words, H5T_NATIVE_UINT64)
    PART_COLUMN(volume, volume, H5T_NATIVE_DOUBLE)
    uint32_t *half = (uint32_t *)words;
    PART_COLUMN(tets, half, H5T_NATIVE_UINT32)
    PART_COLUMN(body, half, H5T_NATIVE_UINT32)
#undef PART_COLUMN
    kiln_release(t->context, words, size);
}

static void travel_mesh(traveller *t, kiln_mesh *mesh)
{
    uint64_t twin = mesh->next_twin, changes = mesh->clock;
    uint64_t policy = mesh->world_policy;
    travel_tables(t, mesh);
    travel_parts(t, mesh);
    count(t, "/mesh/next_twin", &twin);
    count(t, "/mesh/clock", &changes);
    count(t, "/mesh/revision", &mesh->revision);
    count(t, "/mesh/world_policy", &policy);
    number(t, "/mesh/ledger/volume_gained", &mesh->ledger.volume_gained);
    number(t, "/mesh/ledger/volume_lost", &mesh->ledger.volume_lost);
    count(t, "/mesh/ledger/tets_injected", &mesh->ledger.tets_injected);
    count(t, "/mesh/ledger/tets_removed", &mesh->ledger.tets_removed);
    if (t->writing || t->status != KILN_OK)
        return;
    if (twin > UINT32_MAX || changes > UINT32_MAX || policy > KILN_WORLD_TOLERATE) {
        fail(t, KILN_ERR_INPUT, "bad number in", "/mesh");
        return;
    }
    mesh->next_twin = (uint32_t)twin;
    mesh->clock = (uint32_t)changes;
    mesh->world_policy = (kiln_world_policy)policy;
}

/* As large as the file has the surface: it may have grown since the scene began. */
static void size_surface(traveller *t, size_t body, kiln_soup *soup)
{
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "/surface/%zu/u", body);
    size_t vertices = is_there(t, name) ? array_rows(t, name, H5T_NATIVE_DOUBLE, 3) : 0;
    snprintf(name, sizeof name, "/surface/%zu/triangles", body);
    size_t triangles = is_there(t, name) ? array_rows(t, name, H5T_NATIVE_UINT32, 3) : 0;
    uint64_t begin = vertices; /* files of before have surfaces as they began */
    snprintf(name, sizeof name, "/surface/%zu/begin", body);
    if (is_there(t, name))
        count(t, name, &begin);
    if (begin != soup->points.count) /* of the scene as it is now */
        fail(t, KILN_ERR_INPUT, "is of another surface in", name);
    for (size_t k = 0; k < soup->fields.count && t->status == KILN_OK; k++) {
        kiln_soup_field *field = &soup->fields.data[k];
        field->data.count = vertices * field->components;
        t->status = kiln_array_reserve(t->context, &field->data, field->data.count + 1, t->error);
    }
    if (t->status == KILN_OK)
        t->status = kiln_array_reserve(t->context, &soup->points, vertices + 1, t->error);
    if (t->status == KILN_OK)
        t->status = kiln_array_reserve(t->context, &soup->triangles, triangles + 1, t->error);
    if (t->status == KILN_OK)
        t->status = kiln_array_reserve(t->context, &soup->triangle_tags, triangles + 1, t->error);
    if (t->status != KILN_OK)
        return;
    soup->points.count = vertices;
    soup->triangle_tags.count = soup->triangle_tags.count ? triangles : 0;
    soup->triangles.count = triangles;
}

static void surface_column(traveller *t, size_t body, const char *what, hid_t type, size_t rows,
                           size_t width, void *data)
{
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "/surface/%zu/%s", body, what);
    if (t->writing || is_there(t, name)) /* files of before have less */
        column(t, name, type, rows, width, data);
}

/* Vertices with all that they carry, and triangles. */
static void travel_surface(traveller *t, kiln_world *world, size_t body)
{
    kiln_soup soup;
    uint64_t begin = kiln_world_scene(world)->bodies.data[body].surface.points.count;
    t->status = kiln_world_surface(world, body, &soup, t->error);
    if (t->status == KILN_OK && !t->writing)
        size_surface(t, body, &soup);
    if (t->writing)
        surface_column(t, body, "begin", H5T_NATIVE_UINT64, 1, 1, &begin);
    for (size_t k = 0; k < soup.fields.count && t->status == KILN_OK; k++) {
        const kiln_soup_field *field = &soup.fields.data[k];
        surface_column(t, body, field->name, H5T_NATIVE_DOUBLE, soup.points.count,
                       field->components, field->data.data);
    }
    surface_column(t, body, "triangles", H5T_NATIVE_UINT32, soup.triangles.count, 3,
                   soup.triangles.data);
    surface_column(t, body, "tags", H5T_NATIVE_INT32, soup.triangle_tags.count, 1,
                   soup.triangle_tags.data);
    if (!t->writing && t->status == KILN_OK)
        t->status = kiln_world_restore_surface(world, body, &soup, t->error);
    kiln_soup_free(&soup);
}

/* Where the fine surfaces hang. */
static void travel_surfaces(traveller *t, kiln_world *world)
{
    const kiln_scene *scene = kiln_world_scene(world);
    for (size_t b = 0; b < scene->bodies.count; b++)
        if (scene->bodies.data[b].surface.triangles.count > 0 && t->status == KILN_OK)
            travel_surface(t, world, b);
}

/* M9 for what is written, so that no file ever holds a NaN. */
static kiln_status check_finite(const kiln_mesh *mesh, const char *path, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *field = &table->fields.data[i];
            kiln_type type;
            size_t width;
            column_shape(field, &type, &width);
            const double *value = (const double *)field->data;
            double sum = 0.0;
            for (size_t k = 0; k < width * table->used && type == KILN_F64; k++)
                sum += value[k] - value[k];
            if (sum != 0.0)
                return kiln_fail(error, KILN_ERR_STATE, path, 0, -1,
                                 "not written: field '%s' has a value that is not finite",
                                 field->name);
        }
    }
    return KILN_OK;
}

/* HDF5 is one for the whole process and not for threads; worlds of several contexts may meet here.
 * While it is held, errors are ours to report. */
static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;

typedef struct silence {
    H5E_auto2_t report;
    void *data;
} silence;

static silence library_enter(void)
{
    silence before = {NULL, NULL};
    pthread_mutex_lock(&library);
    H5Eget_auto2(H5E_DEFAULT, &before.report, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static void library_leave(silence before)
{
    H5Eset_auto2(H5E_DEFAULT, before.report, before.data);
    pthread_mutex_unlock(&library);
}

/* A file in memory: a new one, or one with that contents. Negative on failure. */
static hid_t open_image(const void *image, size_t size)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    if (access < 0)
        return access;
    bool fine = H5Pset_fapl_core(access, IMAGE_STEP, false) >= 0;
    if (fine && image)
        fine = H5Pset_file_image(access, (void *)(uintptr_t)image, size) >= 0;
    if (fine)
        file = image ? H5Fopen("checkpoint", H5F_ACC_RDONLY, access)
                     : H5Fcreate("checkpoint", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

/* The bytes of the file as they are now, in HDF5's own memory: valid until the file is closed. A
 * copy would be the largest block of a run. */
static const char *look_at_image(hid_t file, size_t *size)
{
    void *handle = NULL;
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        return NULL;
    ssize_t length = H5Fget_file_image(file, NULL, 0);
    if (length <= 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || !handle)
        return NULL;
    *size = (size_t)length;
    return *(const char *const *)handle;
}

static kiln_status write_image(kiln_context *context, const char *path, const char *image,
                               size_t size, kiln_error *error)
{
    char block[HEAD_SIZE] = {0};
    head h = {.format = FORMAT, .size = size, .hash = kiln_hash_bytes(0, image, size)};
    memcpy(h.magic, magic, sizeof magic);
    snprintf(h.version, sizeof h.version, "%s", kiln_version());
    memcpy(block, &h, sizeof h);
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, context, path, error));
    kiln_sink_bytes(&sink, block, sizeof block);
    kiln_sink_bytes(&sink, image, size);
    return kiln_sink_commit(&sink, error);
}

static kiln_status write_world(kiln_world *world, const kiln_checkpoint_scene *scene,
                               const char *path, kiln_error *error)
{
    traveller t = {
        .context = kiln_world_mesh(world)->context, .writing = true, .path = path, .error = error};
    t.file = open_image(NULL, 0);
    if (t.file < 0)
        return kiln_fail_memory(error, IMAGE_STEP);
    column(&t, "/scene/text", H5T_NATIVE_UINT8, scene->text_size, 1, scene->text);
    column(&t, "/scene/sets", H5T_NATIVE_UINT8, scene->sets_size, 1, scene->sets);
    travel_state(&t, kiln_world_get_state(world));
    travel_modules(&t, world);
    travel_mesh(&t, kiln_world_mesh(world));
    travel_surfaces(&t, world);
    size_t size = 0;
    const char *image = t.status == KILN_OK ? look_at_image(t.file, &size) : NULL;
    if (image)
        t.status = write_image(t.context, path, image, size, error);
    else if (t.status == KILN_OK)
        t.status = kiln_fail_memory(error, IMAGE_STEP);
    H5Fclose(t.file);
    return t.status;
}

kiln_status kiln_checkpoint_write(kiln_world *world, const kiln_checkpoint_scene *scene,
                                  const char *path, kiln_error *error)
{
    KILN_TRY(check_finite(kiln_world_mesh(world), path, error));
    silence before = library_enter();
    kiln_status status = write_world(world, scene, path, error);
    library_leave(before);
    return status;
}

static kiln_status check_head(kiln_source *source, kiln_error *error)
{
    head h;
    if (kiln_source_left(source) < HEAD_SIZE || memcmp(source->at, magic, sizeof magic) != 0)
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1, "is not a Kiln checkpoint");
    memcpy(&h, source->at, sizeof h);
    h.version[sizeof h.version - 1] = 0;
    source->at += HEAD_SIZE;
    if (h.format != FORMAT)
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                         "is a checkpoint of another format (%llu, of Kiln %s); this is Kiln %s, "
                         "format %d",
                         (unsigned long long)h.format, h.version, kiln_version(), FORMAT);
    if (h.size != kiln_source_left(source))
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                         "is not whole: %zu of %llu bytes", kiln_source_left(source),
                         (unsigned long long)h.size);
    if (h.hash != kiln_hash_bytes(0, source->at, kiln_source_left(source)))
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                         "is damaged: its bytes are not those that were written");
    return KILN_OK;
}

/* Calls `body` with the file open. */
static kiln_status with_file(kiln_context *context, const char *path, bool changed,
                             kiln_status (*body)(traveller *t, void *user), void *user,
                             kiln_error *error)
{
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, context, path, error));
    kiln_status status = check_head(&source, error);
    if (status == KILN_OK) {
        silence before = library_enter();
        traveller t = {.context = context, .changed = changed, .path = path, .error = error};
        t.file = open_image(source.at, kiln_source_left(&source));
        if (t.file < 0)
            status = kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "cannot be opened by HDF5");
        else
            status = body(&t, user);
        if (t.file >= 0)
            H5Fclose(t.file);
        library_leave(before);
    }
    kiln_source_close(&source);
    return status;
}

static void read_text(traveller *t, const char *name, char **text, size_t *size)
{
    *size = array_rows(t, name, H5T_NATIVE_UINT8, 1);
    if (t->status != KILN_OK)
        return;
    *text = kiln_resize(t->context, NULL, 0, *size + 1);
    if (!*text) {
        t->status = kiln_fail_memory(t->error, *size + 1);
        return;
    }
    (*text)[*size] = 0;
    column(t, name, H5T_NATIVE_UINT8, *size, 1, *text);
}

static kiln_status read_scene(traveller *t, void *user)
{
    kiln_checkpoint_scene *scene = user;
    read_text(t, "/scene/text", &scene->text, &scene->text_size);
    read_text(t, "/scene/sets", &scene->sets, &scene->sets_size);
    return t->status;
}

kiln_status kiln_checkpoint_read_scene(kiln_context *context, const char *path,
                                       kiln_checkpoint_scene *out, kiln_error *error)
{
    kiln_checkpoint_scene scene = {0};
    kiln_status status = with_file(context, path, false, read_scene, &scene, error);
    if (status == KILN_OK)
        *out = scene;
    else
        kiln_checkpoint_scene_free(context, &scene);
    return status;
}

void kiln_checkpoint_scene_free(kiln_context *context, kiln_checkpoint_scene *scene)
{
    if (scene->text)
        kiln_release(context, scene->text, scene->text_size + 1);
    if (scene->sets)
        kiln_release(context, scene->sets, scene->sets_size + 1);
    *scene = (kiln_checkpoint_scene){0};
}

/* An empty mesh with the columns of `like`, with room for the rows the file has. */
static kiln_status shape_mesh(traveller *t, const kiln_mesh *like, kiln_mesh *mesh)
{
    size_t rows[KILN_WHERE_COUNT];
    char name[PATH_SIZE];
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &like->table[where];
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *field = &table->fields.data[i];
            if (!field->core)
                KILN_TRY(kiln_mesh_add_field(mesh, field->name, (kiln_where)where, field->type,
                                             field->components, field->rule, t->error));
        }
        kiln_type type;
        size_t width;
        column_shape(&table->fields.data[0], &type, &width);
        column_name(where, &table->fields.data[0], name);
        rows[where] = array_rows(t, name, number_type(type), width);
    }
    KILN_TRY(t->status);
    KILN_TRY(kiln_mesh_reserve(mesh, rows[KILN_ON_VERTEX], rows[KILN_ON_TET], rows[KILN_ON_FACE],
                               t->error));
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        mesh->table[where].used = mesh->table[where].live = (uint32_t)rows[where];
    size_t parts = array_rows(t, "/mesh/parts/stamp", H5T_NATIVE_UINT64, 1);
    KILN_TRY(t->status);
    KILN_TRY(kiln_array_reserve(mesh->context, &mesh->parts, parts + 1, t->error));
    memset(mesh->parts.data, 0, parts * sizeof *mesh->parts.data);
    mesh->parts.count = parts;
    return KILN_OK;
}

static kiln_status broken(const traveller *t, const char *what)
{
    return kiln_fail(t->error, KILN_ERR_INPUT, t->path, 0, -1, "its mesh is not sound: %s", what);
}

/* What the audit takes for granted, then the audit. World tets may be inverted by a rounding that
 * the step does not see, so their sign is not asked here. */
static kiln_status check_mesh(const traveller *t, kiln_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++)
        if (!kiln_tet_live(mesh, i) || mesh->info[i].part >= mesh->parts.count)
            return broken(t, "a tet is missing or in no part");
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (!kiln_vertex_live(mesh, v))
            return broken(t, "a vertex is missing");
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (!kiln_face_live(mesh, f))
            return broken(t, "a surface face is missing");
    kiln_world_policy policy = mesh->world_policy;
    mesh->world_policy = KILN_WORLD_TOLERATE;
    kiln_audit_report report;
    kiln_status status = kiln_mesh_audit(mesh, &report, t->error);
    mesh->world_policy = policy;
    KILN_TRY(status);
    return report.invariant ? broken(t, report.message) : KILN_OK;
}

/* Whether nothing but values has changed since the start: rows are those of `start`. */
static bool same_rows(const kiln_mesh *start, const kiln_mesh *mesh)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (start->table[where].used != mesh->table[where].used)
            return false;
    return memcmp(start->u, mesh->u, mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->u) == 0 &&
           memcmp(start->tet, mesh->tet, mesh->table[KILN_ON_TET].used * sizeof *mesh->tet) == 0;
}

/* Columns that the scene of the file did not have begin as in the mesh of the start. */
static kiln_status fill_lacking(const traveller *t, const kiln_mesh *start, kiln_mesh *mesh)
{
    char name[PATH_SIZE];
    bool same = same_rows(start, mesh);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < mesh->table[where].fields.count; i++) {
            kiln_field *field = &mesh->table[where].fields.data[i];
            const kiln_field *first = &start->table[where].fields.data[i];
            column_name(where, field, name);
            if (is_there(t, name))
                continue;
            if (!same && !kiln_change_may_be_zero(field->name))
                return kiln_fail(t->error, KILN_ERR_INPUT, t->path, 0, -1,
                                 "the changed scene needs what the run has not kept ('%s') since "
                                 "its matter flows or its mesh changes: plastic, remesh and "
                                 "functions of the place must be there from the start",
                                 field->name);
            if (same && mesh->table[where].used > 0)
                memcpy(field->data, first->data, mesh->table[where].used * (size_t)field->stride);
        }
    return KILN_OK;
}

static kiln_status read_mesh(traveller *t, kiln_world *world, kiln_mesh *mesh)
{
    KILN_TRY(shape_mesh(t, kiln_world_mesh(world), mesh));
    travel_mesh(t, mesh);
    KILN_TRY(t->status);
    if (t->changed)
        KILN_TRY(fill_lacking(t, kiln_world_mesh(world), mesh));
    return check_mesh(t, mesh);
}

static kiln_status read_world(traveller *t, void *user)
{
    kiln_world *world = user;
    kiln_world_state state = *kiln_world_get_state(world);
    travel_state(t, &state);
    KILN_TRY(t->status);
    kiln_mesh *mesh;
    KILN_TRY(kiln_mesh_create(t->context, &mesh, t->error));
    kiln_status status = read_mesh(t, world, mesh);
    if (status != KILN_OK) {
        kiln_mesh_destroy(mesh);
        return status;
    }
    kiln_error why = {0};
    status = kiln_world_replace_mesh(world, mesh, &why);
    if (status != KILN_OK)
        return kiln_fail(t->error, status, t->path, 0, -1, "%s", why.message);
    travel_surfaces(t, world);
    travel_modules(t, world);
    *kiln_world_get_state(world) = state;
    return t->status;
}

kiln_status kiln_checkpoint_read(const char *path, kiln_world *world, kiln_error *error)
{
    return with_file(kiln_world_mesh(world)->context, path, false, read_world, world, error);
}

static kiln_status read_time(traveller *t, void *user)
{
    number(t, "/state/time", user);
    return t->status;
}

/* The world of the old scene as it began. What it has to say was said when that run began. */
static kiln_status make_before(kiln_context *context, const char *scene,
                               kiln_checkpoint_scene *before, kiln_scene_file **file,
                               kiln_world **world, kiln_error *error)
{
    kiln_log_callback log = context->log;
    context->log = NULL;
    kiln_status status = kiln_checkpoint_scene_load(context, scene, before, file, error);
    if (status == KILN_OK)
        status = kiln_world_create(kiln_scene_file_scene(*file), world, error);
    context->log = log;
    return status;
}

static kiln_status compare(const char *path, const char *scene, kiln_checkpoint_scene *before,
                           const kiln_world *world, kiln_scene_file **file, kiln_error *error)
{
    kiln_context *context = kiln_world_scene(world)->context;
    kiln_world *old = NULL;
    kiln_error inner = {0};
    double time = 0.0;
    KILN_TRY(with_file(context, path, false, read_time, &time, error));
    kiln_status status = make_before(context, scene, before, file, &old, &inner);
    if (status == KILN_OK)
        status = kiln_world_check_change(old, world, time, error);
    else
        kiln_fail(error, status, path, 0, -1, "the scene it was written with cannot be made: %s",
                  inner.message);
    kiln_world_destroy(old);
    return status;
}

kiln_status kiln_checkpoint_read_changed(const char *path, kiln_checkpoint_scene *before,
                                         const char *scene, kiln_world *world, kiln_error *error)
{
    kiln_context *context = kiln_world_mesh(world)->context;
    kiln_scene_file *file = NULL;
    kiln_status status = compare(path, scene, before, world, &file, error);
    if (status == KILN_OK)
        status = with_file(context, path, true, read_world, world, error);
    if (status == KILN_OK)
        status = kiln_world_take_change(world, kiln_scene_file_scene(file), error);
    kiln_scene_file_destroy(file);
    return status;
}
