/* Manual labels, in memory. */
#include "group/labels.h"

#include <stdlib.h>
#include <string.h>

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
    struct manual_label wanted = in_order(a, b), *found = NULL;
    if (labels->items.count)
        found = bsearch(&wanted, labels->items.items, labels->items.count, sizeof wanted,
                        compare_labels);
    return found ? found->label : DOPPEL_LABEL_NONE;
}
