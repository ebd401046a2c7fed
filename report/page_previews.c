/* Pages of documents side by side: which are drawn, and what is marked on them. */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "report/page_pairs.h"
#include "report/previews.h"

/* The pages of a member that are shown. */
struct shown_pages {
    struct page_pairs pairs; /* of the texts; none where one of them has no text */
    struct page_pair items[PAGES_OF_A_MEMBER];
    size_t count;
    uint32_t matched, differing; /* pages of the member that the first one has; of these */
};

static bool shows_pages(const struct preview *preview)
{
    return preview->has_pages && !preview->reason && !preview->group->is_link;
}

/* ---- which pages ---- */

static void show_pair(struct shown_pages *shown, struct page_pair pair)
{
    if (shown->count < PAGES_OF_A_MEMBER)
        shown->items[shown->count++] = pair;
}

/* Those on which words differ, else the first. */
static void choose_by_words(struct shown_pages *out)
{
    out->matched = (uint32_t)out->pairs.items.count;
    for (size_t i = 0; i < out->pairs.items.count; i++)
        if (out->pairs.items.items[i].differing) {
            out->differing++;
            show_pair(out, out->pairs.items.items[i]);
        }
    if (!out->differing && out->matched)
        show_pair(out, out->pairs.items.items[0]);
}

/* As the match has them: page by page of each segment. */
static void choose_by_segments(const struct report_member *member, struct shown_pages *out)
{
    for (size_t i = 0; i < member->segment_count; i++) {
        const struct doppel_segment *segment = &member->segments[i];
        if (!segment->a_pages[0] || !segment->b_pages[0])
            continue;
        for (uint32_t j = 0; j <= segment->a_pages[1] - segment->a_pages[0] &&
                             j <= segment->b_pages[1] - segment->b_pages[0] && j < 1000;
             j++, out->matched++)
            show_pair(out, (struct page_pair){segment->b_pages[0] - 1 + j,
                                              segment->a_pages[0] - 1 + j, 0});
    }
}

/* @return false without memory; then, too, it is to be freed */
static bool choose_pages(const struct preview *first, const struct preview *preview,
                         struct shown_pages *out, char *texts[2])
{
    *out = (struct shown_pages){0};
    texts[0] = text_of_preview(first);
    texts[1] = text_of_preview(preview);
    bool done = texts[0] && texts[1] && page_pairs_find(texts[0], texts[1], &out->pairs);
    if (done)
        choose_by_words(out);
    if (done && !out->count)
        choose_by_segments(preview->source, out);
    return done;
}

static void shown_pages_free(struct shown_pages *shown, char *texts[2])
{
    page_pairs_free(&shown->pairs);
    free(texts[0]);
    free(texts[1]);
}

/* ---- what is wanted ---- */

static const struct preview *page_preview(const struct previews *previews, const struct preview *of,
                                          uint32_t page)
{
    for (size_t i = previews->first_page; i < previews->items.count; i++) {
        const struct preview *preview = &previews->items.items[i];
        if (preview->source == of->source && preview->page == page)
            return preview;
    }
    return NULL;
}

static bool want_page(struct previews *previews, struct preview of, uint32_t page)
{
    if (page > UINT16_MAX || page_preview(previews, &of, page))
        return true;
    of.page = page;
    of.bytes = NULL;
    of.size = 0;
    of.order = (struct doppel_order){
        .look = DOPPEL_LOOK_PAGE, .look_page = (uint16_t)page, .look_size = PAGE_PIXELS};
    return array_push(&previews->items, of);
}

/* Of both, where the first has pages, too. */
static bool want_shown_pages(struct previews *previews, size_t first, size_t member)
{
    struct shown_pages shown;
    char *texts[2];
    bool done =
        choose_pages(&previews->items.items[first], &previews->items.items[member], &shown, texts);
    for (size_t i = 0; i < shown.count && done; i++) {
        done = want_page(previews, previews->items.items[member], shown.items[i].b + 1);
        if (done && shows_pages(&previews->items.items[first]))
            done = want_page(previews, previews->items.items[first], shown.items[i].a + 1);
    }
    shown_pages_free(&shown, texts);
    return done;
}

bool previews_want_pages(struct previews *previews)
{
    bool done = true;
    if (previews->page_bytes >= PAGES_MOST_BYTES)
        return true;
    for (size_t i = 0, first = 0; i < previews->first_page && done; i++) {
        const struct preview *preview = &previews->items.items[i];
        if (preview->member == 0)
            first = i;
        else if (shows_pages(preview) && !previews->items.items[first].reason)
            done = want_shown_pages(previews, first, i);
    }
    return done;
}

/* ---- as JSON ---- */

