#include "app/aside.h"
#include "app/command.h"
#include "app/film_list.h"
#include "app/plot_panel.h"
#include "app/plot_table.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PANELS = 32, NAME_SIZE = 128 };

static const unsigned palette[] = {0xc2573a, 0x2f6f9f, 0x5b8c4a, 0x8d6a9f, 0xd79b2c, 0x3aa39a,
                                   0x8a6a4a, 0xb0567a, 0x6d7780, 0x9fb04c, 0x4c5fa8, 0xc7b299};
static const unsigned dark = 0x2b2f36;

/* What the columns of probes.csv measure, by what follows the name of a thing. */
static const char *unit_of_part(const char *part)
{
    static const struct {
        const char *part, *unit;
    } rows[] = {{".place", "m"},      {".centre", "m"},   {".low", "m"},      {".high", "m"},
                {".velocity", "m/s"}, {".force", "N"},    {".torque", "N m"}, {".volume", "m^3"},
                {".e_kinetic", "J"},  {".e_elastic", "J"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].part);
        if (strncmp(part, rows[i].part, length) == 0 && (part[length] == 0 || part[length] == '.'))
            return rows[i].unit;
    }
    return "";
}

/* What the columns of stats.csv measure, by the beginning of their names. */
static const char *unit_of(const char *column)
{
    const char *dot = strchr(column, '.');
    if (dot)
        return unit_of_part(dot);
    static const struct {
        const char *start, *unit;
    } rows[] = {{"time", "s"},   {"dt", "s"},        {"t_", "s"},
                {"e_", "J"},     {"volume", "m^3"},  {"rest_volume", "m^3"},
                {"gained", "J"}, {"by_splits", "J"}, {"foreseen", "J"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(column, rows[i].start, strlen(rows[i].start)) == 0)
            return rows[i].unit;
    bool axis = strlen(column) == 2 && column[1] >= 'x' && column[1] <= 'z';
    if (axis && (column[0] == 'r' || column[0] == 'f'))
        return "N";
    return axis && column[0] == 'p' ? "kg m/s" : axis && column[0] == 'l' ? "kg m^2/s" : "";
}

typedef struct plot {
    kiln_plot_table table;
    kiln_plot_panel panels[MOST_PANELS];
    size_t count;
    const char *x_title;
    const double *across;
    bool rises; /* across, from row to row */
    bool points, logarithmic;
} plot;

static bool is_zero(const kiln_plot_table *table, const kiln_plot_panel *panel)
{
    for (size_t s = 0; s < panel->count; s++)
        for (size_t i = 0; i < table->rows; i++)
            if (panel->series[s].values[i] != 0.0 && !isnan(panel->series[s].values[i]))
                return false;
    return true;
}

static bool has_values(const kiln_plot_table *table, const double *values)
{
    for (size_t i = 0; values && i < table->rows; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

static void add_series(kiln_plot_panel *panel, const char *label, const double *values,
                       unsigned color)
{
    if (panel->count < KILN_PLOT_MAX_SERIES)
        panel->series[panel->count++] = (kiln_plot_series){label, values, color};
}

/* Sum of columns, row by row; nothing where one has an empty cell. */
static kiln_status add_sum(plot *p, kiln_plot_panel *panel, const char *label, kiln_error *error)
{
    double *sum = kiln_arena_array(&p->table.arena, double, p->table.rows);
    if (!sum)
        return kiln_fail_memory(error, p->table.rows * sizeof *sum);
    for (size_t i = 0; i < p->table.rows; i++) {
        sum[i] = 0.0;
        for (size_t s = 0; s < panel->count; s++)
            sum[i] += panel->series[s].values[i];
    }
    add_series(panel, label, sum, dark);
    return KILN_OK;
}

/* What a step took beside the phases that are told apart. */
static kiln_status add_rest(plot *p, kiln_plot_panel *panel, const double *whole, kiln_error *error)
{
    double *rest = kiln_arena_array(&p->table.arena, double, p->table.rows);
    if (!rest)
        return kiln_fail_memory(error, p->table.rows * sizeof *rest);
    for (size_t i = 0; i < p->table.rows; i++) {
        rest[i] = isnan(whole[i]) ? 0.0 : whole[i];
        for (size_t s = 0; s < panel->count; s++)
            rest[i] -= fmax(0.0, panel->series[s].values[i]);
        rest[i] = fmax(rest[i], 0.0);
    }
    add_series(panel, "other", rest, 0xcfd4da);
    return KILN_OK;
}

static kiln_status add_ratio(plot *p, kiln_plot_panel *panel, kiln_error *error)
{
    const double *volume = kiln_plot_table_find(&p->table, "volume");
    const double *rest = kiln_plot_table_find(&p->table, "rest_volume");
    double *ratio = kiln_arena_array(&p->table.arena, double, p->table.rows);
    if (!ratio)
        return kiln_fail_memory(error, p->table.rows * sizeof *ratio);
    for (size_t i = 0; i < p->table.rows; i++)
        ratio[i] = volume && rest && rest[i] != 0.0 ? volume[i] / rest[i] : NAN;
    if (has_values(&p->table, ratio))
        add_series(panel, "volume", ratio, palette[1]);
    return KILN_OK;
}

/* What is shown without being asked for. "a=b c" draws columns a (called b) and c. */
static const struct default_panel {
    const char *title, *unit, *columns;
    bool stacked, from_zero, total, ratio, unless_zero;
    const char *across, *needs; /* a column of its own; only where this one has numbers, not zero */
} default_panels[] = {
    {"Energy", "J", "e_kinetic=kinetic e_elastic=elastic e_contact=contact e_load=potential",
     .total = true},
    {"Momentum", "kg m/s", "px py pz", .total = false},
    {"Angular momentum", "kg m^2/s", "lx ly lz", .total = false},
    {"Volume / rest volume", "", "", .ratio = true},
    {"Mesh", "", "tets vertices", .from_zero = true},
    {"Quality", "", "q_min=worst q_mean=mean", .from_zero = true},
    {"Tets that flowed or changed", "", "flowed=flowed changed=remeshed", .from_zero = true,
     .unless_zero = true},
    {"Changes by energy", "", "splits flips moves collapses", .from_zero = true,
     .unless_zero = true},
    {"Energy gained by them", "J", "gained", .from_zero = true, .unless_zero = true},
    {"Energy against vertices", "J", "e_elastic=elastic", .across = "vertices", .needs = "gained"},
    {"Iterations per step", "", "newton=Newton linear=linear relax=relaxation rejected=rejected",
     .from_zero = true},
    {"Time step", "s", "dt", .from_zero = true},
    {"Time per step", "s",
     "t_assemble=assemble t_factor=factor t_solve=solve t_contact=contact t_plastic=plastic "
     "t_size=size t_remesh=remesh t_transfer=transfer t_io=output",
     .stacked = true},
    {"Contacts", "", "contacts", .from_zero = true, .unless_zero = true},
    {"Smallest gap", "m", "gap_min", .from_zero = true, .unless_zero = true},
    {"Force of holds", "N", "rx ry rz", .unless_zero = true},
    {"Force of obstacles", "N", "fx fy fz", .unless_zero = true},
};

/* Cuts the next "column=label" off `*at`; false: none left. */
static bool next_column(const char **at, char column[64], char label[64])
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " "), name = strcspn(*at, "= ");
    if (length == 0)
        return false;
    snprintf(column, 64, "%.*s", (int)name, *at);
    bool named = name < length;
    snprintf(label, 64, "%.*s", (int)(named ? length - name - 1 : name),
             *at + (named ? name + 1 : 0));
    *at += length;
    return true;
}

static kiln_status keep(plot *p, const char *text, const char **out, kiln_error *error)
{
    size_t size = strlen(text) + 1;
    char *copy = kiln_arena_alloc(&p->table.arena, size);
    if (!copy)
        return kiln_fail_memory(error, size);
    memcpy(copy, text, size);
    *out = copy;
    return KILN_OK;
}

/* False: the run has nothing to show there. */
static bool give_across(const plot *p, kiln_plot_panel *panel, const struct default_panel *row)
{
    const double *needed = kiln_plot_table_find(&p->table, row->needs);
    kiln_plot_panel only = {.series = {{.values = needed}}, .count = 1};
    panel->x_title = row->across;
    panel->across = kiln_plot_table_find(&p->table, row->across);
    return has_values(&p->table, needed) && has_values(&p->table, panel->across) &&
           !is_zero(&p->table, &only);
}

static kiln_status add_default(plot *p, const struct default_panel *row, kiln_error *error)
{
    kiln_plot_panel panel = {.title = row->title,
                             .unit = row->unit,
                             .stacked = row->stacked,
                             .from_zero = row->from_zero};
    char column[64], label[64];
    for (const char *at = row->columns; next_column(&at, column, label);) {
        const double *values = kiln_plot_table_find(&p->table, column);
        const char *kept = NULL;
        if (!has_values(&p->table, values))
            continue;
        KILN_TRY(keep(p, label, &kept, error));
        add_series(&panel, kept, values, palette[panel.count]);
    }
    if (row->ratio)
        KILN_TRY(add_ratio(p, &panel, error));
    const double *whole = kiln_plot_table_find(&p->table, "t_step");
    if (row->stacked && has_values(&p->table, whole))
        KILN_TRY(add_rest(p, &panel, whole, error));
    if (row->total && panel.count > 1)
        KILN_TRY(add_sum(p, &panel, "total", error));
    if (row->across && !give_across(p, &panel, row))
        return KILN_OK;
    if (panel.count > 0 && !(row->unless_zero && is_zero(&p->table, &panel)))
        p->panels[p->count++] = panel;
    return KILN_OK;
}

static kiln_status find_column(const plot *p, const char *name, const char *place,
                               const double **out, kiln_error *error)
{
    *out = kiln_plot_table_find(&p->table, name);
    if (*out)
        return KILN_OK;
    const char *nearest =
        kiln_nearest_name(name, p->table.names, p->table.columns, sizeof p->table.names[0]);
    if (nearest)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "there is no column '%s'; did you mean '%s'?", name, nearest);
    return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                     "there is no column '%s'; the first are %s, %s, %s (--list names all)", name,
                     p->table.names[0], p->table.names[p->table.columns > 1 ? 1 : 0],
                     p->table.names[p->table.columns > 2 ? 2 : 0]);
}

