/* The steps that change a text, one after the other. Sources: huggingface's tokenizers, whose steps
 * these are; UAX 15 and 29 by utf8proc; sentencepiece for the form of its map. */
#include "embed/tokenizer/normalize.h"

#include <utf8proc.h>

#include "core/bytes.h"
#include "embed/tokenizer/points.h"

/* ---- characters ---- */

/* In lower case. */
static void append_lower(struct embed_text *out, uint32_t point)
{
    if (point == 0x130) { /* I with a dot is the only one that becomes two */
        embed_text_append(out, "i\xCC\x87", 3);
        return;
    }
    embed_text_append_point(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)point));
}

static void lowercase(const char *text, size_t size, struct embed_text *out)
{
    for (size_t at = 0; at < size;)
        append_lower(out, point_next(text, size, &at));
}

static bool is_cleaned_away(uint32_t point)
{
    return point == 0 || point == NO_CHARACTER ||
           (point != '\t' && point != '\n' && point != '\r' && point_is_other(point));
}

/* A code point that stays, decomposed where accents go. */
static void append_bert_point(uint32_t flags, uint32_t point, struct embed_text *out)
{
    utf8proc_int32_t parts[32] = {(utf8proc_int32_t)point};
    utf8proc_ssize_t count = 1;
    int last = 0;
    if (flags & BERT_STRIP_ACCENTS && point >= 0x80)
        count =
            utf8proc_decompose_char((utf8proc_int32_t)point, parts, 32, UTF8PROC_DECOMPOSE, &last);
    for (utf8proc_ssize_t i = 0; i < count && i < 32; i++) {
        uint32_t part = (uint32_t)parts[i];
        if (flags & BERT_STRIP_ACCENTS && point_category(part) == UTF8PROC_CATEGORY_MN)
            continue;
        if (flags & BERT_LOWERCASE)
            append_lower(out, part);
        else
            embed_text_append_point(out, part);
    }
}

static void append_bert_ascii(uint32_t flags, uint8_t byte, struct embed_text *out)
{
    bool space = byte == '\t' || byte == '\n' || byte == '\r';
    if (flags & BERT_CLEAN && (byte < ' ' || byte == 0x7f)) {
        if (space)
            embed_text_append_point(out, ' ');
        return;
    }
    bool upper = flags & BERT_LOWERCASE && byte >= 'A' && byte <= 'Z';
    embed_text_append_point(out, upper ? byte | 0x20u : byte);
}

/* BertNormalizer alone, appended to `out`. */
static void normalize_bert(uint32_t flags, const char *text, size_t size, struct embed_text *out)
{
    for (size_t at = 0; at < size;) {
        if ((uint8_t)text[at] < 0x80) {
            append_bert_ascii(flags, (uint8_t)text[at++], out);
            continue;
        }
        uint32_t point = point_next(text, size, &at);
        if (flags & BERT_CLEAN && is_cleaned_away(point))
            continue;
        if (flags & BERT_CLEAN && point_is_space(point))
            point = ' ';
        bool alone = flags & BERT_CHINESE && point_is_chinese(point);
        if (alone)
            embed_text_append(out, " ", 1);
        append_bert_point(flags, point, out);
        if (alone)
            embed_text_append(out, " ", 1);
    }
}

/* ---- normal forms ---- */

static bool reserve_points(struct normalizing *work, size_t count)
{
    if (count <= work->point_capacity)
        return true;
    int32_t *grown =
        count > SIZE_MAX / sizeof *grown ? NULL : realloc(work->points, count * sizeof *grown);
    if (!grown) {
        work->failed = true;
        return false;
    }
    work->points = grown;
    work->point_capacity = count;
    return true;
}

/* @param options of utf8proc */
static void normal_form(struct normalizing *work, int options, const char *text, size_t size,
                        struct embed_text *out)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text;
    utf8proc_option_t how = (utf8proc_option_t)(options | UTF8PROC_STABLE);
    utf8proc_ssize_t count = 0;
    if (!reserve_points(work, size + 64))
        return;
    for (int attempt = 0; attempt < 2; attempt++) {
        count = utf8proc_decompose(bytes, (utf8proc_ssize_t)size, work->points,
                                   (utf8proc_ssize_t)work->point_capacity, how);
        if (count <= (utf8proc_ssize_t)work->point_capacity)
            break;
        if (!reserve_points(work, (size_t)count))
            return;
    }
    if (count > 0 && options & UTF8PROC_COMPOSE)
        count = utf8proc_normalize_utf32(work->points, count, how);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        embed_text_append_point(out, (uint32_t)work->points[i]);
}

/* ---- the map of sentencepiece ---- */

