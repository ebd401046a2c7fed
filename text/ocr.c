/* Whether a text looks like OCR: by words that no language writes. */
#include <doppel/text.h>

#include <stdio.h>
#include <string.h>

#include "text/rare_trigrams.h"

enum {
    LOOKED_AT_BYTES = 16384,
    LEAST_WORDS = 50,
    LEAST_LETTERS = 3,
    MOST_LETTERS = 24,
    MET_BITS = 16384 /* more than there are words in so many bytes */
};

/* Words so far. */
struct word_count {
    uint32_t all, plain, odd;
    uint64_t met[MET_BITS / 64]; /* hashes of the odd ones */
};

static inline bool is_ascii_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* 1 to 26; 0: no letter. */
static inline unsigned letter_of(uint8_t c)
{
    unsigned letter = (c | 0x20u) - 'a' + 1u;
    return letter <= 26 ? letter : 0;
}

static inline bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_odd_sign(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '|' || c == '~' || c == '^' || c == '*';
}

/* A word in lower case, but for its first letter. */
static bool is_plain_word(const uint8_t *word, size_t size)
{
    if (size < LEAST_LETTERS || size > MOST_LETTERS || !letter_of(word[0]))
        return false;
    for (size_t i = 1; i < size; i++)
        if (!is_lower(word[i]))
            return false;
    return true;
}

static bool has_rare_letters(const uint8_t *word, size_t size)
{
    unsigned before = 0, last = letter_of(word[0]);
    for (size_t i = 1; i <= size; i++) {
        unsigned next = i < size ? letter_of(word[i]) : 0;
        if (rare_trigrams[before][last] >> next & 1)
            return true;
        before = last;
        last = next;
    }
    return false;
}

/* Letters, all but one sign; with the sign first, two of them or more in lower case. */
static bool has_sign_among_letters(const uint8_t *word, size_t size)
{
    size_t signs = 0, at = 0;
    if (size < LEAST_LETTERS || size > MOST_LETTERS || !letter_of(word[size - 1]))
        return false;
    for (size_t i = 0; i < size; i++) {
        if (letter_of(word[i]))
            continue;
        if (!is_odd_sign(word[i]) || signs++)
            return false;
        at = i;
    }
    return signs && (at || (is_lower(word[1]) && is_lower(word[2])));
}

/* Each odd word counts once: a name that comes again and again is none of a reader's errors. */
static void count_odd(struct word_count *count, const uint8_t *word, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ word[i]) * 0x100000001b3;
    hash = (hash ^ hash >> 32) % MET_BITS;
    uint64_t bit = 1ull << hash % 64;
    if (!(count->met[hash / 64] & bit)) {
        count->met[hash / 64] |= bit;
        count->plain++;
        count->odd++;
    }
}

/* @param word what stands between white space */
static void count_word(struct word_count *count, const uint8_t *word, size_t size)
{
    count->all++;
    while (size && memchr("(\"'[", *word, 4)) {
        word++;
        size--;
    }
    while (size && memchr(".,;:!?\"')]", word[size - 1], 10))
        size--;
    if (is_plain_word(word, size) && !has_rare_letters(word, size))
        count->plain++;
    else if (is_plain_word(word, size) || has_sign_among_letters(word, size))
        count_odd(count, word, size);
}

bool doppel_text_looks_like_ocr(const void *bytes, size_t size)
{
    struct word_count count = {0};
    const uint8_t *text = bytes;
    size = size < LOOKED_AT_BYTES ? size : LOOKED_AT_BYTES;
    for (size_t at = 0, start; at < size; at++) {
        for (start = at; at < size && !is_ascii_space(text[at]);)
            at++;
        if (at > start)
            count_word(&count, text + start, at - start);
    }
    return count.plain >= LEAST_WORDS && 5 * count.plain >= 2 * count.all &&
           100 * count.odd >= DOPPEL_TEXT_OCR_PERCENT * count.plain;
}

bool doppel_text_looks_hint(const struct doppel_text_looks *looks, char *out, size_t size)
{
    enum { ONE_IN = 20 };
    if (!looks->ocr || looks->ocr < looks->texts / ONE_IN)
        return false;
    snprintf(out, size,
             "of %llu text%s that %s looked at, %llu look%s like OCR: --preset ocr finds copies "
             "that differ by its errors",
             (unsigned long long)looks->texts, looks->texts == 1 ? "" : "s",
             looks->texts == 1 ? "was" : "were", (unsigned long long)looks->ocr,
             looks->ocr == 1 ? "s" : "");
    return true;
}
