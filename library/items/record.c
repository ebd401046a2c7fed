/* Records between memory and database rows. What is read is checked: it may come from an unrelated
 * item.
 */
#include "library/items/record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/attached.h"
#include "core/positions.h"

enum { MAX_QUALITY = 100 };

static const int64_t SECOND_NS = 1000000000;

void doppel_record_free(struct doppel_record *record)
{
    if (!record)
        return;
    doppel_fingerprint_free(&record->fingerprint);
    free(record->attachment);
    *record = (struct doppel_record){0};
}

void record_bind(sqlite3_stmt *statement, int first, const struct doppel_record *record)
{
    sqlite3_bind_blob(statement, first, record->digest.bytes, sizeof record->digest.bytes,
                      SQLITE_STATIC);
    sqlite3_bind_int(statement, first + 1, (int)record->kind);
    sqlite3_bind_int(statement, first + 2, (int)record->scheme);
    sqlite3_bind_int(statement, first + 3, record->version);
    sqlite3_bind_int64(statement, first + 4, record->width);
    sqlite3_bind_int64(statement, first + 5, record->height);
    sqlite3_bind_int(statement, first + 6, record->quality);
}

/* A column as a number from 0 to `max`. */
static bool read_bounded(sqlite3_stmt *statement, int column, int64_t max, int64_t *out)
{
    *out = sqlite3_column_int64(statement, column);
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER && *out >= 0 && *out <= max;
}

bool digest_read(sqlite3_stmt *statement, int column, struct doppel_digest *out)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    if (!bytes || sqlite3_column_bytes(statement, column) != (int)sizeof out->bytes)
        return false;
    memcpy(out->bytes, bytes, sizeof out->bytes);
    return true;
}

bool record_read(sqlite3_stmt *statement, int first, struct doppel_record *out)
{
    int64_t kind, scheme, version, width, height, quality;
    const void *digest = sqlite3_column_blob(statement, first);
    if (!digest || sqlite3_column_bytes(statement, first) != (int)sizeof out->digest.bytes ||
        !read_bounded(statement, first + 1, DOPPEL_KIND_VIDEO, &kind) ||
        !read_bounded(statement, first + 2, UINT16_MAX, &scheme) ||
        !read_bounded(statement, first + 3, UINT16_MAX, &version) ||
        !read_bounded(statement, first + 4, UINT32_MAX, &width) ||
        !read_bounded(statement, first + 5, UINT32_MAX, &height) ||
        !read_bounded(statement, first + 6, MAX_QUALITY, &quality))
        return false;
    *out = (struct doppel_record){
        .kind = (enum doppel_kind)kind,
        .scheme = (enum doppel_scheme_id)scheme,
        .version = (uint16_t)version,
        .width = (uint32_t)width,
        .height = (uint32_t)height,
        .quality = (uint8_t)quality,
    };
    memcpy(out->digest.bytes, digest, sizeof out->digest.bytes);
    return true;
}

enum doppel_status fingerprint_bind(sqlite3_stmt *statement, int parameter,
                                    const struct doppel_fingerprint *fingerprint,
                                    struct doppel_error *error)
{
    size_t size = doppel_fingerprint_size(fingerprint);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a fingerprint");
    doppel_fingerprint_write(fingerprint, bytes);
    sqlite3_bind_blob64(statement, parameter, bytes, size, free);
    return DOPPEL_OK;
}

/* The positions of a picture's codes are its views: each at most once. */
static bool are_views(const struct doppel_fingerprint *fingerprint)
{
    return fingerprint->count && fingerprint->count <= DOPPEL_VIEW_COUNT &&
           positions_ascend(fingerprint, DOPPEL_VIEW_COUNT);
}

/* A code is stored at the scheme's width or wider; the lanes of MinHash are cut into codes, and all
 * of them are there. */
