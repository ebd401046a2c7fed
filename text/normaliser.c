/* Plain text to blocks of normalised words. */
#include "text/normaliser.h"

#include <stdlib.h>

enum doppel_status normaliser_new(const struct doppel_text_options *options,
                                  struct normaliser **out, struct doppel_error *error)
{
    struct normaliser *normaliser = calloc(1, sizeof *normaliser);
    /* Never touched but where text needs it, the table costs nothing. */
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (!normaliser || !mapping) {
        free(normaliser);
        free(mapping);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the text normaliser");
    }
    mapping_begin(mapping, options);
    normaliser->mapping = mapping;
    normaliser->split = split_choose();
    normaliser->out.bytes = normaliser->block + BLOCK_SLACK;
    normaliser->out.ends = normaliser->ends;
    *out = normaliser;
    return DOPPEL_OK;
}

void normaliser_free(struct normaliser *normaliser)
{
    if (!normaliser)
        return;
    free(normaliser->mapping);
    free(normaliser);
}

static size_t mark_bytes(const uint8_t *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

void normaliser_begin(struct normaliser *normaliser, const void *bytes, size_t size)
{
    normaliser->source = (struct text_source){bytes, size, 0};
    normaliser->at = mark_bytes(bytes, size);
    normaliser->consumed = 0;
    normaliser->done = false;
    normaliser->ascii = true;
    normaliser->out.size = normaliser->out.words = 0;
    normaliser->out.after_space = true;
    normaliser->out.long_word = false;
}

uint64_t normaliser_bad_bytes(const struct normaliser *normaliser)
{
    return normaliser->source.bad_bytes;
}

static bool is_ascii(const uint8_t *bytes, size_t size)
{
    uint8_t all = 0;
    size_t at = 0;
    for (; at + 64 <= size && all < 0x80; at += 64)
        for (size_t i = 0; i < 64; i++)
            all |= bytes[at + i];
    for (; at < size; at++)
        all |= bytes[at];
    return all < 0x80;
}

/* Split a block of source as it is, if it is ASCII. After such a block the next is taken for one:
 * whether it is, splitting tells. */
static bool read_ascii(struct normaliser *normaliser, size_t size)
{
    const uint8_t *bytes = normaliser->source.bytes + normaliser->at;
    struct split before = normaliser->out;
    if (!normaliser->ascii && !is_ascii(bytes, size))
        return false;
    normaliser->ascii = normaliser->split(&normaliser->out, normaliser->mapping, bytes, size);
    if (normaliser->ascii)
        normaliser->at += size;
    else
        normaliser->out = before;
    return normaliser->ascii;
}

/* Both passes over some more of the source. */
static void normalise_more(struct normaliser *normaliser)
{
    struct text_source *source = &normaliser->source;
    size_t left = source->size - normaliser->at, size = left < BLOCK_BYTES ? left : BLOCK_BYTES;
    /* A mark behind the last character would change it. */
    bool whole = size == left || source->bytes[normaliser->at + size] < 0x80;
    if (normaliser->mapping->drop_punctuation && whole && read_ascii(normaliser, size))
        return;
    normaliser->at =
        clean_block(normaliser->mapping, source, normaliser->at, normaliser->cleaned, &size);
    normaliser->split(&normaliser->out, normaliser->mapping, normaliser->cleaned, size);
}

/* How much of a word over the limit goes first: whole code points. */
static size_t cut_normalised(const uint8_t *word)
{
    size_t size = DOPPEL_TEXT_MAX_WORD_BYTES;
    while ((word[size] & 0xc0) == 0x80)
        size--;
    return size;
}

/* Copy a word, cut where it is too long, but for its last part's end. @return where that is */
static size_t copy_cut(struct split *out, const uint8_t *word, size_t size, size_t at)
{
    while (size > DOPPEL_TEXT_MAX_WORD_BYTES) {
        size_t part = cut_normalised(word);
        memcpy(out->bytes + at, word, part);
        at += part;
        out->ends[out->words++] = (uint32_t)at;
        out->bytes[at++] = ' ';
        word += part;
        size -= part;
    }
    memcpy(out->bytes + at, word, size);
    return at + size;
}

static bool has_long_word(const struct split *out)
{
    uint32_t start = 0, longest = 0;
    for (size_t i = 0; i < out->words; i++) {
        uint32_t size = out->ends[i] - start;
        longest = size > longest ? size : longest;
        start = out->ends[i] + 1;
    }
    uint32_t size = (uint32_t)out->size - start;
    return (size > longest ? size : longest) > DOPPEL_TEXT_MAX_WORD_BYTES;
}

/* Write the block again with no word over the limit. */
static void cut_long_words(struct normaliser *normaliser)
{
    struct split *out = &normaliser->out;
    const uint8_t *from = normaliser->spare, *end = from + out->size;
    memcpy(normaliser->spare, out->bytes, out->size);
    out->words = out->size = 0;
    for (const uint8_t *space; (space = memchr(from, ' ', (size_t)(end - from)));
         from = space + 1) {
        out->size = copy_cut(out, from, (size_t)(space - from), out->size);
        out->ends[out->words++] = (uint32_t)out->size;
        out->bytes[out->size++] = ' ';
    }
    out->size = copy_cut(out, from, (size_t)(end - from), out->size);
}

/* Bring the word that the last block left unfinished to the front. */
static void carry_over(struct normaliser *normaliser)
{
    struct split *out = &normaliser->out;
    out->size -= normaliser->consumed;
    memmove(out->bytes, out->bytes + normaliser->consumed, out->size);
    out->words = 0;
    normaliser->consumed = 0;
}

static void finish_normalising(struct normaliser *normaliser)
{
    struct split *out = &normaliser->out;
    normaliser->done = true;
    if (out->after_space)
        return;
    out->ends[out->words++] = (uint32_t)out->size;
    out->bytes[out->size++] = ' ';
    out->after_space = true;
}

bool normaliser_next(struct normaliser *normaliser, struct text_block *out)
{
    struct split *words = &normaliser->out;
    if (normaliser->done)
        return false;
    carry_over(normaliser);
    while (words->words == 0 && !normaliser->done) {
        if (normaliser->at < normaliser->source.size)
            normalise_more(normaliser);
        if (words->long_word && has_long_word(words))
            cut_long_words(normaliser);
        words->long_word = false;
        if (normaliser->at == normaliser->source.size)
            finish_normalising(normaliser);
    }
    normaliser->consumed = words->words ? words->ends[words->words - 1] + 1 : 0;
    *out = (struct text_block){words->bytes, words->ends, normaliser->consumed, words->words,
                               normaliser->done};
    return true;
}