static kiln_status add_column(plot *p, kiln_plot_panel *panel, const char *name, kiln_error *error)
{
    const double *values;
    KILN_TRY(find_column(p, name, "columns", &values, error));
    if (panel->count == KILN_PLOT_MAX_SERIES)
        return kiln_fail(error, KILN_ERR_LIMIT, "columns", 0, -1, "at most %d in one diagram",
                         (int)KILN_PLOT_MAX_SERIES);
    const char *kept = NULL;
    KILN_TRY(keep(p, name, &kept, error));
    if (panel->count == 0)
        panel->title = kept;
    panel->unit = panel->count == 0 || strcmp(panel->unit, unit_of(kept)) == 0 ? unit_of(kept) : "";
    add_series(panel, kept, values, palette[panel->count]);
    return KILN_OK;
}

/* A column, or "punch.force": the three that end in .x, .y and .z. */
static kiln_status add_named(plot *p, kiln_plot_panel *panel, const char *name, kiln_error *error)
{
    char part[NAME_SIZE + 2];
    snprintf(part, sizeof part, "%.*s.x", NAME_SIZE - 1, name);
    if (kiln_plot_table_find(&p->table, name) || !kiln_plot_table_find(&p->table, part))
        return add_column(p, panel, name, error);
    for (char axis = 'x'; axis <= 'z'; axis++) {
        part[strlen(part) - 1] = axis;
        KILN_TRY(add_column(p, panel, part, error));
    }
    return KILN_OK;
}