static bool has_width_of(const struct doppel_fingerprint *fingerprint,
                         const struct doppel_scheme *scheme)
{
    if (scheme->code_bits > 8 * sizeof *fingerprint->codes)
        return (uint64_t)fingerprint->count * fingerprint->code_bits == scheme->code_bits;
    return fingerprint->code_bits >= scheme->code_bits;
}

bool fingerprint_fits(const struct doppel_fingerprint *fingerprint,
                      const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    bool of_kind = scheme && (scheme->kind == record->kind ||
                              (scheme->kind == DOPPEL_KIND_AUDIO && /* the audio of a video */
                               record->kind == DOPPEL_KIND_VIDEO));
    return of_kind && fingerprint->scheme == record->scheme &&
           fingerprint->version == record->version && has_width_of(fingerprint, scheme) &&
           (record->kind != DOPPEL_KIND_IMAGE || scheme_is_attached(record->scheme) ||
            are_views(fingerprint));
}

/* Of a column without bytes. */
static enum doppel_status column_status(sqlite3_stmt *statement)
{
    bool no_memory = sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM;
    return no_memory ? DOPPEL_E_MEMORY : DOPPEL_E_CORRUPT;
}

bool fingerprint_read(sqlite3_stmt *statement, int column, struct doppel_record *record)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    struct doppel_fingerprint fingerprint;
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    enum doppel_status status =
        bytes ? doppel_fingerprint_read(bytes, size, &fingerprint, NULL) : column_status(statement);
    if (status) {
        record->error.status = status;
        return false;
    }
    if (!fingerprint_fits(&fingerprint, record)) {
        doppel_fingerprint_free(&fingerprint);
        return false;
    }
    record->fingerprint = fingerprint;
    return true;
}

struct doppel_digest record_pixels(const struct doppel_record *record)
{
    return record->kind == DOPPEL_KIND_IMAGE && !scheme_is_attached(record->scheme)
               ? doppel_image_attachment_pixels(record->attachment, record->attachment_size)
               : (struct doppel_digest){0};
}

enum doppel_status attachment_read(sqlite3_stmt *statement, int column,
                                   struct doppel_record *record)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    if (!bytes)
        return column_status(statement);
    if (size <= 0 || size > MAX_ATTACHMENT_BYTES)
        return DOPPEL_E_CORRUPT;
    uint8_t *copy = malloc((size_t)size);
    if (!copy)
        return DOPPEL_E_MEMORY;
    memcpy(copy, bytes, (size_t)size);
    record->attachment = copy;
    record->attachment_size = (size_t)size;
    record->pixels = record_pixels(record);
    return DOPPEL_OK;
}

/* ---- stamps ---- */

/* SQLite's numbers are signed: device and inode keep their 64 bits, not their order. */
void stamp_bind(sqlite3_stmt *statement, int first, const struct doppel_file_stamp *stamp)
{
    sqlite3_bind_int64(statement, first, (int64_t)stamp->device);
    sqlite3_bind_int64(statement, first + 1, (int64_t)stamp->inode);
    sqlite3_bind_int64(statement, first + 2, stamp->size);
    sqlite3_bind_int64(statement, first + 3, stamp->mtime_ns);
}

void stamp_read(sqlite3_stmt *statement, int first, struct doppel_file_stamp *out)
{
    out->device = (uint64_t)sqlite3_column_int64(statement, first);
    out->inode = (uint64_t)sqlite3_column_int64(statement, first + 1);
    out->size = sqlite3_column_int64(statement, first + 2);
    out->mtime_ns = sqlite3_column_int64(statement, first + 3);
}

bool stamp_equal(const struct doppel_file_stamp *a, const struct doppel_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_ns == b->mtime_ns;
}

bool stamp_is_settled(const struct doppel_file_stamp *stamp, int64_t since_ns)
{
    return stamp->mtime_ns < since_ns - 2 * SECOND_NS;
}

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t past_ns(int64_t stated_ns)
{
    int64_t now = now_ns();
    return stated_ns > 0 && stated_ns < now ? stated_ns : now;
}
