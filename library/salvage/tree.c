/* The trees of a damaged catalogue, gone through from their roots; what cannot be reached becomes a
 * gap. */
#include <string.h>

#include "core/try.h"
#include "library/salvage/salvage.h"

enum { MAX_DEPTH = 24, ROWS_PER_COMMIT = 100000 };

/* Ids below a page; of tables without row ids all. */
struct span {
    int64_t after, last;
};
static const struct span whole_table = {INT64_MIN, INT64_MAX};

static enum doppel_status tree_without_memory(const struct salvage *salvage,
                                              struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
}

enum doppel_status salvage_page(const struct salvage *salvage, uint32_t number, struct page *out,
                                bool *out_is, struct doppel_error *error)
{
    uint8_t *bytes = malloc(salvage->pages.size);
    if (!bytes)
        return tree_without_memory(salvage, error);
    *out = (struct page){.bytes = bytes};
    *out_is = pages_read(&salvage->pages, number, bytes) &&
              tree_page_parse(bytes, salvage->pages.size, number, out);
    out->bytes = bytes;
    return DOPPEL_OK;
}

/* Pages side by side make one gap. */
static enum doppel_status add_gap(struct salvage *salvage, struct rescue *rescue, struct span span,
                                  struct doppel_error *error)
{
    struct gap *last = rescue->gaps.count ? &rescue->gaps.items[rescue->gaps.count - 1] : NULL;
    if (last && last->last >= span.after) {
        last->last = span.last > last->last ? span.last : last->last;
        return DOPPEL_OK;
    }
    return array_push(&rescue->gaps, ((struct gap){span.after, span.last, 0}))
               ? DOPPEL_OK
               : tree_without_memory(salvage, error);
}

/* ---- rows ---- */

static enum doppel_status commit_some(struct salvage *salvage, struct doppel_error *error)
{
    if (++salvage->uncommitted < ROWS_PER_COMMIT)
        return DOPPEL_OK;
    salvage->uncommitted = 0;
    enum doppel_status status = doppel_store_commit(salvage->fresh, error);
    return status ? status : doppel_store_begin(salvage->fresh, error);
}

/* Whether all cells of a page can be read, and are in order. */
static bool is_sound(const struct page *page)
{
    struct cell cell, former = {.id = INT64_MIN};
    for (uint32_t i = 0; i < page->cells; i++, former = cell)
        if (!cell_read(page, i, &cell) || (i && has_ids(page->kind) && cell.id <= former.id))
            return false;
    return true;
}

/* A row that was read. Of one that has no checksum the page must speak.
 * @param again its page is read for the second time */
static enum doppel_status rescue_row(struct salvage *salvage, struct rescue *rescue,
                                     const struct page *page, bool sound, bool again,
                                     struct doppel_error *error)
{
    bool whole = rescue_is_whole(rescue, &salvage->record), put = false;
    if (!whole && !again) {
        uint32_t *last = rescue->again.count ? &rescue->again.items[rescue->again.count - 1] : NULL;
        return (last && *last == page->number) || array_push(&rescue->again, page->number)
                   ? DOPPEL_OK
                   : tree_without_memory(salvage, error);
    }
    if (whole && again)
        return DOPPEL_OK;
    enum doppel_status status = DOPPEL_OK;
    if (rescue->table->sum || sound)
        TRY(rescue_put(salvage, rescue, &put, error));
    if (!put)
        TRY(rescue_set_aside(salvage, rescue, error));
    TRY(commit_some(salvage, error));
done:
    return status;
}

/* The rows in the cells of a page. */
static enum doppel_status rescue_cell(struct salvage *salvage, struct rescue *rescue,
                                      const struct page *page, uint32_t index, bool sound,
                                      bool again, struct doppel_error *error)
{
    struct cell cell;
    bool is = false;
    enum doppel_status status = DOPPEL_OK;
    if (cell_read(page, index, &cell))
        status = rescue_read(salvage, rescue, &cell, &is, error);
    if (!status && is)
        return rescue_row(salvage, rescue, page, sound, again, error);
    if (status || again)
        return status;
    if (sound && has_ids(page->kind) && cell.id > INT64_MIN) /* pages of overflow are damaged */
        return add_gap(salvage, rescue, (struct span){cell.id - 1, cell.id}, error);
    rescue->lost++;
    return DOPPEL_OK;
}

static enum doppel_status take_cells(struct salvage *salvage, struct rescue *rescue,
                                     const struct page *page, bool again,
                                     struct doppel_error *error)
{
    bool sound = is_sound(page);
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < page->cells && !status; i++)
        status = rescue_cell(salvage, rescue, page, i, sound, again, error);
    return status;
}

enum doppel_status salvage_again(struct salvage *salvage, struct rescue *rescue,
                                 struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < rescue->again.count; i++) {
        struct page page;
        bool is = false;
        TRY(salvage_page(salvage, rescue->again.items[i], &page, &is, error));
        if (is)
            TRY(take_cells(salvage, rescue, &page, true, error));
        free(page.bytes);
    }
