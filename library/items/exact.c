/* Digests of other makes that stand for files: items that nothing else is known of. */
#include "library/items/import_internal.h"

#include <stdio.h>
#include <string.h>

enum { ALGORITHMS = 3 };

static const struct algorithm {
    size_t bytes;
    const char *name;
} algorithms[ALGORITHMS + 1] = {{0, ""}, {16, "md5"}, {20, "sha1"}, {32, "sha256"}};

static const struct algorithm *algorithm_of(enum doppel_exact number)
{
    size_t index = (size_t)number;
    return index <= ALGORITHMS ? &algorithms[index] : &algorithms[0];
}

size_t doppel_exact_bytes(enum doppel_exact algorithm)
{
    return algorithm_of(algorithm)->bytes;
}

const char *doppel_exact_name(enum doppel_exact algorithm)
{
    return algorithm_of(algorithm)->name;
}

struct bound_value exact_value(enum doppel_exact algorithm, const uint8_t *digest)
{
    return (struct bound_value){
        .type = VALUE_BYTES, .bytes = digest, .size = doppel_exact_bytes(algorithm)};
}

#define BIT_IF_ANY(number)                                                                         \
    "(EXISTS(SELECT 1 FROM exact WHERE algorithm = " number ") << " number ")"

enum doppel_status doppel_library_exact_kinds(struct doppel_library *library, unsigned *out,
                                              struct doppel_error *error)
{
    int64_t kinds = 0;
    enum doppel_status status =
        rows_number(library, "SELECT " BIT_IF_ANY("1") " | " BIT_IF_ANY("2") " | " BIT_IF_ANY("3"),
                    (struct values){0}, &kinds, NULL, error);
    if (!status)
        *out = (unsigned)kinds;
    return status;
}

enum doppel_status doppel_library_by_exact(struct doppel_library *library,
                                           enum doppel_exact algorithm, const uint8_t *digest,
                                           uint64_t *out_id, struct doppel_error *error)
{
    int64_t id = 0;
    bool found = false;
    enum doppel_status status =
        rows_number(library, "SELECT item FROM exact WHERE algorithm = ?1 AND digest = ?2",
                    VALUES(ID(algorithm), exact_value(algorithm, digest)), &id, &found, error);
    if (status)
        return status;
    if (!found)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has this %s digest",
                           library->directory, doppel_exact_name(algorithm));
    *out_id = (uint64_t)id;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_by_any_exact(struct doppel_library *library,
                                               const struct doppel_exact_digests *digests,
                                               uint64_t out_ids[DOPPEL_EXACT_KINDS],
                                               struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (unsigned kind = DOPPEL_EXACT_MD5; kind <= DOPPEL_EXACT_SHA256 && !status; kind++) {
        uint64_t *id = &out_ids[kind - DOPPEL_EXACT_MD5];
        *id = 0;
        if (!(digests->kinds >> kind & 1))
            continue;
        status = doppel_library_by_exact(library, (enum doppel_exact)kind, digests->bytes[kind], id,
                                         error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    return status;
}

/* ---- adding ---- */

void exact_name(enum doppel_exact algorithm, const uint8_t *digest, char out[EXACT_NAME_BYTES])
{
    const struct algorithm *known = algorithm_of(algorithm);
    int length = snprintf(out, EXACT_NAME_BYTES, "%s:", known->name);
    doppel_hex_encode(digest, known->bytes, out + length);
}

#define EXACT_VALUES "?1, 1, ?2, 0, 0, 0, 0, ?3, 0, 0, 0, 0, 0, 0"

static enum doppel_status insert_item(struct doppel_library *library, const char *name,
                                      int64_t added_ns, uint64_t *out_id,
                                      struct doppel_error *error)
{
    const struct doppel_digest handle = doppel_digest_bytes(name, strlen(name));
    int64_t id = 0;
    enum doppel_status status = rows_number(
        library,
        "INSERT INTO item(" ITEM_COLUMNS ", checksum) VALUES(" EXACT_VALUES
        ", " CHECKSUM_OF(EXACT_VALUES) ") RETURNING id",
        VALUES(value_string(name), value_integer(past_ns(added_ns)), value_digest(&handle)), &id,
        NULL, error);
    if (!status)
        *out_id = (uint64_t)id;
    return status;
}

enum doppel_status exact_add(struct doppel_library *library,
                             const struct doppel_exact_digest *exact, const char *source,
                             uint64_t *out_id, bool *out_added, struct doppel_error *error)
{
    enum doppel_exact algorithm = exact->algorithm;
    const uint8_t *digest = exact->bytes;
    char name[EXACT_NAME_BYTES];
    enum doppel_status status = doppel_library_by_exact(library, algorithm, digest, out_id, error);
    *out_added = status == DOPPEL_E_NOT_FOUND;
    if (status != DOPPEL_E_NOT_FOUND)
        return status;
    exact_name(algorithm, digest, name);
    status = insert_item(library, name, exact->added_ns, out_id, error);
    if (!status)
        status =
            rows_run(library, "INSERT INTO exact(algorithm, digest, item) VALUES(?1, ?2, ?3)",
                     VALUES(ID(algorithm), exact_value(algorithm, digest), ID(*out_id)), error);
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_IMPORTED,
                                           .item = *out_id,
                                           .name = name,
                                           .source = source,
                                           .reason = algorithm_of(algorithm)->name};
    return status ? status : log_append(library, &entry, error);
}

enum doppel_status doppel_library_add_exact(struct doppel_library *library,
                                            const struct doppel_exact_digest *exact,
                                            uint64_t *out_id, bool *out_added,
                                            struct doppel_error *error)
{
    uint64_t id = 0;
    bool added = false;
    if (!doppel_exact_bytes(exact->algorithm))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such digest is known");
    enum doppel_status status = library_begin(library, error);
    if (!status)
        status = library_end(library, exact_add(library, exact, NULL, &id, &added, error));
    if (status)
        return status;
    *out_id = id;
    *out_added = added;
    return DOPPEL_OK;
}
