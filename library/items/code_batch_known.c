/* Which codes of a batch are new: what is not is looked up in the library, unless the same import
 * has brought all that could be there. */
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"
#include "library/items/code_batch_internal.h"
#include "library/items/rows.h"

/* By what items without a file are known: scheme and name, else digest and version. What stands for
 * a file is known by its digest alone. */
static const char *known_name(const struct batch_code *code)
{
    return code->algorithm ? NULL : code->name;
}

static int compare_known_by(const struct batch_code *a, const struct batch_code *b)
{
    const char *name = known_name(a), *other = known_name(b);
    int order = (name != NULL) - (other != NULL);
    if (!order)
        order = name ? strcmp(name, other)
                     : memcmp(a->digest.bytes, b->digest.bytes, sizeof a->digest.bytes);
    if (!order)
        order = (a->scheme > b->scheme) - (a->scheme < b->scheme);
    if (!order && !name)
        order = (a->version > b->version) - (a->version < b->version);
    return order;
}

/* A code, and the first bytes of what it is known by, in which most differ. */
struct sorted_code {
    uint64_t key;
    struct batch_code *code;
};

static struct sorted_code sorted_code(struct batch_code *code)
{
    const char *name = known_name(code);
    const uint8_t *bytes = name ? (const uint8_t *)name : code->digest.bytes;
    const size_t size = name ? strnlen(name, sizeof(uint64_t)) : sizeof(uint64_t);
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof key; i++)
        key = key << 8 | (i < size ? bytes[i] : 0);
    return (struct sorted_code){key, code};
}

static int compare_codes(const void *left, const void *right)
{
    const struct sorted_code *a = left, *b = right;
    int order = (a->key > b->key) - (a->key < b->key);
    if (!order)
        order = compare_known_by(a->code, b->code);
    return order ? order : (a->code > b->code) - (a->code < b->code);
}

/* ---- what the import has brought ---- */

enum {
    BLOCK_WORDS = 8, /* a cache line */
    BLOCK_BITS = 18, /* of the number of a block: 16 MB, for 10 million codes 1 in 100 is wrong */
    BITS_A_CODE = 4
};

/* A Bloom filter in blocks, of all that an import brought into a library where nothing of the kind
 * was. Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007).
 */
struct seen_codes {
    int64_t version; /* of the database, which others' commits change */
    int64_t changes; /* that this process has made there */
    uint64_t blocks[(size_t)1 << BLOCK_BITS][BLOCK_WORDS];
};

static uint64_t hash_known_by(const struct batch_code *code)
{
    const char *name = known_name(code);
    const uint64_t parts[] = {name ? checksum64(name, strlen(name))
                                   : checksum64(code->digest.bytes, sizeof code->digest.bytes),
                              name != NULL, code->scheme, name ? 0 : code->version};
    return checksum64(parts, sizeof parts);
}

static bool has_seen_code(const struct seen_codes *seen, const struct batch_code *code)
{
    uint64_t hash = hash_known_by(code);
    const uint64_t *block = seen->blocks[hash >> (64 - BLOCK_BITS)];
    bool all = true;
    for (int i = 0; i < BITS_A_CODE; i++, hash >>= 9)
        all &= block[hash / 64 % BLOCK_WORDS] >> hash % 64 & 1;
    return all;
}

static void put_seen_code(struct seen_codes *seen, const struct batch_code *code)
{
    uint64_t hash = hash_known_by(code);
    uint64_t *block = seen->blocks[hash >> (64 - BLOCK_BITS)];
    for (int i = 0; i < BITS_A_CODE; i++, hash >>= 9)
        block[hash / 64 % BLOCK_WORDS] |= UINT64_C(1) << hash % 64;
}

static enum doppel_status read_changes(struct doppel_library *library, int64_t *out,
                                       struct doppel_error *error)
{
    return rows_number(library, "SELECT total_changes()", NO_VALUES, out, NULL, error);
}

void seen_codes_free(struct seen_codes *seen)
{
    free(seen);
}

static void forget_seen(struct doppel_code_batch *batch)
{
    seen_codes_free(batch->seen);
    batch->seen = NULL;
}

enum doppel_status seen_codes_check(struct doppel_code_batch *batch, struct doppel_error *error)
{
    int64_t changes;
    enum doppel_status status;
    TRY(doppel_store_data_version(batch->library->store, &batch->version, error));
    TRY(read_changes(batch->library, &changes, error));
    if (batch->seen && (batch->version != batch->seen->version || changes != batch->seen->changes))
        forget_seen(batch);
done:
    return status;
}

void seen_codes_add(struct doppel_code_batch *batch)
{
    if (!batch->seen && batch->first && batch->codes.count >= batch->full)
        batch->seen = calloc(1, sizeof *batch->seen);
    if (!batch->seen)
        return;
    for (size_t i = 0; i < batch->codes.count; i++)
        put_seen_code(batch->seen, &batch->codes.items[i]);
    batch->seen->version = batch->version;
    if (read_changes(batch->library, &batch->seen->changes, NULL))
        forget_seen(batch);
}

/* ---- what is there ---- */

static enum doppel_status look_up_exact(struct doppel_library *library, struct batch_code *code,
                                        struct doppel_error *error)
{
    uint64_t id;
    enum doppel_status status =
        doppel_library_by_exact(library, code->algorithm, code->exact, &id, error);
    code->known = !status;
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status look_up_code(struct doppel_code_batch *batch, struct batch_code *code,
                                       struct doppel_error *error)
{
    if (code->algorithm)
        return look_up_exact(batch->library, code, error);
    const struct doppel_record record = batch_record(code);
    const struct doppel_metadata about = batch_about(batch, code->name);
    struct import import = {.addition.record = &record, .about = &about};
    enum doppel_status status = import_find_known(batch->library, &import, error);
    code->known = import.present.id != 0;
    return status;
}

/* In order of what they are known by, which is the order of the indexes that are looked into. */
enum doppel_status batch_mark_known(struct doppel_code_batch *batch, size_t *out_fresh,
                                    struct doppel_error *error)
{
    const size_t count = batch->codes.count;
    struct sorted_code *order = malloc(count * sizeof *order);
    int64_t any = 0;
    if (!order)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
    enum doppel_status status = rows_number(batch->library,
                                            "SELECT EXISTS(SELECT 1 FROM item WHERE path < x'01')"
                                            " OR EXISTS(SELECT 1 FROM exact)",
                                            NO_VALUES, &any, NULL, error);
    batch->first = !any;
    for (size_t i = 0; i < count; i++)
        order[i] = sorted_code(&batch->codes.items[i]);
    qsort(order, count, sizeof *order, compare_codes);
    for (size_t i = 0; i < count && !status; i++) {
        struct batch_code *code = order[i].code;
        code->known =
            i && order[i - 1].key == order[i].key && compare_known_by(order[i - 1].code, code) == 0;
        if (any && !code->known && !(batch->seen && !has_seen_code(batch->seen, code)))
            status = look_up_code(batch, code, error);
        *out_fresh += !code->known;
    }
    free(order);
    return status;
}
