/* Adaptive stiffness: how strongly surfaces repel each other where no number for it is good,
 * because some are pressed a thousand times as hard as others.
 *
 * The pressure of a pair is hardness * stiffness * modulus * -b'(s). Where s stays small Newton
 * walks through ever harder forces to find a gap that nobody sees; the same pressure at s = WANTED
 * is that of a hardness larger by b'(s) / b'(WANTED). So the forces that balance say what it must
 * be (Li et al. 2020 choose theirs by the balance of gradients, and double it while gaps shrink).
 * It is one number for all: who is pressed less lies nearer to the reach. It falls again by half a
 * step while all is far apart.
 *
 * Where nobody asked for it (`adaptive`) it adapts while steps are short because some have failed,
 * and where surfaces would end in contact: a blow that takes the matter far beyond its modulus. */
#include "contact/repulsion.h"
#include "step/collide_impl.h"

/* Of the reach: at two matrices in turn, and at the end of a solve; what is asked for then; and
 * beyond what it may be less. */
#define NEAR         0.05
#define LEAST        0.02
#define WANTED       0.3
#define FAR          0.6
#define CONTACT      1e-3  /* what is nearer at the end of a solve is as good as in contact */
#define MOST_AT_ONCE 100.0 /* a step that was cut short is not what is pressed in the end */
#define HARDEST      1e9

double kiln_collide_nearest(kiln_collide *c, const double *x)
{
    double least = 1.0;
    kiln_collide_measure(c, x);
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        least = fmin(least, c->distance.data[i].d / kiln_collide_pair(c, i)->reach);
    }
    return least;
}

static void harden(kiln_collide *c, const double *x, double s)
{
    double times = kiln_repulsion_at(s).slope / kiln_repulsion_at(WANTED).slope;
    c->hardness = fmin(c->hardness * fmin(times, MOST_AT_ONCE), HARDEST);
    c->state++;
    c->solve++;
    kiln_collide_measure(c, x);
}

void kiln_collide_look_harder(kiln_collide *c, const double *x)
{
    double before = c->nearest, now = kiln_collide_nearest(c, x);
    c->nearest = now;
    if (before < NEAR && now < NEAR && !c->firm) {
        harden(c, x, now);
        c->nearest = 1.0;
    }
}

bool kiln_collide_must_harden(kiln_collide *c, const double *x)
{
    if (c->firm || c->hardness >= HARDEST)
        return false;
    double now = kiln_collide_nearest(c, x);
    if (now >= (c->adapts ? LEAST : CONTACT))
        return false;
    harden(c, x, now);
    return true;
}

bool kiln_collide_soften(kiln_collide *c, double hardness)
{
    c->firm = c->hardness > hardness;
    c->hardness = c->firm ? hardness : c->hardness;
    return c->firm;
}

double kiln_collide_eased(double hardness, double nearest)
{
    return nearest > FAR ? fmax(0.5 * hardness, 1.0) : hardness;
}
