/* Where trees begin that a damaged catalogue's list of tables does not tell any more: SQLite makes
 * them in the order of that list, so a root lies between those of its neighbours. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "library/salvage/salvage.h"

struct tree {
    char name[64];
    uint32_t root; /* 0: not known */
};

struct roots {
    ARRAY(struct tree) trees; /* tables and indexes, as they were made */
    ARRAY(uint32_t) tops;     /* pages of trees that nothing leads to, ascending */
};

static enum doppel_status roots_without_memory(const struct salvage *salvage,
                                               struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
}

/* ---- tops ---- */

static void mark_children(const struct salvage *salvage, const struct page *page, bool *led_to)
{
    struct cell cell;
    for (uint32_t i = 0; i < page->cells; i++)
        if (cell_read(page, i, &cell) && cell.child <= salvage->pages.count)
            led_to[cell.child] = true;
    if (page->right <= salvage->pages.count)
        led_to[page->right] = true;
}

static enum doppel_status find_tops(const struct salvage *salvage, struct roots *roots,
                                    struct doppel_error *error)
{
    bool *led_to = calloc((size_t)salvage->pages.count + 1, sizeof *led_to);
    bool *trees = calloc((size_t)salvage->pages.count + 1, sizeof *trees);
    enum doppel_status status = led_to && trees ? DOPPEL_OK : roots_without_memory(salvage, error);
    for (uint32_t number = 2; number <= salvage->pages.count && !status; number++) {
        struct page page = {0};
        if (salvage->uses[number] != PAGE_UNKNOWN)
            continue;
        status = salvage_page(salvage, number, &page, &trees[number], error);
        if (!status && trees[number] && is_inner(page.kind))
            mark_children(salvage, &page, led_to);
        free(page.bytes);
    }
    for (uint32_t number = 2; number <= salvage->pages.count && !status; number++)
        if (trees[number] && !led_to[number] && !array_push(&roots->tops, number))
            status = roots_without_memory(salvage, error);
    free(led_to);
    free(trees);
    return status;
}

/* ---- trees ---- */

/* @param packed as they come after VACUUM: indexes last */
static enum doppel_status list_trees(const struct salvage *salvage, bool packed,
                                     struct roots *roots, struct doppel_error *error)
{
    sqlite3_stmt *row;
    bool any;
    enum doppel_status status = doppel_store_statement(
        salvage->fresh,
        "SELECT name, coalesce((SELECT rootpage FROM old_schema AS old WHERE old.name = one.name),"
        " 0) FROM main.sqlite_schema AS one WHERE rootpage > 0"
        " ORDER BY ?1 AND type = 'index' AND sql IS NOT NULL, rowid",
        &row, error);
    if (status)
        return status;
    roots->trees.count = 0;
    sqlite3_bind_int(row, 1, packed);
    while (!(status = doppel_store_step(salvage->fresh, row, &any, error)) && any) {
        int64_t root = sqlite3_column_int64(row, 1);
        struct tree tree = {.root = root > 0 && root <= salvage->pages.count ? (uint32_t)root : 0};
        snprintf(tree.name, sizeof tree.name, "%s", (const char *)sqlite3_column_text(row, 0));
        if (!array_push(&roots->trees, tree)) {
            sqlite3_reset(row);
            return roots_without_memory(salvage, error);
        }
    }
    return status;
}

static bool are_in_order(const struct roots *roots)
{
    uint32_t last = 0;
    for (size_t i = 0; i < roots->trees.count; i++) {
        uint32_t root = roots->trees.items[i].root;
        if (root && root <= last)
            return false;
        last = root ? root : last;
    }
    return true;
}

/* Trees from `first` on, before `end`, have no root: they get the tops between, if these are as
 * many. */
static void place(struct roots *roots, size_t first, size_t end, uint32_t after, uint32_t before)
{
    size_t top = 0, count = 0;
    while (top < roots->tops.count && roots->tops.items[top] <= after)
        top++;
    while (top + count < roots->tops.count && roots->tops.items[top + count] < before)
        count++;
    for (size_t i = first; i < end && count == end - first; i++)
        roots->trees.items[i].root = roots->tops.items[top + i - first];
}

static void place_all(struct roots *roots)
{
    uint32_t after = 1;
    size_t first = 0;
    for (size_t i = 0; i < roots->trees.count; i++) {
        uint32_t root = roots->trees.items[i].root;
        if (!root)
            continue;
        place(roots, first, i, after, root);
        after = root;
        first = i + 1;
    }
    place(roots, first, roots->trees.count, after, UINT32_MAX);
}

static enum doppel_status put_all(const struct salvage *salvage, const struct roots *roots,
                                  struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < roots->trees.count && !status; i++) {
        const struct tree *tree = &roots->trees.items[i];
        sqlite3_stmt *statement;
        bool row;
        status = doppel_store_statement(
            salvage->fresh,
            "INSERT OR IGNORE INTO old_schema SELECT type, name, tbl_name, ?2, NULL"
            " FROM main.sqlite_schema WHERE name = ?1 AND ?2 > 0",
            &statement, error);
        if (status)
            break;
        sqlite3_bind_text(statement, 1, tree->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, tree->root);
        status = doppel_store_step(salvage->fresh, statement, &row, error);
    }
    return status;
}

enum doppel_status salvage_find_roots(struct salvage *salvage, struct doppel_error *error)
{
    struct roots roots = {0};
    enum doppel_status status;
    TRY(find_tops(salvage, &roots, error));
    TRY(list_trees(salvage, false, &roots, error));
    if (!are_in_order(&roots))
        TRY(list_trees(salvage, true, &roots, error));
    if (are_in_order(&roots)) {
        place_all(&roots);
        TRY(put_all(salvage, &roots, error));
    }
done:
    salvage->roots_unknown = false;
    for (size_t i = 0; i < roots.trees.count; i++)
        salvage->roots_unknown |= !roots.trees.items[i].root;
    array_free(&roots.trees);
    array_free(&roots.tops);
    return status;
}
