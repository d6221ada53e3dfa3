#include "base/nearest_name.h"

#include <string.h>

enum { NAME_LIMIT = 40 };

/* Levenshtein distance with a swap of neighbours as one edit; long names are cut. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strnlen(a, NAME_LIMIT), m = (int)strnlen(b, NAME_LIMIT);
    int d[NAME_LIMIT + 1][NAME_LIMIT + 1];
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *kiln_nearest_name(const char *name, const void *names, size_t count, size_t stride)
{
    const char *best = NULL;
    int best_distance = 1 + (int)strnlen(name, NAME_LIMIT) / 3;
    for (size_t i = 0; i < count; i++) {
        const char *candidate;
        memcpy(&candidate, (const char *)names + i * stride, sizeof candidate);
        int distance = edit_distance(name, candidate);
        if (distance < best_distance || (distance == best_distance && !best)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}