/* Nothing that a worker answers is trusted. @param out_words given (free): `out` borrows them
 * @return false: it is no page */
static bool read_drawn_page(const struct preview *preview, struct drawn_page *out, char **out_words)
{
    size_t size = preview ? preview->size : 0;
    if (size < DOPPEL_PAGE_HEAD_BYTES || !preview->bytes)
        return false;
    const uint64_t jpeg = get_u32(preview->bytes), count = get_u32(preview->bytes + 4);
    const uint64_t before = DOPPEL_PAGE_HEAD_BYTES + jpeg + count * DOPPEL_PAGE_WORD_BYTES;
    if (before > size)
        return false;
    const uint8_t *boxes = preview->bytes + DOPPEL_PAGE_HEAD_BYTES + jpeg;
    *out_words = strndup((const char *)preview->bytes + before, size - before);
    *out = (struct drawn_page){preview->bytes + DOPPEL_PAGE_HEAD_BYTES, boxes, *out_words,
                               (size_t)jpeg, (size_t)count};
    return *out_words != NULL;
}

static void put_page_marks(struct doppel_json *json, const char *key,
                           const struct paged_words *const of[2], const uint32_t pages[2],
                           const struct drawn_page *drawn)
{
    size_t count;
    bool *differ = page_words_differ(of[0], pages[0], of[1], pages[1], &count);
    if (!differ)
        json->failed = true;
    else
        page_marks_to_json(json, key, of[0], pages[0], differ, drawn);
    free(differ);
}

/* The pages of the first member that are shown beside one of the others, once each. */
static void put_first_pages(const struct previews *previews, const struct preview *first,
                            struct doppel_json *json)
{
    bool any = false;
    for (size_t i = previews->first_page; i < previews->items.count; i++) {
        const struct preview *preview = &previews->items.items[i];
        struct drawn_page drawn;
        char *words = NULL;
        if (preview->source != first->source || !read_drawn_page(preview, &drawn, &words))
            continue;
        if (!any)
            doppel_json_array_begin(json, "pages");
        any = true;
        doppel_json_object_begin(json, NULL);
        doppel_json_integer(json, "page", preview->page);
        doppel_json_base64(json, "jpeg", drawn.jpeg, drawn.jpeg_size);
        doppel_json_object_end(json);
        free(words);
    }
    if (any)
        doppel_json_array_end(json);
}

/* A page of the member, and the one of the first that it is. */
static void put_page_pair(const struct previews *previews, const struct preview *const of[2],
                          const struct shown_pages *shown, const struct page_pair *pair,
                          struct doppel_json *json)
{
    const struct paged_words *a = &shown->pairs.a, *b = &shown->pairs.b;
    const struct preview *of_first = page_preview(previews, of[0], pair->a + 1);
    const struct preview *own = page_preview(previews, of[1], pair->b + 1);
    struct drawn_page drawn;
    char *words = NULL;
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "page", pair->b + 1);
    if (of_first)
        doppel_json_integer(json, "of", pair->a + 1);
    if (own && own->reason)
        doppel_json_text(json, "gone", own->reason);
    if (read_drawn_page(own, &drawn, &words)) {
        doppel_json_base64(json, "jpeg", drawn.jpeg, drawn.jpeg_size);
        if (pair->differing)
            put_page_marks(json, "marks", (const struct paged_words *const[]){b, a},
                           (const uint32_t[]){pair->b, pair->a}, &drawn);
    }
    free(words);
    words = NULL;
    if (pair->differing && read_drawn_page(of_first, &drawn, &words))
        put_page_marks(json, "of_marks", (const struct paged_words *const[]){a, b},
                       (const uint32_t[]){pair->a, pair->b}, &drawn);
    free(words);
    doppel_json_object_end(json);
}

void page_previews_to_json(const struct previews *previews, const struct preview *first,
                           const struct preview *preview, struct doppel_json *json)
{
    struct shown_pages shown;
    char *texts[2];
    if (preview == first)
        put_first_pages(previews, first, json);
    if (preview == first || !shows_pages(preview) || first->reason)
        return;
    if (!choose_pages(first, preview, &shown, texts))
        json->failed = true;
    if (shown.count && page_preview(previews, preview, shown.items[0].b + 1)) {
        doppel_json_array_begin(json, "pages");
        for (size_t i = 0; i < shown.count; i++)
            put_page_pair(previews, (const struct preview *const[]){first, preview}, &shown,
                          &shown.items[i], json);
        doppel_json_array_end(json);
    }
    if (shown.count) {
        doppel_json_integer(json, "matched_pages", shown.matched);
        doppel_json_integer(json, "differing_pages", shown.differing);
    }
    shown_pages_free(&shown, texts);
}
