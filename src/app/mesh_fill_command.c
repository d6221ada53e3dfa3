#include "app/mesh_command.h"
#include "app/mesh_table.h"
#include "base/clock.h"
#include "io/fill.h"
#include "io/format.h"

#include <string.h>

static kiln_status read_number(const kiln_arguments *arguments, const char *name, double *value,
                               kiln_error *error)
{
    const char *text = kiln_arguments_get(arguments, name);
    char place[32];
    snprintf(place, sizeof place, "--%s", name);
    if (!text)
        return KILN_OK;
    KILN_TRY(kiln_numbers_parse(text, 1, value, place, error));
    if (*value < 0.0)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "must not be negative, got %g",
                         *value);
    return KILN_OK;
}

static kiln_status read_angle(const kiln_arguments *arguments, const char *name, double most,
                              double *degrees, kiln_error *error)
{
    char place[32];
    snprintf(place, sizeof place, "--%s", name);
    KILN_TRY(read_number(arguments, name, degrees, error));
    if (*degrees > most)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "must be at most %g degrees%s, got %g", most,
                         most < 90.0 ? ", which the regular tet has" : "", *degrees);
    return KILN_OK;
}

/* "auto": the preset. */
static kiln_status read_envelope(const kiln_arguments *arguments, kiln_fill_options *fill,
                                 kiln_error *error)
{
    const char *text = kiln_arguments_get(arguments, "envelope");
    if (text && strcmp(text, "auto") == 0) {
        fill->envelope = KILN_FILL_ENVELOPE_PRESET;
        return KILN_OK;
    }
    KILN_TRY(read_number(arguments, "envelope", &fill->envelope, error));
    if (text && fill->envelope == 0.0)
        return kiln_fail(error, KILN_ERR_INPUT, "--envelope", 0, -1,
                         "must be positive, or auto, got %s", text);
    return KILN_OK;
}

static kiln_status read_options(const kiln_arguments *arguments, kiln_fill_options *fill,
                                kiln_error *error)
{
    double most = 0.0;
    *fill = kiln_fill_default_options();
    KILN_TRY(read_number(arguments, "size", &fill->size, error));
    KILN_TRY(read_number(arguments, "edge", &fill->max_edge, error));
    KILN_TRY(read_angle(arguments, "dihedral", 70.5, &fill->min_dihedral, error));
    KILN_TRY(read_angle(arguments, "patch-angle", 180.0, &fill->patch_angle, error));
    KILN_TRY(read_number(arguments, "weld", &fill->weld, error));
    KILN_TRY(read_envelope(arguments, fill, error));
    KILN_TRY(read_number(arguments, "most-tets", &most, error));
    KILN_TRY(read_number(arguments, "seconds", &fill->seconds, error));
    fill->most_tets = (size_t)fmin(most, 1e9);
    fill->keep_surface = !kiln_arguments_has(arguments, "refine-surface");
    fill->regions = kiln_arguments_has(arguments, "regions");
    fill->exact = kiln_arguments_has(arguments, "exact");
    if (fill->exact && fill->envelope != 0.0)
        return kiln_fail(error, KILN_ERR_INPUT, "--exact", 0, -1,
                         "--exact and --envelope exclude each other");
    if (fill->regions && fill->envelope != 0.0)
        return kiln_fail(error, KILN_ERR_INPUT, "--regions", 0, -1,
                         "--regions and --envelope exclude each other");
    return KILN_OK;
}

/* Time of all since the program began, with files and with what TetGen took. */
static void print_summary(const kiln_fill_report *r, const kiln_soup *mesh)
{
    char tets[32], points[32];
    double other = kiln_children_seconds();
    printf("%s tets, %s points, worst quality %.4g, %.2f CPU s",
           kiln_grouped(mesh->tets.count, tets), kiln_grouped(mesh->points.count, points), r->worst,
           kiln_processor_seconds() + other);
    if (other > 0.0)
        printf(", %.2f of them TetGen's", other);
    printf("\n");
}

/* What was done is the command's answer; only what is wrong goes to stderr. */
static void print_line(void *user, kiln_log_level level, const char *message)
{
    (void)user;
    if (level != KILN_LOG_DEBUG)
        printf("%s\n", message);
}

static kiln_status fill_and_write(kiln_context *context, const kiln_arguments *arguments,
                                  const kiln_soup *surface, const kiln_fill_options *fill,
                                  kiln_error *error)
{
    const char *path = arguments->operands[0];
    kiln_format_options options;
    kiln_fill_report report;
    kiln_soup soup;
    KILN_TRY(kiln_encoding_options(arguments, &options, error));
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_fill_surface(surface, path, fill, &soup, &report, error));
    context->log = print_line;
    kiln_fill_report_log(context, path, &report);
    context->log = NULL;
    kiln_status status = kiln_soup_write(context, arguments->operands[1], &options, &soup, error);
    if (status == KILN_OK)
        print_summary(&report, &soup);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status run_fill(kiln_context *context, const kiln_arguments *arguments,
                            kiln_error *error)
{
    kiln_fill_options fill;
    kiln_soup surface;
    KILN_TRY(read_options(arguments, &fill, error));
    kiln_soup_init(&surface, context);
    KILN_TRY(kiln_soup_read(context, arguments->operands[0], NULL, &surface, error));
    kiln_status status = fill_and_write(context, arguments, &surface, &fill, error);
    kiln_soup_free(&surface);
    return status;
}

int kiln_command_mesh_fill(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"size", 0, "LENGTH", "edges of about this length, on the surface too"},
        {"edge", 0, "LENGTH", "about this long inside alone (default: as the surface has them)"},
        {"weld", 0, "LENGTH",
         "points this close are one (default: 1e-5 of the size, on open edges alone)"},
        {"envelope", 0, "LENGTH",
         "stay this close to a surface that is open or broken (auto: 1/200 of the size)"},
        {"exact", 0, NULL, "refuse a surface that crosses itself (default: an envelope)"},
        {"regions", 0, NULL, "a shell in a shell is a region of its own (default: a cavity)"},
        {"patch-angle", 0, "DEGREES", "number the patches between edges that turn by more"},
        {"dihedral", 0, "DEGREES", "smallest dihedral angle to ask for (default: 10)"},
        {"refine-surface", 0, NULL, "new points on the surface are welcome"},
        {"most-tets", 0, "N", "of an envelope's lattice (default: 2000000)"},
        {"seconds", 0, "TIME", "give up after this long (default: 600)"},
        {"ascii", 0, NULL, "write text"},
        {"binary", 0, NULL, "write binary"},
        {"format", 0, "NAME", "write this format whatever the file's name says"}};
    static const kiln_usage usage = {
        .command = "mesh fill",
        .synopsis = "SURFACE OUT [options]",
        .what =
            "Fills a surface with tets: mended and exactly, by TetGen as a separate program, or\n"
            "within an envelope.",
        .example = "  kiln mesh fill cow.stl cow.mesh --size 0.05\n"
                   "  kiln mesh fill scan.obj scan.mesh --envelope 0.002\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 2,
        .most_operands = 2,
        .details = kiln_list_formats};
    return kiln_command_frame(&usage, argc, argv, run_fill);
}
