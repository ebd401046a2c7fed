/* A group of records, parted where a manual label says that two of its contents are distinct. */
#include "group/distinct_records.h"

#include <stdlib.h>
#include <string.h>

static const struct doppel_digest *label_digest(const void *context, uint32_t number)
{
    const struct manual_labels *labels = context;
    const struct manual_label *label = &labels->items.items[number / 2];
    return number % 2 ? &label->b : &label->a;
}

bool distinct_contents_init(struct distinct_contents *distinct, const struct manual_labels *labels)
{
    *distinct = (struct distinct_contents){.labels = labels};
    for (size_t i = 0; i < labels->items.count; i++)
        if (labels->items.items[i].label == DOPPEL_LABEL_DISTINCT)
            for (uint32_t side = 0; side < 2; side++)
                if (digest_map_put(&distinct->contents, 2 * (uint32_t)i + side, label_digest,
                                   labels) == UINT32_MAX)
                    return false;
    return true;
}

void distinct_contents_free(struct distinct_contents *distinct)
{
    digest_map_free(&distinct->contents);
}

bool distinct_contents_any(const struct distinct_contents *distinct)
{
    return distinct->contents.count > 0;
}

static const struct doppel_digest *content_of(const void *context, uint32_t number)
{
    const struct doppel_digest *contents = context;
    return &contents[number];
}

/* All of the same content leave with `leaving`, the first of them. */
static void let_content_leave(const struct doppel_digest *contents, size_t count, uint32_t leaving,
                              uint32_t *leaders)
{
    uint32_t former = leaders[leaving];
    for (uint32_t i = leaving; i < count; i++)
        if (leaders[i] == former && memcmp(&contents[i], &contents[leaving], sizeof *contents) == 0)
            leaders[i] = leaving;
}

bool distinct_contents_lead(const struct distinct_contents *distinct,
                            const struct doppel_digest *contents, size_t count,
                            uint32_t *out_leaders)
{
    uint32_t *labelled = calloc(count + 1, sizeof *labelled), labelled_count = 0;
    struct digest_map firsts = {0};
    bool room = labelled;
    for (uint32_t i = 0; i < count && room; i++) {
        out_leaders[i] = 0;
        if (digest_map_find(&distinct->contents, &contents[i], label_digest, distinct->labels) ==
            UINT32_MAX)
            continue;
        uint32_t first = digest_map_put(&firsts, i, content_of, contents);
        room = first != UINT32_MAX;
        if (first == i)
            labelled[labelled_count++] = i;
    }
    /* The earlier of two stays, so the one that leads does. */
    for (uint32_t i = 0; i < labelled_count && room; i++)
        for (uint32_t j = i + 1; j < labelled_count; j++)
            if (out_leaders[labelled[i]] == out_leaders[labelled[j]] &&
                manual_label_between(distinct->labels, &contents[labelled[i]],
                                     &contents[labelled[j]]) == DOPPEL_LABEL_DISTINCT)
                let_content_leave(contents, count, labelled[j], out_leaders);
    free(labelled);
    digest_map_free(&firsts);
    return room;
}
