/* What is kept of a text beside its fingerprint: to bytes and back, with nothing believed. */
#include <doppel/text.h>

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

/* Words, characters, bad bytes and shingles in all, u64 each, the content digest, and how many
 * shingles and places follow, u32 each. With places there is, after them, the number of keys, u32,
 * and these. Last come the SimHash, 0 without one, and notes: 1 + what it was read as, and whether
 * it looks like OCR. With pages, of which the notes tell, their number and these follow, u32 each;
 * with drawn ones, of which they tell, too, the bytes of these, u32, and these.
 * Before there were notes, the SimHash was left out where there was none. */
enum {
    HEADER_BYTES = 4 * 8 + 16 + 2 * 4,
    SHINGLE_BYTES = 4,
    PLACE_BYTES = 12,
    KEY_BYTES = 8,
    SIMHASH_BYTES = 8,
    NOTES_BYTES = 4,
    NOTED_READING = 0xff,
    NOTED_OCR = 0x100,
    NOTED_PAGES = 0x200,
    NOTED_DRAWN = 0x400,
    PAGE_BYTES = 4
};

static size_t kept_shingles(const struct doppel_text_result *result)
{
    size_t most = DOPPEL_TEXT_KEPT_SHINGLES;
    return result->shingle_count < most ? result->shingle_count : most;
}

static size_t kept_places(const struct doppel_text_result *result)
{
    return result->places && result->words <= UINT32_MAX ? (size_t)result->words : 0;
}

size_t doppel_text_attachment_size(const struct doppel_text_result *result)
{
    size_t size = HEADER_BYTES + kept_shingles(result) * SHINGLE_BYTES;
    if (kept_places(result))
        size += kept_places(result) * PLACE_BYTES + 4 + result->key_count * KEY_BYTES;
    if (result->page_count)
        size += 4 + result->page_count * PAGE_BYTES;
    if (result->drawn_size)
        size += 4 + result->drawn_size;
    return size + SIMHASH_BYTES + NOTES_BYTES;
}

/* Returns where they end. */
static uint8_t *write_places_text_result(const struct doppel_text_result *result, uint8_t *out)
{
    for (size_t i = 0; i < result->words; i++, out += PLACE_BYTES) {
        put_u32(out, result->places[i].hash);
        put_u32(out + 4, result->places[i].start);
        put_u32(out + 8, result->places[i].end);
    }
    put_u32(out, (uint32_t)result->key_count);
    out += 4;
    for (size_t i = 0; i < result->key_count; i++, out += KEY_BYTES) {
        put_u32(out, result->keys[i].key);
        put_u32(out + 4, result->keys[i].word);
    }
    return out;
}

void doppel_text_attachment_write(const struct doppel_text_result *result, uint8_t *out)
{
    size_t shingles = kept_shingles(result), places = kept_places(result);
    put_u64(out, result->words);
    put_u64(out + 8, result->characters);
    put_u64(out + 16, result->bad_bytes);
    put_u64(out + 24, result->shingle_count);
    memcpy(out + 32, result->digest.bytes, sizeof result->digest.bytes);
    put_u32(out + 48, (uint32_t)shingles);
    put_u32(out + 52, (uint32_t)places);
    out += HEADER_BYTES;
    for (size_t i = 0; i < shingles; i++, out += SHINGLE_BYTES)
        put_u32(out, result->shingles[i]);
    if (places)
        out = write_places_text_result(result, out);
    put_u64(out, result->simhash);
    put_u32(out + SIMHASH_BYTES,
            (1 + (uint32_t)result->reading) | (result->looks_like_ocr ? NOTED_OCR : 0) |
                (result->page_count ? NOTED_PAGES : 0) | (result->drawn_size ? NOTED_DRAWN : 0));
    out += SIMHASH_BYTES + NOTES_BYTES;
    if (result->page_count) {
        put_u32(out, (uint32_t)result->page_count);
        out += 4;
    }
    for (size_t i = 0; i < result->page_count; i++, out += PAGE_BYTES)
        put_u32(out, result->pages[i]);
    if (result->drawn_size) {
        put_u32(out, (uint32_t)result->drawn_size);
        memcpy(out + 4, result->drawn, result->drawn_size);
    }
}