/* What sentencepiece's map has for the shortest beginning of a text that it knows; NULL: nothing.
 */
static const char *charsmap_find(const char *map, size_t map_size, const char *text, size_t size,
                                 size_t *out_size)
{
    const uint8_t *bytes = (const uint8_t *)map;
    if (map_size < 4)
        return NULL;
    size_t trie_size = get_u32(bytes);
    if (trie_size > map_size - 4)
        return NULL;
    size_t units = trie_size / 4, strings_size = map_size - 4 - trie_size, node = 0;
    const char *strings = map + 4 + trie_size;
#define UNIT(at) ((at) < units ? get_u32(bytes + 4 + 4 * (at)) : 0)
#define OFFSET(unit) ((size_t)((unit) >> 10) << (((unit)&0x200) >> 6))
    uint32_t unit = UNIT(0);
    node = OFFSET(unit);
    for (size_t i = 0; i < size && text[i]; i++) {
        node ^= (uint8_t)text[i];
        unit = UNIT(node);
        if ((unit & 0x800000ff) != (uint8_t)text[i])
            return NULL;
        node ^= OFFSET(unit);
        if (!(unit & 0x100))
            continue;
        size_t begin = UNIT(node) & 0x7fffffff;
        const char *end =
            begin < strings_size ? memchr(strings + begin, 0, strings_size - begin) : NULL;
        *out_size = end ? (size_t)(end - strings) - begin : 0;
        return end ? strings + begin : NULL;
    }
#undef UNIT
#undef OFFSET
    return NULL;
}

static void append_mapped(const struct normalizing *work, const char *text, size_t size,
                          struct embed_text *out)
{
    for (size_t at = 0; at < size;) {
        size_t begin = at, found_size;
        point_next(text, size, &at);
        const char *found = charsmap_find(work->charsmap, work->charsmap_size, text + begin,
                                          at - begin, &found_size);
        if (found)
            embed_text_append(out, found, found_size);
        else
            embed_text_append(out, text + begin, at - begin);
    }
}

/* Grapheme by grapheme; a short one as a whole if the map knows how it begins, which is how it is
 * done where the models were trained. */
static void precompiled(const struct normalizing *work, const char *text, size_t size,
                        struct embed_text *out)
{
    enum { SHORT = 6 };
    for (size_t at = 0; at < size;) {
        size_t begin = at, end, found_size;
        utf8proc_int32_t state = 0;
        uint32_t before = point_next(text, size, &at);
        for (end = at; at < size; end = at) {
            uint32_t point = point_next(text, size, &at);
            if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)point,
                                                 &state))
                break;
            before = point;
        }
        at = end;
        const char *found = end - begin < SHORT
                                ? charsmap_find(work->charsmap, work->charsmap_size, text + begin,
                                                end - begin, &found_size)
                                : NULL;
        if (found)
            embed_text_append(out, found, found_size);
        else
            append_mapped(work, text + begin, end - begin, out);
    }
}

/* ---- other steps ---- */

static void nmt(const char *text, size_t size, struct embed_text *out)
{
    for (size_t at = 0; at < size;) {
        uint32_t point = point_next(text, size, &at);
        bool removed = (point >= 1 && point <= 8) || point == 0xb ||
                       (point >= 0xe && point <= 0x1f) || point == 0x7f || point == 0x8f ||
                       point == 0x9f;
        bool space = point == 9 || point == 0xa || point == 0xc || point == 0xd ||
                     point == 0x1680 || (point >= 0x200b && point <= 0x200f) || point == 0x2028 ||
                     point == 0x2029 || point == 0x2581 || point == 0xfeff || point == 0xfffd;
        if (!removed)
            embed_text_append_point(out, space ? ' ' : point);
    }
}

static void strip_accents(const char *text, size_t size, struct embed_text *out)
{
    for (size_t at = 0; at < size;) {
        uint32_t point = point_next(text, size, &at);
        if (point < 0x80 || !point_is_mark(point))
            embed_text_append_point(out, point);
    }
}

static void strip_spaces(uint32_t flags, const char *text, size_t size, struct embed_text *out)
{
    size_t begin = 0, at = 0;
    while (at < size && flags & STRIP_LEFT && point_is_space(point_next(text, size, &at)))
        begin = at;
    while (size > begin && flags & STRIP_RIGHT && point_is_space(point_before(text, size, &at)))
        size = at;
    embed_text_append(out, text + begin, size - begin);
}

