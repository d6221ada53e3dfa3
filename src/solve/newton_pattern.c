/* The pattern of the matrix: from all that terms couple; from what lasts and what comes to it,
 * where contact comes and goes; or only in the rows that a change of the mesh has touched. */
#include "solve/newton_impl.h"

#include "base/hash.h"

/* Of the terms that couple rows: who they are, and in *key what they couple. */
static uint64_t pattern_key(const kiln_problem *p, uint64_t *key)
{
    uint64_t who = 0;
    *key = p->constraints->rows;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->cliques) {
            who = kiln_hash_add(who, (uint64_t)(uintptr_t)p->terms[t]->self);
            *key = kiln_hash_add(kiln_hash_add(*key, who), p->terms[t]->revision);
        }
    return who;
}

static size_t clique_bytes(const kiln_problem *p)
{
    return (p->term_count + 1) * sizeof(kiln_cliques);
}

enum { LASTING = 1, PASSING = 2 };

/* What the terms of some kinds couple; NULL: no memory. */
static kiln_cliques *list_cliques(const kiln_problem *p, int kinds, size_t *sets)
{
    kiln_cliques *cliques = kiln_resize(p->newton->context, NULL, 0, clique_bytes(p));
    *sets = 0;
    for (size_t t = 0; t < p->term_count && cliques; t++)
        if (p->terms[t]->cliques && (p->terms[t]->passing ? kinds & PASSING : kinds & LASTING))
            cliques[(*sets)++] = p->terms[t]->cliques(p->terms[t]->self);
    return cliques;
}

/* Of the terms of some kinds; under: what they are added to, NULL: nothing. */
static kiln_status set_pattern(const kiln_problem *p, kiln_bsr *matrix, const kiln_bsr *under,
                               int kinds, kiln_error *error)
{
    size_t sets, rows = p->constraints->rows;
    kiln_cliques *cliques = list_cliques(p, kinds, &sets);
    if (!cliques)
        return kiln_fail_memory(error, clique_bytes(p));
    kiln_status status = under ? kiln_bsr_set_pattern_over(matrix, under, cliques, sets, error)
                               : kiln_bsr_set_pattern(matrix, rows, cliques, sets, error);
    kiln_release(p->newton->context, cliques, clique_bytes(p));
    return status;
}

static uint64_t lasting_key(const kiln_problem *p)
{
    uint64_t key = p->constraints->rows;
    for (size_t t = 0; t < p->term_count; t++) {
        const kiln_term *term = p->terms[t];
        if (term->cliques && !term->passing)
            key =
                kiln_hash_add(kiln_hash_add(key, (uint64_t)(uintptr_t)term->self), term->revision);
    }
    return key | 1;
}

kiln_status kiln_problem_find_lasting(void *user, const kiln_bsr **pattern, kiln_error *error)
{
    const kiln_problem *p = user;
    kiln_newton *newton = p->newton;
    uint64_t key = lasting_key(p);
    *pattern = &newton->lasting;
    if (newton->lasts == key)
        return KILN_OK;
    newton->lasts = 0;
    KILN_TRY(set_pattern(p, &newton->lasting, NULL, LASTING, error));
    newton->lasts = key;
    return KILN_OK;
}

bool kiln_problem_some_pass(const kiln_problem *p)
{
    bool passing = false;
    for (size_t t = 0; t < p->term_count; t++)
        passing |= p->terms[t]->passing;
    return passing;
}

/* What lasts is gathered once where other couplings come and go. */
static kiln_status renew_pattern(kiln_problem *p, bool local, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    const kiln_bsr *under = NULL;
    if (local)
        return kiln_bsr_renew_pattern(&newton->matrix, p->constraints->rows, &newton->around, 1,
                                      newton->changed.data, newton->changed.count, error);
    if (kiln_problem_some_pass(p))
        KILN_TRY(kiln_problem_find_lasting(p, &under, error));
    return set_pattern(p, &newton->matrix, under, under ? PASSING : LASTING, error);
}

/* Pattern and block numbers, when the cliques are others than at the assembly before. Two lists of
 * terms may take turns without cost as long as their patterns are the same (a damped step, its
 * relaxation). */
kiln_status kiln_problem_prepare_matrix(kiln_problem *p, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->renew)
            KILN_TRY(p->terms[t]->renew(p->terms[t]->self, p->x, error));
    uint64_t key, who = pattern_key(p, &key), before = newton->matrix.pattern;
    if (newton->keyed && (newton->key[0] == key || newton->key[1] == key))
        return KILN_OK;
    bool keyed = newton->keyed;
    newton->keyed = false;
    bool local = keyed && newton->expects == EXPECTS_ROWS && newton->coupling == who;
    newton->expects = EXPECTS_NOTHING;
    KILN_TRY(renew_pattern(p, local, error));
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->attach)
            KILN_TRY(p->terms[t]->attach(p->terms[t]->self, &newton->matrix, error));
    newton->key[1] = keyed && newton->matrix.pattern == before ? newton->key[0] : key;
    newton->key[0] = key;
    newton->coupling = who;
    newton->keyed = true;
    return KILN_OK;
}