/* ---- reading ---- */

static enum doppel_status read_stored_shingles(const uint8_t *data, struct doppel_text_extra *extra)
{
    if (!extra->shingle_count)
        return DOPPEL_OK;
    uint32_t *shingles = extra->shingles = malloc(extra->shingle_count * sizeof *shingles);
    if (!shingles)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < extra->shingle_count; i++) {
        shingles[i] = get_u32(data + i * SHINGLE_BYTES);
        if (i && shingles[i] <= shingles[i - 1])
            return DOPPEL_E_CORRUPT;
    }
    return DOPPEL_OK;
}

/* Words stand one after the other. */
static enum doppel_status read_words(const uint8_t *data, struct doppel_text_extra *extra)
{
    struct doppel_text_word *places = extra->places = malloc(extra->place_count * sizeof *places);
    if (!places)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < extra->place_count; i++, data += PLACE_BYTES) {
        places[i] = (struct doppel_text_word){get_u32(data), get_u32(data + 4), get_u32(data + 8)};
        if (places[i].end < places[i].start || (i && places[i].start < places[i - 1].start))
            return DOPPEL_E_CORRUPT;
    }
    return DOPPEL_OK;
}

static enum doppel_status read_keys(const uint8_t *data, struct doppel_text_extra *extra)
{
    struct doppel_text_key *keys = extra->keys = malloc((extra->key_count + 1) * sizeof *keys);
    if (!keys)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < extra->key_count; i++, data += KEY_BYTES) {
        keys[i] = (struct doppel_text_key){get_u32(data), get_u32(data + 4)};
        if (keys[i].word >= extra->place_count || (i && keys[i].word <= keys[i - 1].word))
            return DOPPEL_E_CORRUPT;
    }
    return DOPPEL_OK;
}

/* @param end of the attachment: drawn pages are the last, before them stand where pages begin */
static enum doppel_status read_drawn(const uint8_t *end, struct doppel_text_extra *extra)
{
    extra->drawn = malloc(extra->drawn_size);
    if (!extra->drawn)
        return DOPPEL_E_MEMORY;
    memcpy(extra->drawn, end - extra->drawn_size, extra->drawn_size);
    return DOPPEL_OK;
}

static enum doppel_status read_pages(const uint8_t *end, struct doppel_text_extra *extra)
{
    const uint8_t *data = end - extra->page_count * PAGE_BYTES;
    if (extra->drawn_size)
        data -= 4 + extra->drawn_size;
    uint32_t *pages = extra->pages = malloc(extra->page_count * sizeof *pages);
    if (!pages)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < extra->page_count; i++) {
        pages[i] = get_u32(data + i * PAGE_BYTES);
        if (i && pages[i] < pages[i - 1])
            return DOPPEL_E_CORRUPT;
    }
    return DOPPEL_OK;
}

/* What stands at the end; before there were notes, nothing, or a SimHash that is one. */
static bool read_attachment_notes(const uint8_t *data, size_t size, struct doppel_text_extra *extra)
{
    extra->reading = DOPPEL_TEXT_AUTO;
    if (size == 0)
        return true;
    if (size != SIMHASH_BYTES && size < SIMHASH_BYTES + NOTES_BYTES)
        return false;
    extra->simhash = get_u64(data);
    if (size == SIMHASH_BYTES)
        return extra->simhash;
    uint32_t notes = get_u32(data + SIMHASH_BYTES), reading = notes & NOTED_READING;
    extra->looks_like_ocr = notes & NOTED_OCR;
    if (reading == 1 + DOPPEL_TEXT_AUTO || reading > 1 + DOPPEL_TEXT_LAST)
        return false;
    if (reading)
        extra->reading = (enum doppel_text_format)(reading - 1);
    size -= SIMHASH_BYTES + NOTES_BYTES;
    data += SIMHASH_BYTES + NOTES_BYTES;
    if (notes & NOTED_PAGES) {
        extra->page_count = size >= 4 ? get_u32(data) : 0;
        if (!extra->page_count || extra->page_count > (size - 4) / PAGE_BYTES)
            return false;
        data += 4 + extra->page_count * PAGE_BYTES;
        size -= 4 + extra->page_count * PAGE_BYTES;
    }
    if (!(notes & NOTED_DRAWN))
        return size == 0;
    extra->drawn_size = size >= 4 ? get_u32(data) : 0;
    return extra->drawn_size && size == 4 + extra->drawn_size;
}

