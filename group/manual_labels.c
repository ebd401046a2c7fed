/* Manual labels: loaded from a library, and applied. They outrank fingerprints: distinct ones are
 * in no group together, those that are the same are in one. */
#include "group/manual_labels.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "group/grouping_internal.h"

/* ---- loaded ---- */

static int compare_digests(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static int compare_labels(const void *left, const void *right)
{
    const struct manual_label *a = left, *b = right;
    int order = compare_digests(&a->a, &b->a);
    return order ? order : compare_digests(&a->b, &b->b);
}

static struct manual_label in_order(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return compare_digests(a, b) < 0 ? (struct manual_label){.a = *a, .b = *b}
                                     : (struct manual_label){.a = *b, .b = *a};
}

static bool take_label(void *context, const struct doppel_mark *given)
{
    struct manual_labels *labels = context;
    struct manual_label label = in_order(&given->a, &given->b);
    label.label = given->word;
    return array_push(&labels->items, label);
}

enum doppel_status manual_labels_add(struct manual_labels *labels, const struct doppel_digest *a,
                                     const struct doppel_digest *b, enum doppel_manual_label label,
                                     struct doppel_error *error)
{
    struct manual_label added = in_order(a, b);
    added.label = label;
    return array_push(&labels->items, added)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the manual labels");
}

static struct manual_label *find_label(const struct manual_labels *labels, size_t count,
                                       const struct manual_label *wanted)
{
    return count ? bsearch(wanted, labels->items.items, count, sizeof *wanted, compare_labels)
                 : NULL;
}

enum doppel_status manual_labels_merge(struct manual_labels *labels,
                                       const struct manual_labels *others,
                                       struct doppel_error *error)
{
    size_t own = labels->items.count; /* in order */
    for (size_t i = 0; i < others->items.count; i++) {
        const struct manual_label *other = &others->items.items[i];
        struct manual_label *found = find_label(labels, own, other);
        if (found)
            found->label = other->label;
        else if (!array_push(&labels->items, *other))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the manual labels");
    }
    if (labels->items.count)
        qsort(labels->items.items, labels->items.count, sizeof *labels->items.items,
              compare_labels);
    return DOPPEL_OK;
}

enum doppel_status manual_labels_load(struct manual_labels *labels, struct doppel_library *library,
                                      struct doppel_error *error)
{
    enum doppel_status status = doppel_library_each_mark(library, NULL, take_label, labels, error);
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the manual labels");
    if (labels->items.count)
        qsort(labels->items.items, labels->items.count, sizeof *labels->items.items,
              compare_labels);
    return status;
}

enum doppel_status manual_labels_load_from(struct manual_labels *labels, const char *directory,
                                           struct doppel_error *error)
{
    const struct doppel_library_options read_only = {.read_only = true};
    struct doppel_library *library;
    enum doppel_status status = doppel_library_open(directory, &read_only, &library, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    if (status)
        return status;
    status = manual_labels_load(labels, library, error);
    doppel_library_close(library);
    return status;
}

void manual_labels_free(struct manual_labels *labels)
{
    array_free(&labels->items);
}

enum doppel_manual_label manual_label_between(const struct manual_labels *labels,
                                              const struct doppel_digest *a,
                                              const struct doppel_digest *b)
{
    struct manual_label wanted = in_order(a, b);
    const struct manual_label *found = find_label(labels, labels->items.count, &wanted);
    return found ? found->label : DOPPEL_LABEL_NONE;
}

/* ---- applied ---- */

bool grouping_are_distinct(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct manual_labels *labels = grouping->options->labels;
    return labels && labels->items.count &&
           manual_label_between(labels, item_store_digest(&grouping->items, a),
                                item_store_digest(&grouping->items, b)) == DOPPEL_LABEL_DISTINCT;
}

static bool same_digest(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    return memcmp(digest_at(grouping, a), digest_at(grouping, b), sizeof(struct doppel_digest)) ==
           0;
}

/* All that follow `former` follow `leader` from now on. */
static void move_followers(const struct grouping *grouping, uint32_t *leaders, uint32_t former,
                           uint32_t leader)
{
    uint32_t count = item_store_count(&grouping->items);
    for (uint32_t i = 0; i < count; i++)
        if (leaders[i] == former) {
            leaders[i] = leader;
            grouping->by_label[i] = true;
        }
}

/* Two contents go together: the later one joins the earlier one's group, with its own
 * group where it leads one. */
static void join_labelled(const struct grouping *grouping, uint32_t *leaders, uint32_t item_a,
                          uint32_t item_b)
{
    uint32_t a = grouping_first_of(grouping, item_a), b = grouping_first_of(grouping, item_b);
    uint32_t into = leaders[a] < leaders[b] ? leaders[a] : leaders[b];
    uint32_t from = leaders[a] < leaders[b] ? b : a;
    if (leaders[a] == leaders[b])
        return;
    grouping->by_label[from] = true;
    if (leaders[from] == from)
        move_followers(grouping, leaders, from, into);
    else
        leaders[from] = into;
}

/* Two contents of one group part: the one that does not lead it leaves with all of its bytes, of
 * two followers the later one. */
static void part_labelled(const struct grouping *grouping, uint32_t *leaders, uint32_t a,
                          uint32_t b)
{
    uint32_t leader = leaders[a], count = item_store_count(&grouping->items);
    if (leaders[b] != leader)
        return;
    bool leads_a = same_digest(grouping, leader, a), leads_b = same_digest(grouping, leader, b);
    uint32_t leaving = leads_a || (!leads_b && a < b) ? b : a;
    for (uint32_t i = 0; i < count; i++)
        if (leaders[i] == leader && same_digest(grouping, i, leaving))
            leaders[i] = leaving;
}

/* Of each pair with a label whose contents are both there. */
static void each_pair(const struct grouping *grouping, const struct digest_map *map,
                      enum doppel_manual_label wanted, uint32_t *leaders,
                      void take(const struct grouping *, uint32_t *, uint32_t, uint32_t))
{
    const struct manual_labels *labels = grouping->options->labels;
    for (size_t i = 0; i < labels->items.count; i++) {
        const struct manual_label *label = &labels->items.items[i];
        if (label->label != wanted)
            continue;
        uint32_t a = digest_map_find(map, &label->a, digest_at, grouping);
        uint32_t b = digest_map_find(map, &label->b, digest_at, grouping);
        if (a != UINT32_MAX && b != UINT32_MAX)
            take(grouping, leaders, a, b);
    }
}

/* A map of all contents. @return DOPPEL_OK; DOPPEL_E_MEMORY */
static enum doppel_status map_contents(const struct grouping *grouping, struct digest_map *out,
                                       struct doppel_error *error)
{
    uint32_t count = item_store_count(&grouping->items);
    for (uint32_t i = 0; i < count; i++)
        if (digest_map_put(out, i, digest_at, grouping) == UINT32_MAX)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the manual labels");
    return DOPPEL_OK;
}

enum doppel_status grouping_lead_all(struct grouping *grouping, uint32_t *leaders,
                                     struct doppel_error *error)
{
    const struct manual_labels *labels = grouping->options->labels;
    bool labelled = labels && labels->items.count;
    uint32_t count = item_store_count(&grouping->items);
    struct digest_map map = {0};
    grouping->by_label = calloc(count + 1, sizeof *grouping->by_label);
    if (!grouping->by_label)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups of %u files", count);
    enum doppel_status status = DOPPEL_OK;
    if (labelled) {
        TRY(map_contents(grouping, &map, error));
        each_pair(grouping, &map, DOPPEL_LABEL_SAME, leaders, join_labelled);
    }
    for (uint32_t i = 0; i < count; i++)
        leaders[i] = leaders[grouping_first_of(grouping, i)];
    if (labelled)
        each_pair(grouping, &map, DOPPEL_LABEL_DISTINCT, leaders, part_labelled);
done:
    digest_map_free(&map);
    return status;
}
