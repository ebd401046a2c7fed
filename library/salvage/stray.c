/* Pages of a damaged catalogue that nothing leads to: whose rows they hold is told by what the rows
 * look like. */
#include <string.h>

#include "library/salvage/salvage.h"

enum { TRUNK_HEADER_BYTES = 8 };

static enum doppel_status fail_without_memory(const struct salvage *salvage,
                                              struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
}

/* ---- free pages ---- */

/* Mark a trunk and the pages that it names, unless one of these cannot be; in a file that was cut
 * short some are not there. @param trunk its bytes @param left how many pages are free yet */
static bool mark_trunk(struct salvage *salvage, uint32_t number, const uint8_t *trunk,
                       uint32_t pages, uint32_t *left)
{
    uint32_t count = big_u32(trunk + 4);
    if (count >= *left || count > salvage->pages.size / 4 - 2)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page = big_u32(trunk + TRUNK_HEADER_BYTES + (size_t)4 * i);
        if (page < 2 || page > pages)
            return false;
    }
    salvage->uses[number] = PAGE_FREE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page = big_u32(trunk + TRUNK_HEADER_BYTES + (size_t)4 * i);
        if (page <= salvage->pages.count)
            salvage->uses[page] = PAGE_FREE;
    }
    *left -= count + 1;
    return true;
}

/* The first page names the first trunk and how many pages are free; a trunk names the next one. */
enum doppel_status salvage_free_pages(struct salvage *salvage, struct doppel_error *error)
{
    enum { PAGES_AT = 28, FIRST_TRUNK_AT = 32, COUNT_AT = 36 };
    const struct pages *pages = &salvage->pages;
    uint8_t *bytes = malloc(pages->size);
    if (!bytes)
        return fail_without_memory(salvage, error);
    bool known = pages_read(pages, 1, bytes) && memcmp(bytes, "SQLite format 3", 16) == 0;
    uint32_t all = known ? big_u32(bytes + PAGES_AT) : 0;
    uint32_t next = known ? big_u32(bytes + FIRST_TRUNK_AT) : 0;
    uint32_t left = known ? big_u32(bytes + COUNT_AT) : 0;
    while (known && next && left) {
        known = next > 1 && pages_read(pages, next, bytes) &&
                mark_trunk(salvage, next, bytes, all, &left);
        next = big_u32(bytes);
    }
    salvage->free_unknown = !known || next || left;
    free(bytes);
    return DOPPEL_OK;
}

/* ---- whose is a row ---- */

static bool is_known(const struct salvage *salvage, const char *sql, const struct bound_value *id)
{
    sqlite3_stmt *statement;
    bool row = false;
    if (doppel_store_statement(salvage->fresh, sql, &statement, NULL))
        return false;
    value_bind(statement, 1, id);
    if (doppel_store_step(salvage->fresh, statement, &row, NULL))
        return false;
    sqlite3_reset(statement);
    return row;
}

static bool is_path(const struct bound_value *value)
{
    return value->size && *(const char *)value->bytes == '/' &&
           !memchr(value->bytes, '\0', value->size);
}

static bool is_fingerprint(const struct bound_value *value)
{
    struct doppel_fingerprint fingerprint;
    if (doppel_fingerprint_read(value->bytes, value->size, &fingerprint, NULL))
        return false;
    doppel_fingerprint_free(&fingerprint);
    return true;
}

static bool lacks_rows(const struct salvage *salvage, const char *name)
{
    for (size_t i = 0; i < salvage->count; i++)
        if (strcmp(salvage->rescues[i].table->name, name) == 0)
            return salvage->rescues[i].gaps.count > 0;
    return false;
}

/* Of an item; where texts are lost, only one that is there is sure to be none of them. */
static bool is_of_item(const struct salvage *salvage, const struct bound_value *id)
{
    return !is_known(salvage, "SELECT 1 FROM text WHERE id = ?1", id) &&
           (!lacks_rows(salvage, "text") ||
            is_known(salvage, "SELECT 1 FROM item WHERE id = ?1", id));
}

/* Of a text; where texts are lost, of what is no item. */
static bool is_of_text(const struct salvage *salvage, const struct bound_value *values)
{
    return is_known(salvage, "SELECT 1 FROM text WHERE id = ?1", &values[0]) ||
           (lacks_rows(salvage, "text") && !is_fingerprint(&values[1]) && !is_path(&values[1]) &&
            !is_known(salvage, "SELECT 1 FROM item WHERE id = ?1", &values[0]));
}

/* Tables whose rows look alike, distinguished by what is in them. Ids of items and texts differ. */
static bool could_be(const struct salvage *salvage, const struct rescue *rescue)
{
    const char *name = rescue->table->name;
    const struct bound_value *values = salvage->record.values;
    if (strcmp(name, "corpus") == 0)
        return is_path(&values[1]);
    if (strcmp(name, "text_shingles") == 0)
        return is_of_text(salvage, values);
    if (strcmp(name, "list_item") == 0)
        return is_known(salvage, "SELECT 1 FROM list WHERE id = ?1", &values[1]);
    bool computed = strcmp(name, "fingerprint") == 0;
    if (!computed && strcmp(name, "attachment") != 0)
        return true;
    return computed == is_fingerprint(&values[1]) && !is_path(&values[1]) &&
           (computed ? !is_known(salvage, "SELECT 1 FROM text WHERE id = ?1", &values[0])
                     : is_of_item(salvage, &values[0]));
}

