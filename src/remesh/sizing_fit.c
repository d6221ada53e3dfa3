/* Sizes that a number of tets can afford. */
#include "remesh/sizing_impl.h"

/* Tets that fill a unit of volume in the metric when edges have length 1 in the mean. */
static const double TETS_A_UNIT = 12.0;

typedef struct fit {
    kiln_sizing *sizing;
    const double *coarsest; /* [vertex] m */
    double *volume;         /* [vertex] its share of the tets round it */
} fit;

static void share_volumes(fit *f)
{
    const kiln_sizing *s = f->sizing;
    for (uint32_t t = 0; t < s->tet_rows; t++) {
        if (!kiln_sizing_live(s, t))
            continue;
        const uint32_t *v = s->tet[t].v;
        double volume =
            fabs(kiln_tet_volume(s->point[v[0]], s->point[v[1]], s->point[v[2]], s->point[v[3]]));
        for (int k = 0; k < 4; k++)
            f->volume[v[k]] += 0.25 * volume;
    }
}

static kiln_sym3 coarsened(const fit *f, uint32_t v, double factor)
{
    kiln_sym3 m = kiln_sym3_scale(f->sizing->metric[v], 1.0 / (factor * factor));
    return factor > 1.0 ? kiln_metric_intersect(m, kiln_metric_from_size(f->coarsest[v])) : m;
}

static double count_units(const fit *f, double factor)
{
    double units = 0.0;
    for (uint32_t v = 0; v < f->sizing->vertex_rows; v++)
        if (f->volume[v] > 0.0 && f->sizing->metric[v].xx > 0.0)
            units += f->volume[v] * sqrt(kiln_sym3_det(coarsened(f, v, factor)));
    return units;
}

/* The least factor that is enough; the largest where none is. */
static double find_factor(const fit *f, double units)
{
    enum { HALVINGS = 12 };
    double low = 1.0, high = 32.0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        if (count_units(f, middle) > units)
            low = middle;
        else
            high = middle;
    }
    return high;
}

kiln_status kiln_sizing_fit(kiln_sizing *sizing, const double *coarsest, double edge, double tets,
                            kiln_error *error)
{
    const double units = tets * edge * edge * edge / TETS_A_UNIT;
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    fit f = {sizing, coarsest, kiln_sizing_zeros(sizing, double, sizing->vertex_rows)};
    if (!f.volume)
        return kiln_fail_memory(error, sizing->vertex_rows * sizeof *f.volume);
    share_volumes(&f);
    if (count_units(&f, 1.0) > units) {
        double factor = find_factor(&f, units);
        for (uint32_t v = 0; v < sizing->vertex_rows; v++)
            if (f.volume[v] > 0.0 && sizing->metric[v].xx > 0.0)
                sizing->metric[v] = coarsened(&f, v, factor);
    }
    kiln_arena_release(&sizing->arena, mark);
    return KILN_OK;
}

static double tet_units(const kiln_sizing *s, const uint32_t v[4])
{
    double log_det = 0.0; /* of the metric in the middle, which is interpolated by logarithms */
    for (int k = 0; k < 4; k++)
        log_det += 0.25 * (s->metric[v[k]].xx + s->metric[v[k]].yy + s->metric[v[k]].zz);
    double volume =
        fabs(kiln_tet_volume(s->point[v[0]], s->point[v[1]], s->point[v[2]], s->point[v[3]]));
    return volume * exp(0.5 * log_det);
}

double kiln_sizing_tets(const kiln_sizing *sizing)
{
    double units = 0.0;
    for (uint32_t t = 0; t < sizing->tet_rows; t++)
        if (kiln_sizing_live(sizing, t))
            units += tet_units(sizing, sizing->tet[t].v);
    return TETS_A_UNIT * units;
}