/* @param size of what follows the shingles: exactly places and keys, and the notes */
static bool read_attachment_end(const uint8_t *data, size_t size, struct doppel_text_extra *extra)
{
    if (!extra->place_count)
        return read_attachment_notes(data, size, extra);
    size_t places = extra->place_count * PLACE_BYTES;
    if (extra->place_count != extra->words || size < places + 4)
        return false;
    extra->key_count = get_u32(data + places);
    places += 4 + extra->key_count * KEY_BYTES;
    return extra->key_count <= extra->place_count && size >= places &&
           read_attachment_notes(data + places, size - places, extra);
}

/* All but the arrays, of which it is known then how long they are. */
static bool read_attachment_numbers(const uint8_t *data, size_t size, struct doppel_text_extra *out)
{
    if (!data || size < HEADER_BYTES)
        return false;
    *out = (struct doppel_text_extra){
        .words = get_u64(data),
        .characters = get_u64(data + 8),
        .bad_bytes = get_u64(data + 16),
        .shingle_total = get_u64(data + 24),
        .shingle_count = get_u32(data + 48),
        .place_count = get_u32(data + 52),
    };
    memcpy(out->content.bytes, data + 32, sizeof out->content.bytes);
    size_t end = HEADER_BYTES + out->shingle_count * SHINGLE_BYTES;
    return out->shingle_count <= DOPPEL_TEXT_KEPT_SHINGLES &&
           out->shingle_count <= out->shingle_total && size >= end &&
           read_attachment_end(data + end, size - end, out);
}

bool doppel_text_attachment_head(const uint8_t *data, size_t size, struct doppel_text_extra *out)
{
    struct doppel_text_extra extra;
    if (!read_attachment_numbers(data, size, &extra))
        return false;
    extra.shingle_count = extra.place_count = extra.key_count = extra.page_count = 0;
    extra.drawn_size = 0;
    *out = extra;
    return true;
}

enum doppel_status doppel_text_attachment_read(const uint8_t *data, size_t size,
                                               struct doppel_text_extra *out)
{
    struct doppel_text_extra extra;
    if (!read_attachment_numbers(data, size, &extra))
        return DOPPEL_E_CORRUPT;
    const uint8_t *shingles = data + HEADER_BYTES;
    const uint8_t *places = shingles + extra.shingle_count * SHINGLE_BYTES;
    enum doppel_status status;
    TRY(read_stored_shingles(shingles, &extra));
    if (extra.place_count)
        TRY(read_words(places, &extra));
    if (extra.place_count)
        TRY(read_keys(places + extra.place_count * PLACE_BYTES + 4, &extra));
    if (extra.page_count)
        TRY(read_pages(data + size, &extra));
    if (extra.drawn_size)
        TRY(read_drawn(data + size, &extra));
done:
    if (status)
        doppel_text_extra_free(&extra);
    else
        *out = extra;
    return status;
}

void doppel_text_extra_free(struct doppel_text_extra *extra)
{
    free(extra->shingles);
    free(extra->places);
    free(extra->keys);
    free(extra->pages);
    free(extra->drawn);
    *extra = (struct doppel_text_extra){0};
}

bool doppel_text_is_short(const struct doppel_text_options *options, uint64_t words,
                          uint64_t characters)
{
    uint64_t units = options->unit == DOPPEL_TEXT_CHARACTERS ? characters : words;
    return words < options->min_words || units < options->shingle;
}
