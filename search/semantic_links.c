/* Texts are linked by their meaning, all with all: pairs of chunks by a join, then text by text. */
#include "search/semantic_links.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

enum { EARLIER_LOOKED_AT = 8 }; /* texts of one, for one that has most of it */

static const double half_of_it = 0.5;

enum doppel_status semantic_linking_no_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare texts by their meaning");
}

void semantic_linking_free(struct semantic_linking *linking)
{
    for (size_t i = 0; i < linking->links.count; i++)
        free((void *)linking->links.items[i].link.segments);
    array_free(&linking->chunks);
    array_free(&linking->items);
    array_free(&linking->texts);
    array_free(&linking->pairs);
    array_free(&linking->links);
    free(linking->rows);
    free(linking->text_of);
    free(linking->levels);
}

/* ---- rows and their texts ---- */

static bool make_room_for_row(struct semantic_linking *linking)
{
    const size_t wanted = linking->rows_room ? 2 * linking->rows_room : 256;
    size_t floats, bytes;
    if (linking->chunks.count < linking->rows_room)
        return true;
    if (__builtin_mul_overflow(wanted, (size_t)linking->dimension, &floats) ||
        __builtin_mul_overflow(floats, sizeof *linking->rows, &bytes))
        return false;
    float *rows = realloc(linking->rows, bytes);
    if (!rows)
        return false;
    linking->rows = rows;
    linking->rows_room = wanted;
    return true;
}

bool semantic_linking_add(struct semantic_linking *linking, uint64_t item,
                          const struct semantic_chunk *chunk, const float *row)
{
    const size_t place = linking->chunks.count * linking->dimension;
    if (!make_room_for_row(linking) || !array_push(&linking->items, item) ||
        !array_push(&linking->chunks, *chunk))
        return false;
    memcpy(linking->rows + place, row, linking->dimension * sizeof *row);
    return true;
}

static int compare_linkable(const void *a, const void *b)
{
    const struct linkable_text *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static uint32_t find_linkable(const struct semantic_linking *linking, uint64_t item)
{
    const struct linkable_text wanted = {.item = item};
    const struct linkable_text *found = bsearch(&wanted, linking->texts.items, linking->texts.count,
                                                sizeof wanted, compare_linkable);
    return (uint32_t)(found - linking->texts.items); /* it is there */
}

static int compare_grouped(const void *a, const void *b)
{
    const struct doppel_semantic_grouped *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static uint64_t group_of_item(const struct semantic_linking *linking, uint64_t item)
{
    const struct doppel_semantic_links_options *options = linking->options;
    const struct doppel_semantic_grouped wanted = {.item = item};
    const struct doppel_semantic_grouped *found =
        options && options->grouped_count
            ? bsearch(&wanted, options->grouped, options->grouped_count, sizeof wanted,
                      compare_grouped)
            : NULL;
    return found ? found->group : 0;
}

enum doppel_status semantic_linking_sort(struct semantic_linking *linking,
                                         struct doppel_error *error)
{
    const size_t count = linking->items.count;
    size_t kept = 0;
    if (count >= UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "too many passages to compare by their meaning");
    linking->text_of = calloc(count + 1, sizeof *linking->text_of);
    if (!linking->text_of)
        return semantic_linking_no_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!array_push(&linking->texts, ((struct linkable_text){.item = linking->items.items[i]})))
            return semantic_linking_no_memory(error);
    struct linkable_text *texts = linking->texts.items;
    if (count)
        qsort(texts, count, sizeof *texts, compare_linkable);
    for (size_t i = 0; i < count; i++)
        if (!kept || texts[i].item != texts[kept - 1].item)
            texts[kept++] = texts[i];
    linking->texts.count = kept;
    for (size_t i = 0; i < kept; i++)
        texts[i].group = group_of_item(linking, texts[i].item);
    for (size_t i = 0; i < count; i++)
        linking->text_of[i] = find_linkable(linking, linking->items.items[i]);
    return DOPPEL_OK;
}

/* ---- what may be linked ---- */

static enum doppel_status see_item(struct semantic_linking *linking, struct linkable_text *text,
                                   struct doppel_error *error)
{
    struct doppel_library *library = linking->semantic->library;
    enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
    struct doppel_name name;
    enum doppel_status status = DOPPEL_OK;
    if (doppel_library_has_states(library))
        TRY(doppel_library_state_of(library, text->item, &state, error));
    if (state != DOPPEL_LIST_ACTIVE)
        return DOPPEL_OK;
    status = doppel_library_name(library, text->item, &name, error);
    if (status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT)
        return DOPPEL_OK;
    TRY(status);
    text->content = name.content;
    text->state = LINKABLE;
    doppel_name_free(&name);
done:
    return status;
}

/* Whether it is still there, and wanted. */
static enum doppel_status see_text(struct semantic_linking *linking, uint32_t number, bool *out,
                                   struct doppel_error *error)
{
    struct linkable_text *text = &linking->texts.items[number];
    enum doppel_status status = DOPPEL_OK;
    if (!linking->semantic->library) {
        text->state = LINKABLE;
    } else if (text->state == LINKABLE_NOT_SEEN) {
        const struct doppel_item_set *wanted = linking->options->wanted;
        text->state = NOT_LINKABLE;
        if (!wanted || doppel_item_set_has(wanted, text->item))
            status = see_item(linking, text, error);
    }
    *out = text->state == LINKABLE;
    return status;
}

static enum doppel_status may_be_linked(struct semantic_linking *linking, uint32_t number,
                                        uint32_t of, bool *out, struct doppel_error *error)
{
    const struct linkable_text *a = &linking->texts.items[number], *b = &linking->texts.items[of];
    struct doppel_library *library = linking->semantic->library;
    enum doppel_manual_label label = DOPPEL_LABEL_NONE;
    enum doppel_status status;
    TRY(see_text(linking, of, out, error));
    if (b->settled || (a->group && a->group == b->group) || (a->reference && b->reference))
        *out = false;
    if (*out && library && doppel_library_has_labels(library))
        TRY(doppel_library_get_label(library, &a->content, &b->content, &label, error));
    if (label == DOPPEL_LABEL_DISTINCT)
        *out = false;
done:
    return status;
}

/* ---- links ---- */

/* The text as it would be searched for, and what would be found of earlier ones. */
static enum doppel_status recall_search(struct semantic_linking *linking,
                                        const struct near_rows *near, size_t count,
                                        struct doppel_error *error)
{
    struct doppel_semantic *semantic = linking->semantic;
    const struct semantic_chunk *own = linking->chunks.items;
    const struct semantic_chunk first = own[near[0].row];
    const float least = semantic_threshold(semantic, (double)first.count);
    semantic->hits.count = semantic->chunks.count = 0;
    while (semantic->chunks.count < first.count)
        if (!array_push(&semantic->chunks, first))
            return semantic_linking_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const struct semantic_hit hit = {linking->texts.items[near[i].of].item, own[near[i].of_row],
                                         own[near[i].row].number, near[i].cosine, near[i].value};
        if (hit.value < least || hit.query >= first.count)
            continue;
        semantic->chunks.items[hit.query] = own[near[i].row];
        if (!array_push(&semantic->hits, hit))
            return semantic_linking_no_memory(error);
    }
    return DOPPEL_OK;
}