/* "a,b+c": a panel of a, and one of b and c. */
static kiln_status add_asked(plot *p, const char *text, kiln_error *error)
{
    kiln_plot_panel panel = {0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",+");
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1), at);
        KILN_TRY(add_named(p, &panel, name, error));
        at += length;
        if (*at == '+')
            continue;
        if (p->count == MOST_PANELS)
            return kiln_fail(error, KILN_ERR_LIMIT, "columns", 0, -1, "at most %d diagrams",
                             (int)MOST_PANELS);
        if (panel.count > 1)
            panel.title = "";
        p->panels[p->count++] = panel;
        panel = (kiln_plot_panel){0};
        if (*at == 0)
            return KILN_OK;
    }
}

static void list_columns(const plot *p)
{
    for (size_t i = 0; i < p->table.columns; i++) {
        const char *unit = unit_of(p->table.names[i]);
        printf("%s%s%s\n", p->table.names[i], unit[0] ? "  " : "", unit);
    }
}

static kiln_status choose_across(plot *p, const char *asked, kiln_error *error)
{
    p->x_title = asked ? asked : kiln_plot_table_find(&p->table, "time") ? "time" : "step";
    KILN_TRY(find_column(p, p->x_title, "--x", &p->across, error));
    size_t row = 0, numbers = 0;
    for (size_t i = 0; i < p->table.rows; i++) {
        if (row == 0 && (isnan(p->across[i]) || (i > 0 && p->across[i] < p->across[i - 1])))
            row = i + 1;
        numbers += !isnan(p->across[i]);
    }
    p->rises = row == 0;
    if (numbers == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "--x", 0, -1, "column '%s' is empty", p->x_title);
    if (!p->rises && !asked)
        return kiln_fail(error, KILN_ERR_INPUT, "--x", 0, -1,
                         "column '%s' does not rise from row to row (row %zu)", p->x_title, row);
    return KILN_OK;
}

