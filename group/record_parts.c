/* A group of records, parted where a person told two of its contents apart. */
#include "group/record_parts.h"

#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"

static const struct doppel_digest *mark_digest(const void *context, uint32_t number)
{
    const struct marks *marks = context;
    const struct mark *mark = &marks->items.items[number / 2];
    return number % 2 ? &mark->b : &mark->a;
}

void told_apart_begin(struct told_apart *apart, const struct marks *marks)
{
    *apart = (struct told_apart){.marks = marks};
    for (size_t i = 0; i < marks->items.count; i++)
        if (marks->items.items[i].word == DOPPEL_LABEL_DISTINCT)
            for (uint32_t side = 0; side < 2; side++)
                if (digest_map_put(&apart->contents, 2 * (uint32_t)i + side, mark_digest, marks) ==
                    UINT32_MAX)
                    no_memory();
}

void told_apart_end(struct told_apart *apart)
{
    digest_map_free(&apart->contents);
}

bool told_apart_any(const struct told_apart *apart)
{
    return apart->contents.count > 0;
}

static const struct doppel_digest *content_of(const void *context, uint32_t number)
{
    const struct doppel_digest *contents = context;
    return &contents[number];
}

/* All of the same content leave with `leaving`, the first of them. */
static void leave(const struct doppel_digest *contents, size_t count, uint32_t leaving,
                  uint32_t *leaders)
{
    uint32_t former = leaders[leaving];
    for (uint32_t i = leaving; i < count; i++)
        if (leaders[i] == former && memcmp(&contents[i], &contents[leaving], sizeof *contents) == 0)
            leaders[i] = leaving;
}

void told_apart_lead(const struct told_apart *apart, const struct doppel_digest *contents,
                     size_t count, uint32_t *out_leaders)
{
    uint32_t *said = must_allocate((count + 1) * sizeof *said), labelled_count = 0;
    struct digest_map firsts = {0};
    for (uint32_t i = 0; i < count; i++) {
        out_leaders[i] = 0;
        if (digest_map_find(&apart->contents, &contents[i], mark_digest, apart->marks) !=
                UINT32_MAX &&
            digest_map_put(&firsts, i, content_of, contents) == i)
            said[labelled_count++] = i;
    }
    /* The earlier of two stays, so the one that leads does. */
    for (uint32_t i = 0; i < labelled_count; i++)
        for (uint32_t j = i + 1; j < labelled_count; j++)
            if (out_leaders[said[i]] == out_leaders[said[j]] &&
                marks_between(apart->marks, &contents[said[i]], &contents[said[j]]) ==
                    DOPPEL_LABEL_DISTINCT)
                leave(contents, count, said[j], out_leaders);
    free(said);
    digest_map_free(&firsts);
}
