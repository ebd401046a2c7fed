/* What was seen of the members of a group, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "report/page_pairs.h"
#include "report/previews.h"
#include "report/word_diff.h"

/* The previews of one member, which stand in a row. */
struct member_previews {
    const struct preview *items;
    size_t count;
};

static struct member_previews previews_of(const struct previews *previews, size_t index,
                                          size_t member)
{
    const struct previewed_group *wanted = &previews->groups.items[index];
    struct member_previews found = {NULL, 0};
    for (size_t i = wanted->first; i < previews->first_page; i++) {
        const struct preview *preview = &previews->items.items[i];
        if (preview->group != wanted->group)
            break;
        if (preview->member != member)
            continue;
        if (!found.count++)
            found.items = preview;
    }
    return found;
}

/* ---- videos ---- */

static void put_frames(struct doppel_json *json, const char *key, struct member_previews seen,
                       bool of_first)
{
    bool any = false;
    for (size_t i = 0; i < seen.count; i++) {
        const struct preview *preview = &seen.items[i];
        if (preview->of_first != of_first)
            continue;
        if (!any)
            doppel_json_array_begin(json, key);
        any = true;
        doppel_json_object_begin(json, NULL);
        doppel_json_number(json, "at", preview->seconds, 3);
        if (preview->bytes)
            doppel_json_base64(json, "jpeg", preview->bytes, preview->size);
        doppel_json_object_end(json);
    }
    if (any)
        doppel_json_array_end(json);
}

/* Why there is nothing to see stands first, unless the first moment was seen. */
static void put_video_preview(struct doppel_json *json, struct member_previews seen)
{
    const char *gone = NULL;
    for (size_t i = 0; i < seen.count; i++)
        if (seen.items[i].reason && !seen.items[i].of_first)
            gone = seen.items[i].reason;
    bool gone_first = seen.items[0].reason != NULL;
    if (gone_first)
        doppel_json_text(json, "gone", gone);
    if (seen.items[0].same_as != seen.items[0].member) {
        doppel_json_integer(json, "as", seen.items[0].same_as);
        return;
    }
    put_frames(json, "frames", seen, false);
    put_frames(json, "kept_frames", seen, true);
    if (!gone_first)
        doppel_json_text(json, "gone", gone);
}

/* ---- recordings ---- */

/* Nothing that a worker answers is trusted. */
static void put_wave(struct doppel_json *json, const struct preview *preview)
{
    if (preview->size < DOPPEL_WAVE_HEAD_BYTES)
        return;
    uint64_t buckets = get_u32(preview->bytes + 4);
    if (preview->size != DOPPEL_WAVE_HEAD_BYTES + 2 * buckets)
        return;
    doppel_json_number(json, "seconds", get_u32(preview->bytes) / 1000.0, 3);
    doppel_json_base64(json, "wave", preview->bytes + DOPPEL_WAVE_HEAD_BYTES, 2 * buckets);
}

/* ---- texts ---- */

char *text_of_preview(const struct preview *preview)
{
    char *text = malloc(preview->size + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < preview->size; i++)
        text[i] = preview->bytes[i] ? (char)preview->bytes[i] : ' ';
    text[preview->size] = 0;
    return text;
}

/* Where more differs than can be shown, how it begins. */
static void put_diff(struct doppel_json *json, const struct preview *first, const char *text)
{
    char *whole = text_of_preview(first);
    char *base = whole ? matched_pages_of(whole, text) : NULL;
    if (!base)
        json->failed = true;
    else if (!word_diff_to_json(json, "diff", base, text, strcmp(base, whole) != 0))
        word_excerpt_to_json(json, "text", text);
    free(base);
    free(whole);
}

/* The words of one of two texts that mean the same, and where they do. */
static void put_passages(struct doppel_json *json, const struct preview *preview, const char *text)
{
    const struct report_member *source = preview->source;
    struct word_range *ranges = calloc(source->passage_count + 1, sizeof *ranges);
    if (!ranges) {
        json->failed = true;
        return;
    }
    for (size_t i = 0; i < source->passage_count; i++) {
        const struct doppel_semantic_segment *passage = &source->passages[i];
        ranges[i] = preview->member ? (struct word_range){passage->a_start, passage->a_end}
                                    : (struct word_range){passage->b_start, passage->b_end};
    }
    word_passages_to_json(json, "text", text, ranges, source->passage_count);
    free(ranges);
}

static bool is_text_cut(const struct preview *preview)
{
    const size_t most = preview->order.look_size ? preview->order.look_size : TEXT_BYTES;
    return preview->size >= most;
}

/* What the words of the member are to those of the first. */
static void put_text_preview(struct doppel_json *json, const struct preview *first,
                             const struct preview *preview)
{
    char *text = text_of_preview(preview);
    if (!text)
        json->failed = true;
    else if (preview->group->is_link)
        put_passages(json, preview, text);
    else if (preview->member && first && first->bytes)
        put_diff(json, first, text);
    else
        word_excerpt_to_json(json, "text", text);
    free(text);
    doppel_json_boolean(json, "cut", is_text_cut(preview) || (first && is_text_cut(first)));
}

/* ---- a group ---- */

/* @param first of the first member; NULL: it has none */
static void put_seen(struct doppel_json *json, const struct preview *first,
                     const struct preview *preview)
{
    enum doppel_kind kind = preview->group->kind;
    if (preview->reason)
        doppel_json_text(json, "gone", preview->reason);
    if (preview->reason || kind == DOPPEL_KIND_UNKNOWN)
        return;
    if (preview->same_as != preview->member)
        doppel_json_integer(json, "as", preview->same_as);
    else if (kind == DOPPEL_KIND_AUDIO)
        put_wave(json, preview);
    else if (kind == DOPPEL_KIND_TEXT)
        put_text_preview(json, first, preview);
    else
        doppel_json_base64(json, "jpeg", preview->bytes, preview->size);
}

void previews_to_json(const struct previews *previews, size_t index, struct doppel_json *json)
{
    const struct report_group *group = previews->groups.items[index].group;
    const struct member_previews first = previews_of(previews, index, 0);
    doppel_json_object_begin(json, NULL);
    doppel_json_array_begin(json, "members");
    for (size_t i = 0; i < group->count; i++) {
        struct member_previews seen = previews_of(previews, index, i);
        doppel_json_object_begin(json, NULL);
        if (seen.count && group->kind == DOPPEL_KIND_VIDEO)
            put_video_preview(json, seen);
        else if (seen.count)
            put_seen(json, first.items, &seen.items[0]);
        if (seen.count && group->kind == DOPPEL_KIND_TEXT && !group->is_link)
            page_previews_to_json(previews, first.items, &seen.items[0], json);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
    doppel_json_object_end(json);
}

enum doppel_status doppel_previews_to_json(struct doppel_run *run, const struct doppel_group *group,
                                           uint32_t pixels, struct doppel_json *json,
                                           struct doppel_error *error)
{
    static const struct doppel_report_options options;
    const struct doppel_text_options usual = doppel_text_options_default();
    struct previews previews = {.run = run,
                                .options = &options,
                                .still_pixels = pixels,
                                .text = group->text ? group->text : &usual};
    struct report_group copy;
    enum doppel_status status = DOPPEL_OK;
    if (!report_group_copy(group, &copy) || !previews_want(&previews, &copy))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for previews"));
    TRY(previews_take(&previews, error));
    previews_to_json(&previews, 0, json);
    TRY(doppel_json_status(json, error));
done:
    previews_free(&previews);
    report_group_free(&copy);
    return status;
}