static void replace_each(const struct text_step *step, const char *text, size_t size,
                         struct embed_text *out)
{
    const char *end = text + size, *found;
    while (text < end &&
           (found = memmem(text, (size_t)(end - text), step->text, step->text_size))) {
        embed_text_append(out, text, (size_t)(found - text));
        embed_text_append(out, step->content, step->content_size);
        text = found + step->text_size;
    }
    embed_text_append(out, text, (size_t)(end - text));
}

/* White space that begins here, or else one character. @return behind it */
static size_t replace_run(const struct text_step *step, const char *text, size_t size, size_t begin,
                          struct embed_text *out)
{
    size_t count = 0, end = begin;
    for (size_t at = begin; at < size; count++) {
        uint32_t point = point_next(text, size, &at);
        if (step->flags & SPACES_ONLY_BLANKS ? point != ' ' : !point_is_space(point)) {
            end = count ? end : at;
            break;
        }
        end = at;
    }
    if (count > 1 || (count && !(step->flags & SPACES_TWO_OR_MORE)))
        embed_text_append(out, step->content, step->content_size);
    else
        embed_text_append(out, text + begin, end - begin);
    return end;
}

static void replace_spaces(const struct text_step *step, const char *text, size_t size,
                           struct embed_text *out)
{
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        while (at < size && (int8_t)text[at] > ' ') /* ASCII that is no space */
            at++;
        embed_text_append(out, text + begin, at - begin);
        if (at < size)
            at = replace_run(step, text, size, at, out);
    }
}

static void apply_text_step(struct normalizing *work, const struct text_step *step)
{
    const char *text = work->from.bytes;
    size_t size = work->from.size;
    struct embed_text *out = &work->to;
    switch (step->kind) {
    case STEP_BERT:
        normalize_bert(step->flags, text, size, out);
        break;
    case STEP_LOWERCASE:
        lowercase(text, size, out);
        break;
    case STEP_NFC:
        normal_form(work, UTF8PROC_COMPOSE, text, size, out);
        break;
    case STEP_NFD:
        normal_form(work, UTF8PROC_DECOMPOSE, text, size, out);
        break;
    case STEP_NFKC:
        normal_form(work, UTF8PROC_COMPOSE | UTF8PROC_COMPAT, text, size, out);
        break;
    case STEP_NFKD:
        normal_form(work, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, text, size, out);
        break;
    case STEP_STRIP_ACCENTS:
        strip_accents(text, size, out);
        break;
    case STEP_STRIP:
        strip_spaces(step->flags, text, size, out);
        break;
    case STEP_REPLACE:
        replace_each(step, text, size, out);
        break;
    case STEP_REPLACE_SPACES:
        replace_spaces(step, text, size, out);
        break;
    case STEP_PREPEND:
        embed_text_append(out, step->content, size ? step->content_size : 0);
        embed_text_append(out, text, size);
        break;
    case STEP_NMT:
        nmt(text, size, out);
        break;
    default: /* STEP_PRECOMPILED */
        precompiled(work, text, size, out);
    }
}

/* Most texts have nothing that is replaced: then they need not be copied. */
static bool changes_nothing(const struct text_step *step, const struct embed_text *text)
{
    return step->kind == STEP_REPLACE &&
           !memmem(text->bytes, text->size, step->text, step->text_size);
}

static size_t skip_ascii(const char *text, size_t size, size_t at)
{
    const uint64_t high = 0x8080808080808080;
    uint64_t eight;
    for (; size - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & high)
            break;
    }
    while (at < size && (uint8_t)text[at] < 0x80)
        at++;
    return at;
}

void normalize(struct normalizing *work, const struct text_step *steps, const char *text,
               size_t size, const char **out, size_t *out_size)
{
    work->from.size = 0;
    for (size_t at = 0; at < size;) { /* UTF-8 from here on */
        size_t begin = at, length = 1;
        while (at < size && length) {
            at = skip_ascii(text, size, at);
            length = at < size ? utf8_length(text + at, size - at) : 0;
            at += length;
        }
        embed_text_append(&work->from, text + begin, at - begin);
        if (at < size) {
            embed_text_append_point(&work->from, NO_CHARACTER);
            at++;
        }
    }
    for (; steps->kind != STEP_END; steps++) {
        if (!work->from.size || changes_nothing(steps, &work->from))
            continue;
        work->to.size = 0;
        apply_text_step(work, steps);
        struct embed_text done = work->from;
        work->from = work->to;
        work->to = done;
    }
    work->failed |= work->from.failed || work->to.failed;
    *out = work->from.bytes ? work->from.bytes : "";
    *out_size = work->failed ? 0 : work->from.size;
}

void normalizing_free(struct normalizing *work)
{
    embed_text_free(&work->from);
    embed_text_free(&work->to);
    free(work->points);
    *work = (struct normalizing){0};
}