done:
    return status;
}

/* ---- pages ---- */

/* A leaf is the table's when one of its rows could be. */
static enum doppel_status is_of_table(struct salvage *salvage, const struct rescue *rescue,
                                      const struct page *page, struct span span, bool *out,
                                      struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    *out = false;
    for (uint32_t i = 0; i < page->cells && !status && !*out; i++) {
        struct cell cell;
        if (cell_read(page, i, &cell) &&
            (rescue->table->keyed || (cell.id > span.after && cell.id <= span.last)))
            status = rescue_read(salvage, rescue, &cell, out, error);
    }
    return status;
}

/* Whether a page leads to others: most of its children are pages. */
static bool leads_on(const struct salvage *salvage, const struct page *page)
{
    uint32_t good = page->right > 1 && page->right <= salvage->pages.count;
    for (uint32_t i = 0; i < page->cells; i++) {
        struct cell cell;
        good += cell_read(page, i, &cell) && cell.child > 1 && cell.child <= salvage->pages.count;
    }
    return 2 * good > page->cells;
}

static enum doppel_status is_part(struct salvage *salvage, const struct rescue *rescue,
                                  const struct page *page, struct span span, bool root, bool *out,
                                  struct doppel_error *error)
{
    *out = has_ids(page->kind) != rescue->table->keyed;
    if (!*out || (root && page->cells == 0 && !is_inner(page->kind)))
        return DOPPEL_OK;
    if (!is_inner(page->kind))
        return is_of_table(salvage, rescue, page, span, out, error);
    *out = leads_on(salvage, page);
    return DOPPEL_OK;
}

static enum doppel_status walk_page(struct salvage *salvage, struct rescue *rescue, uint32_t number,
                                    struct span span, unsigned depth, struct doppel_error *error);

/* Keys that are not in order say nothing. */
static enum doppel_status walk_children(struct salvage *salvage, struct rescue *rescue,
                                        const struct page *page, struct span span, unsigned depth,
                                        struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool sound = is_sound(page);
    for (uint32_t i = 0; i < page->cells; i++) {
        struct cell cell;
        struct span part = span;
        bool is = cell_read(page, i, &cell);
        if (is && !rescue->table->keyed && cell.id > span.after && cell.id <= span.last)
            part.last = span.after = cell.id;
        TRY(is ? walk_page(salvage, rescue, cell.child, part, depth + 1, error)
               : add_gap(salvage, rescue, part, error));
        if (rescue->table->keyed)
            TRY(rescue_cell(salvage, rescue, page, i, sound, false, error));
    }
    TRY(walk_page(salvage, rescue, page->right, span, depth + 1, error));
done:
    return status;
}

static enum doppel_status walk_page(struct salvage *salvage, struct rescue *rescue, uint32_t number,
                                    struct span span, unsigned depth, struct doppel_error *error)
{
    struct page page = {0};
    bool is = false;
    enum doppel_status status = DOPPEL_OK;
    if (number && number <= salvage->pages.count && salvage->uses[number] != PAGE_TAKEN &&
        depth < MAX_DEPTH)
        TRY(salvage_page(salvage, number, &page, &is, error));
    if (is)
        TRY(is_part(salvage, rescue, &page, span, depth == 0, &is, error));
    if (is) {
        salvage->uses[number] = PAGE_TAKEN;
        status = is_inner(page.kind) ? walk_children(salvage, rescue, &page, span, depth, error)
                                     : take_cells(salvage, rescue, &page, false, error);
    } else {
        status = add_gap(salvage, rescue, span, error);
    }
done:
    free(page.bytes);
    return status;
}

enum doppel_status salvage_tree(struct salvage *salvage, struct rescue *rescue, uint32_t root,
                                struct doppel_error *error)
{
    return walk_page(salvage, rescue, root, whole_table, 0, error);
}

/* ---- pages that hold no rows of ours ---- */

enum doppel_status salvage_skip(struct salvage *salvage, uint32_t root, unsigned depth,
                                struct doppel_error *error)
{
    struct page page;
    bool is = false;
    if (root < 2 || root > salvage->pages.count || salvage->uses[root] == PAGE_TAKEN ||
        depth >= MAX_DEPTH)
        return DOPPEL_OK;
    enum doppel_status status = salvage_page(salvage, root, &page, &is, error);
    if (status)
        return status;
    if (is)
        salvage->uses[root] = PAGE_TAKEN;
    for (uint32_t i = 0; is && is_inner(page.kind) && i < page.cells && !status; i++) {
        struct cell cell;
        if (cell_read(&page, i, &cell))
            status = salvage_skip(salvage, cell.child, depth + 1, error);
    }
    if (is && is_inner(page.kind) && !status)
        status = salvage_skip(salvage, page.right, depth + 1, error);
    free(page.bytes);
    return status;
}
