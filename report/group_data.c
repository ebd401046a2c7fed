/* What was seen of the members of a group, as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/base64.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "report/preview.h"
#include "report/word_diff.h"

/* ---- videos ---- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

size_t page_shots_choose(const json_t *member, struct video_shot out[VIDEO_SHOTS])
{
    const json_t *segments = json_object_get(member, "segments");
    size_t count = json_array_size(segments);
    struct doppel_segment *from = must_allocate((count + 1) * sizeof *from);
    for (size_t i = 0; i < count; i++) {
        const json_t *segment = json_array_get(segments, i);
        from[i] = (struct doppel_segment){number(segment, "a_start"), number(segment, "a_end"),
                                          number(segment, "b_start"), number(segment, "b_end"),
                                          number(segment, "speed")};
    }
    struct doppel_match match = {.segments = from, .segment_count = count};
    size_t chosen = count ? video_shots_choose(&match, out) : 0;
    free(from);
    return chosen;
}

static void put_bytes(json_t *object, const char *key, const void *bytes, size_t size)
{
    char *text = base64_encode(bytes, size);
    put_value(object, key, json_string(text));
    free(text);
}

static void put_frame(json_t *seen, const struct page_look *look)
{
    const char *key = look->of_kept ? "kept_frames" : "frames";
    json_t *frame = json_object(), *list = json_object_get(seen, key);
    if (!list) {
        list = json_array();
        put_value(seen, key, list);
    }
    put_number(frame, "at", look->seconds, 3);
    if (look->bytes)
        put_bytes(frame, "jpeg", look->bytes, look->size);
    json_array_append_new(list, frame);
}

/* ---- recordings ---- */

/* Nothing that a worker answers is trusted. */
static void put_wave(json_t *seen, const struct page_look *look)
{
    if (look->size < DOPPEL_WAVE_HEAD_BYTES)
        return;
    uint64_t buckets = get_u32(look->bytes + 4);
    if (look->size != DOPPEL_WAVE_HEAD_BYTES + 2 * buckets)
        return;
    put_number(seen, "seconds", get_u32(look->bytes) / 1000.0, 3);
    put_bytes(seen, "wave", look->bytes + DOPPEL_WAVE_HEAD_BYTES, 2 * buckets);
}

/* ---- texts ---- */

static char *text_of(const struct page_look *look)
{
    char *text = must_allocate(look->size + 1);
    if (look->size)
        memcpy(text, look->bytes, look->size);
    for (size_t i = 0; i < look->size; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

static const struct page_look *look_of(const struct page_looks *looks, size_t index, size_t member)
{
    size_t i = looks->groups.items[index].first;
    while (i < looks->items.count && looks->items.items[i].member != member)
        i++;
    return i < looks->items.count ? &looks->items.items[i] : NULL;
}

/* What the words of the member are to those of the kept one. */
static void put_words(json_t *seen, const struct page_looks *looks, size_t index,
                      const struct page_look *look)
{
    const struct page_look *kept = look_of(looks, index, 0);
    char *text = text_of(look);
    if (look->member && kept && kept->bytes) {
        char *base = text_of(kept);
        put_value(seen, "diff", word_diff_json(base, text));
        free(base);
    } else {
        put_value(seen, "text", word_excerpt_json(text));
    }
    free(text);
    put_bool(seen, "cut", look->size >= TEXT_BYTES || (kept && kept->size >= TEXT_BYTES));
}

/* ---- a group ---- */

static void put_look(json_t *seen, const struct page_looks *looks, size_t index,
                     const struct page_look *look)
{
    enum doppel_kind kind = look->group->kind;
    if (look->reason && !look->of_kept)
        put_text(seen, "gone", look->reason);
    if (look->reason && kind != DOPPEL_KIND_VIDEO)
        return;
    if (kind == DOPPEL_KIND_UNKNOWN)
        return;
    if (look->as != look->member && !look->order.video_task)
        put_integer(seen, "as", look->as);
    else if (kind == DOPPEL_KIND_VIDEO)
        put_frame(seen, look);
    else if (kind == DOPPEL_KIND_AUDIO)
        put_wave(seen, look);
    else if (kind == DOPPEL_KIND_TEXT)
        put_words(seen, looks, index, look);
    else
        put_bytes(seen, "jpeg", look->bytes, look->size);
}

json_t *page_looks_tell(const struct page_looks *looks, size_t index)
{
    const struct page_group *group = looks->groups.items[index].group;
    json_t *told = json_object(), *list = json_array();
    for (size_t i = 0; i < group->count; i++)
        json_array_append_new(list, json_object());
    for (size_t i = looks->groups.items[index].first;
         i < looks->items.count && looks->items.items[i].group == group; i++) {
        const struct page_look *look = &looks->items.items[i];
        put_look(json_array_get(list, look->member), looks, index, look);
    }
    put_value(told, "members", list);
    return told;
}