/* The log may tell of a row on a page that was free. */
static bool was_removed(const struct salvage *salvage, const struct rescue *rescue)
{
    const char *name = rescue->table->name;
    return salvage->free_unknown && (strcmp(name, "item") == 0 || strcmp(name, "text") == 0) &&
           is_known(salvage, "SELECT 1 FROM log WHERE item = ?1 AND action = 'removed'",
                    &salvage->record.values[0]);
}

/* Where it is not known which pages are free, a row must be of where something is missing. */
static struct gap *gap_of(const struct salvage *salvage, const struct rescue *rescue, int64_t id)
{
    for (size_t i = 0; i < rescue->gaps.count; i++) {
        struct gap *gap = &rescue->gaps.items[i];
        if (rescue->table->keyed || (id > gap->after && id <= gap->last))
            return gap;
    }
    return rescue->gaps.count && !salvage->free_unknown ? &rescue->gaps.items[0] : NULL;
}

/* @param out whether there is a row that the table could lack */
static enum doppel_status read_stray_row(struct salvage *salvage, const struct rescue *rescue,
                                         const struct page *page, uint32_t index, struct cell *cell,
                                         bool *out, struct doppel_error *error)
{
    *out = false;
    if (!cell_read(page, index, cell) || !gap_of(salvage, rescue, cell->id))
        return DOPPEL_OK;
    return rescue_read(salvage, rescue, cell, out, error);
}

/* ---- whose is a page ---- */

static enum doppel_status count_rows(struct salvage *salvage, const struct rescue *rescue,
                                     const struct page *page, uint32_t *out,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    *out = 0;
    for (uint32_t i = 0; i < page->cells && !status; i++) {
        struct cell cell;
        bool is;
        status = read_stray_row(salvage, rescue, page, i, &cell, &is, error);
        *out += is && rescue_is_whole(rescue, &salvage->record) && could_be(salvage, rescue);
    }
    return status;
}

/* The table that has the most rows on it. @param out_sure no other one has as many */
static enum doppel_status find_table(struct salvage *salvage, struct rescue *only,
                                     const struct page *page, struct rescue **out, bool *out_sure,
                                     struct doppel_error *error)
{
    struct rescue *first = only ? only : salvage->rescues,
                  *end = first + (only ? 1 : salvage->count);
    enum doppel_status status = DOPPEL_OK;
    uint32_t most = 0, rows;
    *out = NULL;
    for (struct rescue *rescue = first; rescue < end && !status; rescue++) {
        if (!rescue->gaps.count || has_ids(page->kind) == rescue->table->keyed)
            continue;
        status = count_rows(salvage, rescue, page, &rows, error);
        if (rows >= most)
            *out_sure = rows > most;
        if (rows > most) {
            most = rows;
            *out = rescue;
        }
    }
    return status;
}

/* What is there already, or was given up, stays as it is. */
static enum doppel_status take_stray(struct salvage *salvage, struct rescue *rescue,
                                     const struct page *page, uint32_t index, bool sure,
                                     struct doppel_error *error)
{
    struct cell cell;
    bool is = false, put = false;
    enum doppel_status status = read_stray_row(salvage, rescue, page, index, &cell, &is, error);
    if (status || !is || was_removed(salvage, rescue))
        return status;
    if (!sure || !rescue_is_whole(rescue, &salvage->record))
        return rescue_set_aside(salvage, rescue, error);
    status = rescue_put(salvage, rescue, &put, error);
    if (!status && put) {
        rescue->strays++;
        gap_of(salvage, rescue, cell.id)->found++;
    }
    return status;
}

static enum doppel_status take_page(struct salvage *salvage, struct rescue *only,
                                    const struct page *page, struct doppel_error *error)
{
    struct rescue *rescue = NULL;
    bool sure = false;
    enum doppel_status status = find_table(salvage, only, page, &rescue, &sure, error);
    if (status || !rescue)
        return status;
    /* two ids may be a row of an index as well */
    sure &= !salvage->roots_unknown || strcmp(rescue->table->name, "list_item") != 0;
    salvage->uses[page->number] = PAGE_TAKEN;
    for (uint32_t i = 0; i < page->cells && !status; i++)
        status = take_stray(salvage, rescue, page, i, sure, error);
    return status;
}

enum doppel_status salvage_strays(struct salvage *salvage, struct rescue *only,
                                  struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t number = 2; number <= salvage->pages.count && !status; number++) {
        struct page page = {0};
        bool is = false;
        if (salvage->uses[number] != PAGE_UNKNOWN)
            continue;
        status = salvage_page(salvage, number, &page, &is, error);
        if (!status && is && page.kind != PAGE_ROWS_INNER)
            status = take_page(salvage, only, &page, error);
        free(page.bytes);
    }
    return status;
}