static const double panel_width = 560.0, panel_height = 250.0, border = 14.0;

static void measure(const plot *p, double *width, double *height)
{
    size_t columns = p->count > 1 ? 2 : 1, lines = (p->count + columns - 1) / columns;
    *width = 2.0 * border + (double)columns * panel_width;
    *height = 2.0 * border + (double)lines * panel_height;
}

static kiln_status draw(plot *p, const kiln_plot_canvas *canvas, kiln_error *error)
{
    double width, height;
    measure(p, &width, &height);
    canvas->box(canvas->self, 0.0, 0.0, width, height, 0xffffff);
    size_t columns = p->count > 1 ? 2 : 1;
    for (size_t i = 0; i < p->count; i++) {
        kiln_plot_frame frame = {.x = border + (double)(i % columns) * panel_width,
                                 .y = border + (double)(i / columns) * panel_height,
                                 .width = panel_width,
                                 .height = panel_height,
                                 .x_title = p->x_title,
                                 .x_unit = unit_of(p->x_title),
                                 .across = p->across,
                                 .rises = p->rises,
                                 .points = p->points,
                                 .logarithmic = p->logarithmic,
                                 .rows = p->table.rows};
        kiln_plot_panel panel = p->panels[i];
        if (panel.across) {
            frame.across = panel.across;
            frame.x_title = panel.x_title;
            frame.x_unit = unit_of(panel.x_title);
            frame.rises = false;
        }
        panel.stacked = panel.stacked && p->rises && !p->logarithmic; /* areas that go back would
                                                                         cover each other */
        KILN_TRY(kiln_plot_panel_draw(canvas, &panel, &frame, &p->table.arena, error));
    }
    return KILN_OK;
}

static kiln_status write_svg(kiln_context *context, plot *p, const char *path, kiln_error *error)
{
    double width, height;
    measure(p, &width, &height);
    kiln_aside aside;
    KILN_TRY(kiln_aside_open(&aside, context, path, error));
    kiln_plot_canvas canvas = kiln_plot_svg_begin(aside.file, width, height);
    kiln_status drawn = draw(p, &canvas, error);
    kiln_plot_svg_end(&canvas);
    if (drawn == KILN_OK)
        return kiln_aside_commit(&aside, error);
    kiln_aside_discard(&aside);
    return drawn;
}

