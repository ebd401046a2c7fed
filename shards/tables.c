/* The tables of a library. */
#include "shards/tables.h"

#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"

/* How many low bits of a payload of phash64 say what the code is: a node looks at them. */
enum { VIEW_BITS = 5 + DOPPEL_VIEW_COUNT };

static const char digests_suffix[] = "digests";

void table_suffix(enum doppel_scheme_id scheme, enum shards_table table, char out[static 64])
{
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    struct doppel_index_options options;
    out[0] = 0;
    if (table == TABLE_DIGESTS)
        snprintf(out, 64, "%s", digests_suffix);
    else if (known && doppel_image_table_options(scheme, (enum doppel_image_table)table, &options))
        snprintf(out, 64, "%s.%u%s", known->name, known->version,
                 table == TABLE_FULL ? ".full" : "");
}

_Static_assert((int)TABLE_CODES == (int)DOPPEL_IMAGE_TABLE_CODES &&
                   (int)TABLE_FULL == (int)DOPPEL_IMAGE_TABLE_FULL,
               "the first tables are those of pictures");

/* ---- what an item has ---- */

static void put_table_digest(struct table_codes *out, const struct doppel_digest *digest,
                             uint64_t number)
{
    const size_t at = out->tables[TABLE_DIGESTS].count;
    if (digest_is_none(digest))
        return;
    memcpy(out->tables[TABLE_DIGESTS].words + 2 * at, digest, sizeof *digest);
    out->tables[TABLE_DIGESTS].payloads[at] = number;
    out->tables[TABLE_DIGESTS].count++;
}

static void put_image_codes(struct table_codes *out, const struct doppel_record *record,
                            enum doppel_image_table table, uint64_t number)
{
    const struct doppel_match_item item = {&record->fingerprint, record->quality};
    struct doppel_index_options options;
    if (!doppel_image_table_options(record->scheme, table, &options))
        return;
    out->tables[table].words_each = options.bits / 64;
    out->tables[table].count = doppel_image_table_codes(table, &item, out->tables[table].words);
    for (size_t i = 0; i < out->tables[table].count; i++)
        out->tables[table].payloads[i] =
            doppel_image_table_payload(&record->fingerprint, number, i);
}

void table_codes_make(const struct doppel_record *record, uint64_t number, struct table_codes *out)
{
    out->scheme = record->scheme;
    for (size_t i = 0; i < SHARDS_TABLES; i++)
        out->tables[i].count = out->tables[i].words_each = 0;
    out->tables[TABLE_DIGESTS].words_each = 2;
    put_table_digest(out, &record->digest, number);
    put_table_digest(out, &record->pixels, number);
    if (record->kind != DOPPEL_KIND_IMAGE)
        return;
    put_image_codes(out, record, DOPPEL_IMAGE_TABLE_CODES, number);
    put_image_codes(out, record, DOPPEL_IMAGE_TABLE_FULL, number);
}

/* ---- making them ---- */

struct table_kind {
    uint32_t bits, radius, low;
};

static struct table_kind kind_of_table(enum doppel_scheme_id scheme, enum shards_table table)
{
    struct doppel_index_options options;
    if (table == TABLE_DIGESTS ||
        !doppel_image_table_options(scheme, (enum doppel_image_table)table, &options))
        return (struct table_kind){128, 0, 0};
    const bool scanned = scheme == DOPPEL_SCHEME_PHASH64 && table == TABLE_CODES;
    return (struct table_kind){options.bits, options.design_radius, scanned ? VIEW_BITS : 0};
}

static void put_option(struct shards_command *command, const char *word, uint64_t number)
{
    command_word(command, word);
    command_number(command, number);
}

static enum doppel_status create_table(const struct doppel_shards *shards, const char *suffix,
                                       const struct table_kind *kind,
                                       struct shards_commands *commands, struct doppel_error *error)
{
    char family[512];
    snprintf(family, sizeof family, "%s.%s", shards->addresses.name, suffix);
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS; shard++) {
        struct shards_command *command = commands_add(commands, shard, kind->low ? 14 : 12);
        if (!command)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
        command_word(command, "DOPPEL.CREATE");
        command_key(command, shards, suffix);
        command_word(command, "TABLE");
        command_word(command, "HAMMING");
        put_option(command, "BITS", kind->bits);
        put_option(command, "RADIUS", kind->radius);
        if (kind->low)
            put_option(command, "LOW", kind->low);
        command_word(command, "FAMILY");
        command_word(command, family);
        put_option(command, "SHARD", shard);
    }
    return DOPPEL_OK;
}

enum doppel_status shards_make_tables(struct doppel_shards *shards, enum doppel_scheme_id scheme,
                                      struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (shards->tables_made >> scheme & 1)
        return DOPPEL_OK;
    for (size_t i = 0; i < SHARDS_TABLES; i++) {
        struct shards_commands commands = {0};
        char suffix[64];
        table_suffix(scheme, (enum shards_table)i, suffix);
        const struct table_kind kind = kind_of_table(scheme, (enum shards_table)i);
        if (*suffix)
            status = create_table(shards, suffix, &kind, &commands, error);
        if (*suffix && !status)
            status = commands_run_all(shards, &commands, error);
        commands_free(&commands);
        if (status)
            return status;
    }
    shards->tables_made |= UINT64_C(1) << scheme;
    return DOPPEL_OK;
}
