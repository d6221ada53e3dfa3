/* The journal's inside, shared by journal.c (log and stars), txn.c and archive.c only. */
#ifndef KILN_MESH_JOURNAL_IMPL_H
#define KILN_MESH_JOURNAL_IMPL_H

#include "base/assert.h"
#include "mesh/journal.h"

/* Entries are words: payload, index, then a trailer with the payload's length and the kind, so that
 * the log is read from its end. */
typedef struct kiln_log_buffer {
    uint32_t *data;
    size_t count, capacity;
} kiln_log_buffer;

enum { KILN_LOG_TRAILER = 2 };
enum {
    KILN_LOG_ROW = 0, /* + kiln_where */
    KILN_LOG_PART = KILN_WHERE_COUNT,
    KILN_LOG_STAR,     /* old contents of a list */
    KILN_LOG_STAR_NEW, /* the list was started */
    KILN_LOG_WORD      /* + kiln_word */
};

/* What a mark remembers beside its place in the log. */
typedef struct kiln_mark {
    size_t undo, archive, parts, openings, gluings, added;
    struct {
        uint32_t used, live, free;
    } table[KILN_WHERE_COUNT];
    uint32_t next_twin;
    kiln_ledger ledger;
} kiln_mark;

typedef struct kiln_star_entry {
    uint32_t vertex;
    kiln_u32_array tets;
} kiln_star_entry;

struct kiln_journal {
    kiln_log_buffer undo;
    KILN_ARRAY_OF(kiln_mark)
    marks;

    /* Vertex -> list: open addressing; entries are removed in reverse order of insertion only. */
    KILN_ARRAY_OF(kiln_star_entry)
    stars;                     /* count = listed now; beyond it, buffers for reuse */
    size_t star_buffers;       /* entries whose buffer is initialised */
    kiln_u32_array star_slots; /* star index + 1, 0 empty; count is a power of two */

    size_t openings, gluings; /* faces opened and glued since the outermost begin */
    kiln_u32_array added;     /* vertices made since the outermost begin */

    bool archive_active;
    kiln_log_buffer archive;
    kiln_mark archive_mark;
    kiln_u32_array archive_first[KILN_WHERE_COUNT]; /* word offset + 1 of a row's image, 0: none */
    KILN_ARRAY_OF(kiln_part)
    archive_parts;

    struct kiln_rewind *rewind; /* rewind.c; made by the first one */
};

kiln_mark kiln_journal_mark(const kiln_mesh *mesh);
void kiln_journal_undo_to(kiln_mesh *mesh, const kiln_mark *mark);
/* Of transactions that are committed already: their star lists are gone. */
void kiln_journal_undo_committed(kiln_mesh *mesh, size_t length);
/* Rows of an archive back to their images, newest first. */
void kiln_archive_restore(kiln_mesh *mesh, const kiln_log_buffer *log);
#define KILN_CLOCK_LATE (1u << 31)
void kiln_clock_restart(kiln_mesh *mesh); /* if it is late; not in a pass, transaction or step */
/* Ends the pass without keeping anything of it. */
void kiln_archive_drop(kiln_mesh *mesh);
void kiln_rewind_destroy(kiln_context *context, struct kiln_journal *journal);
/* So that a pass that ends can be kept. */
kiln_status kiln_rewind_reserve(kiln_mesh *mesh, kiln_error *error);
void kiln_rewind_keep_pass(kiln_mesh *mesh); /* takes the archive's log over */
void kiln_journal_forget(kiln_mesh *mesh);   /* log, stars and counts, at the outermost commit */
void kiln_row_restore(kiln_mesh *mesh, kiln_where where, uint32_t row, const uint32_t *image);
void kiln_archive_touch(kiln_mesh *mesh, kiln_where where, uint32_t row);

void kiln_archive_word(kiln_mesh *mesh, kiln_word word, uint32_t index);

/* Where a logged word lives. */
KILN_INLINE uint32_t *kiln_word_address(kiln_mesh *mesh, kiln_word word, uint32_t index)
{
    switch (word) {
    case KILN_WORD_LINK:
        return &mesh->tet[index / 4].n[index % 4];
    case KILN_WORD_ANCHOR:
        return &mesh->vertex[index].tet;
    case KILN_WORD_VERTEX_FLAGS:
        return &mesh->vertex[index].flags;
    case KILN_WORD_VERTEX_TAG:
        return (uint32_t *)&mesh->vertex[index].tag;
    case KILN_WORD_VERTEX_TWIN:
        return &mesh->vertex[index].twin;
    case KILN_WORD_FACE_AT:
        return &mesh->face[index].at;
    case KILN_WORD_FACE_TAG:
        return (uint32_t *)&mesh->face[index].tag;
    case KILN_WORD_FACE_TWIN:
        return &mesh->face[index].twin;
    case KILN_WORD_TET_MARKS:
        return &mesh->info[index].marks;
    case KILN_WORD_TET_REGION:
        return (uint32_t *)&mesh->info[index].region;
    case KILN_WORD_TET_PART:
        return &mesh->info[index].part;
    case KILN_WORD_TET_CHANGED:
        return &mesh->info[index].changed;
    default:
        break;
    }
    return NULL;
}

/* kiln_journal_set for the hot path, where the word is a constant. */
KILN_INLINE void kiln_journal_set_now(kiln_mesh *mesh, kiln_word word, uint32_t index,
                                      uint32_t value)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_log_buffer *log = &journal->undo;
    KILN_ASSERT_OP(log->count + 1 + KILN_LOG_TRAILER, <=, log->capacity);
    if (KILN_UNLIKELY(journal->archive_active))
        kiln_archive_word(mesh, word, index);
    uint32_t *address = kiln_word_address(mesh, word, index);
    uint32_t *entry = log->data + log->count;
    entry[0] = *address;
    entry[1] = index;
    entry[2] = KILN_LOG_WORD + (uint32_t)word;
    log->count += 1 + KILN_LOG_TRAILER;
    *address = value;
}

#endif
