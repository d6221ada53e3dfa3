#include "mesh/changes.h"

void kiln_changes_start(kiln_changes *changes, const kiln_mesh *mesh)
{
    changes->all = false;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        changes->before[where] = mesh->table[where].used;
        changes->rows[where].count = changes->moved[where].count = 0;
    }
}

void kiln_changes_free(kiln_context *context, kiln_changes *changes)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_array_free(context, &changes->rows[where]);
        kiln_array_free(context, &changes->moved[where]);
    }
}