/* The rarest, unless there is one among the next that has most of the text.
 * @param out untouched: none may be linked */
static enum doppel_status choose_link(struct semantic_linking *linking, uint32_t number,
                                      const struct doppel_semantic_results *results,
                                      const struct doppel_semantic_link **out,
                                      struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0, looked = 0; i < results->count && looked < EARLIER_LOOKED_AT; i++) {
        const struct doppel_semantic_link *link = &results->links[i];
        bool may;
        TRY(may_be_linked(linking, number, find_linkable(linking, link->of_item), &may, error));
        if (!may)
            continue;
        looked++;
        if (!*out || link->query_coverage >= half_of_it)
            *out = link;
        if ((*out)->query_coverage >= half_of_it)
            break;
    }
done:
    return status;
}

static enum doppel_status link_one_text(struct semantic_linking *linking,
                                        const struct near_rows *near, size_t count,
                                        struct doppel_error *error)
{
    struct doppel_semantic_results results = {0};
    const struct doppel_semantic_link *link = NULL;
    const uint32_t number = near[0].text;
    bool may;
    enum doppel_status status;
    TRY(see_text(linking, number, &may, error));
    if (!may)
        return DOPPEL_OK;
    TRY(recall_search(linking, near, count, error));
    TRY(semantic_take_near_items(linking->semantic, &results, error));
    TRY(choose_link(linking, number, &results, &link, error));
    if (!link)
        goto done;
    const struct chosen_link chosen = {number, find_linkable(linking, link->of_item), *link};
    if (!array_push(&linking->links, chosen))
        TRY(semantic_linking_no_memory(error));
    linking->texts.items[number].settled = link->query_coverage >= half_of_it;
    results.links[link - results.links].segments = NULL; /* they are the link's now */
done:
    doppel_semantic_results_free(&results);
    return status;
}

/* By the text that is linked to; then the rarest first, and by item. */
static int compare_chosen(const void *a, const void *b)
{
    const struct chosen_link *x = a, *y = b;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    if (x->link.score != y->link.score)
        return x->link.score > y->link.score ? -1 : 1;
    if (x->link.cosine != y->link.cosine)
        return x->link.cosine > y->link.cosine ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

enum doppel_status semantic_linking_find(struct semantic_linking *linking,
                                         struct doppel_error *error)
{
    enum doppel_status status;
    TRY(semantic_linking_join(linking, error));
    const struct near_rows *near = linking->pairs.items;
    const size_t count = linking->pairs.count;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && near[end].text == near[i].text; end++)
            ;
        if (doppel_run_cancelled(linking->semantic->run))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
        TRY(link_one_text(linking, near + i, end - i, error));
    }
    if (linking->links.count)
        qsort(linking->links.items, linking->links.count, sizeof *linking->links.items,
              compare_chosen);
done:
    return status;
}

void semantic_linking_sum_up(const struct semantic_linking *linking,
                             struct doppel_semantic_links_summary *summary)
{
    if (summary)
        *summary = (struct doppel_semantic_links_summary){
            .texts = linking->texts.count,
            .vectors = linking->chunks.count,
            .linked = linking->links.count,
            .min_cosine = semantic_threshold(linking->semantic, 1),
            .scored = semantic_is_scored(linking->semantic),
        };
}