static kiln_status write_png(kiln_context *context, plot *p, const char *path, kiln_error *error)
{
    double width, height;
    measure(p, &width, &height);
    kiln_image image;
    KILN_TRY(kiln_image_create(context, (int)width * KILN_PLOT_PIXELS,
                               (int)height * KILN_PLOT_PIXELS, &image, error));
    size_t pixels = (size_t)image.width * (size_t)image.height;
    kiln_plot_picture picture = {&image, kiln_arena_array(&p->table.arena, uint8_t, pixels)};
    kiln_status status = picture.cover ? KILN_OK : kiln_fail_memory(error, pixels);
    if (status == KILN_OK) {
        memset(picture.cover, 0, pixels);
        kiln_plot_canvas canvas = kiln_plot_picture_begin(&picture);
        status = draw(p, &canvas, error);
    }
    if (status == KILN_OK)
        status = kiln_png_write(&image, path, error);
    kiln_image_destroy(&image);
    return status;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static kiln_status make_plot(kiln_context *context, const kiln_arguments *arguments, plot *p,
                             const char *path, kiln_error *error)
{
    const char *asked = kiln_arguments_get(arguments, "columns");
    p->points = kiln_arguments_has(arguments, "points");
    p->logarithmic = kiln_arguments_has(arguments, "log");
    KILN_TRY(choose_across(p, kiln_arguments_get(arguments, "x"), error));
    bool any = asked || arguments->operand_count > 1;
    if (asked)
        KILN_TRY(add_asked(p, asked, error));
    for (int i = 1; i < arguments->operand_count; i++)
        KILN_TRY(add_asked(p, arguments->operands[i], error));
    for (size_t i = 0; !any && i < sizeof default_panels / sizeof default_panels[0]; i++)
        KILN_TRY(add_default(p, &default_panels[i], error));
    if (p->count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, arguments->operands[0], 0, -1,
                         "there are none of the usual columns; name some with --columns");
    KILN_TRY(ends_in(path, ".png") ? write_png(context, p, path, error)
                                   : write_svg(context, p, path, error));
    printf("%s: %zu steps\n", path, p->table.rows);
    return KILN_OK;
}

/* Beside stats.csv; runs of earlier versions have none. */
static kiln_status add_probes(kiln_context *context, plot *p, const char *path, kiln_error *error)
{
    kiln_plot_table probes;
    if (access(path, F_OK) != 0)
        return KILN_OK;
    KILN_TRY(kiln_plot_table_read(context, path, &probes, error));
    kiln_status status = kiln_plot_table_join(&p->table, &probes, "step", error);
    kiln_plot_table_free(&probes);
    return status;
}

static kiln_status run_plot(kiln_context *context, const kiln_arguments *arguments,
                            kiln_error *error)
{
    const char *from = arguments->operands[0], *output = kiln_arguments_get(arguments, "output");
    char csv[1100], path[1100];
    KILN_TRY(kiln_film_check_operand(from, error));
    bool folder = kiln_film_is_folder(from);
    size_t length = strlen(from);
    const char *gap = length > 0 && from[length - 1] == '/' ? "" : "/";
    snprintf(csv, sizeof csv, folder ? "%.1000s%sstats.csv" : "%.1000s", from, gap);
    if (!output && !folder)
        return kiln_fail(error, KILN_ERR_INPUT, "plot", 0, -1, "where to? Say -o plot.svg");
    snprintf(path, sizeof path, output ? "%.1000s" : "%.1000s%splot.svg", output ? output : from,
             gap);
    if (!ends_in(path, ".svg") && !ends_in(path, ".png"))
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "the name must end in .svg or .png");
    plot *p = kiln_resize(context, NULL, 0, sizeof *p);
    if (!p)
        return kiln_fail_memory(error, sizeof *p);
    memset(p, 0, sizeof *p);
    kiln_status status = kiln_plot_table_read(context, csv, &p->table, error);
    if (status == KILN_OK) {
        snprintf(csv, sizeof csv, "%.1000s%sprobes.csv", from, gap);
        if (folder)
            status = add_probes(context, p, csv, error);
        if (status == KILN_OK && kiln_arguments_has(arguments, "list"))
            list_columns(p);
        else if (status == KILN_OK)
            status = make_plot(context, arguments, p, path, error);
        kiln_plot_table_free(&p->table);
    }
    kiln_release(context, p, sizeof *p);
    return status;
}

int kiln_command_plot(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "FILE", "an .svg or .png file (default: plot.svg in the run's folder)"},
        {"columns", 'c', "NAMES",
         "columns of stats.csv and probes.csv: a,b for two diagrams, a+b in one diagram"},
        {"list", 0, NULL, "prints the names of the columns and their units instead"},
        {"x", 0, "NAME", "column along the horizontal axis (default: time)"},
        {"points", 0, NULL, "a dot for each row instead of curves"},
        {"log", 0, NULL, "both axes logarithmic; what is not positive is left out"}};
    static const kiln_usage usage = {
        .command = "plot",
        .synopsis = "RUN|FILE.csv [COLUMN...] [-o FILE.svg|FILE.png] [--columns a,b+c] [--x NAME]",
        .what =
            "Draws the statistics of a run: energies, momentum, volume, mesh, iterations, "
            "times;\nor what obstacles, holds, bodies and points did (probes.csv). 'punch.force' "
            "stands for\npunch.force.x, .y and .z in one diagram.",
        .example = "  kiln plot out/bounce\n"
                   "  kiln plot out/bounce --list\n"
                   "  kiln plot out/press punch.force punch.place.z+block.centre.z\n"
                   "  kiln plot out/bounce -o energy.png --columns e_kinetic+e_elastic,dt\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = MOST_PANELS + 1};
    return kiln_command_frame(&usage, argc, argv, run_plot);
}
