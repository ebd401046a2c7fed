/* What people said, in memory. */
#include "group/labels.h"

#include <stdlib.h>
#include <string.h>

#include "tools/args/paths.h"

static int compare_digests(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static int compare_marks(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    int order = compare_digests(&a->a, &b->a);
    return order ? order : compare_digests(&a->b, &b->b);
}

static struct mark in_order(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return compare_digests(a, b) < 0 ? (struct mark){.a = *a, .b = *b}
                                     : (struct mark){.a = *b, .b = *a};
}

static bool take_mark(void *context, const struct doppel_mark *given)
{
    struct marks *marks = context;
    struct mark mark = in_order(&given->a, &given->b);
    mark.word = given->word;
    return array_push(&marks->items, mark);
}

enum doppel_status marks_load(struct marks *marks, struct doppel_library *library,
                              struct doppel_error *error)
{
    enum doppel_status status = doppel_library_each_mark(library, NULL, take_mark, marks, error);
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what people said");
    if (marks->items.count)
        qsort(marks->items.items, marks->items.count, sizeof *marks->items.items, compare_marks);
    return status;
}

enum doppel_status marks_load_settings(struct marks *marks, const struct settings *settings,
                                       struct doppel_error *error)
{
    const struct doppel_library_options read_only = {.read_only = true};
    struct doppel_library *library;
    char *directory = library_directory(settings);
    if (!directory)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_open(directory, &read_only, &library, error);
    free(directory);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    if (status)
        return status;
    status = marks_load(marks, library, error);
    doppel_library_close(library);
    return status;
}

void marks_free(struct marks *marks)
{
    array_free(&marks->items);
}

enum doppel_manual_label marks_between(const struct marks *marks, const struct doppel_digest *a,
                                       const struct doppel_digest *b)
{
    struct mark wanted = in_order(a, b), *found = NULL;
    if (marks->items.count)
        found =
            bsearch(&wanted, marks->items.items, marks->items.count, sizeof wanted, compare_marks);
    return found ? found->word : DOPPEL_LABEL_NONE;
}
