/* Documents cut into sentences, records or paragraphs, each of which says something new. */
#include "debian_samples.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../debian_text.h"
#include "core/bytes.h"
#include "core/number_map.h"

enum { SHINGLE = 5, MOST_WORDS = 1024, MOST_BYTES = 1 << 30 };

struct sample_maker {
    struct samples *samples;
    enum sample_kind kind;
    struct number_map seen; /* runs of five words */
    size_t capacity;
    uint32_t document;
};

/* ---- what is new ---- */

static size_t hash_words(const char *text, uint64_t *out)
{
    size_t count = 0;
    while (*text && count < MOST_WORDS) {
        uint64_t hash = 14695981039346656037u;
        size_t size = 0;
        for (; isalnum((unsigned char)text[size]); size++)
            hash = (hash ^ (uint64_t)tolower((unsigned char)text[size])) * 1099511628211u;
        if (size)
            out[count++] = hash;
        text += size + (size == 0);
    }
    return count;
}

static bool is_new(struct sample_maker *maker, const char *text)
{
    uint64_t words[MOST_WORDS];
    const size_t count = hash_words(text, words);
    size_t seen = 0, runs = 0;
    if (count < SHINGLE || !number_map_reserve(&maker->seen, count))
        return false;
    for (; runs + SHINGLE <= count; runs++) {
        uint64_t key = 0;
        for (size_t i = 0; i < SHINGLE; i++)
            key = (key ^ words[runs + i]) * UINT64_C(0x9e3779b97f4a7c15) + (key >> 29);
        uint64_t *place = number_map_place(&maker->seen, key | 1);
        seen += *place != 0;
        *place = 1;
    }
    return 2 * seen <= runs;
}

static void push_sample(struct sample_maker *maker, const char *text, size_t size)
{
    struct samples *all = maker->samples;
    char *copy = strndup(text, size);
    if (!copy || !is_new(maker, copy)) {
        free(copy);
        return;
    }
    if (all->count == maker->capacity) {
        maker->capacity = 2 * maker->capacity + 1024;
        all->texts = realloc(all->texts, maker->capacity * sizeof *all->texts);
        all->documents = realloc(all->documents, maker->capacity * sizeof *all->documents);
        if (!all->texts || !all->documents)
            abort();
    }
    all->texts[all->count] = copy;
    all->documents[all->count++] = maker->document;
}

/* ---- what is cut ---- */

static bool is_sentence(const char *text, size_t size)
{
    size_t letters = 0;
    for (size_t i = 0; i < size; i++)
        letters += isalpha((unsigned char)text[i]) || text[i] == ' ';
    return size > 60 && size < 240 && isupper((unsigned char)*text) && letters * 10 >= size * 9;
}

static void cut_sentences(struct sample_maker *maker, const char *text, size_t size)
{
    for (size_t at = 0, begin = 0; at < size; at++) {
        if (!strchr(".!?", text[at]) || (at + 1 < size && text[at + 1] != ' '))
            continue;
        if (is_sentence(text + begin, at + 1 - begin))
            push_sample(maker, text + begin, at + 1 - begin);
        begin = at + 2;
        at++;
    }
}

static void cut_records(struct sample_maker *maker, const char *text, size_t size)
{
    enum { RECORD_BYTES = 156 };
    for (size_t at = 0; at + RECORD_BYTES <= size;) {
        size_t end = at + RECORD_BYTES;
        while (end < size && text[end] != ' ')
            end++;
        push_sample(maker, text + at, end - at);
        at = end + 1;
    }
}

/* One blank for all white space. @return how many bytes */
static size_t squeeze_blanks(const char *text, size_t size, char *out)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        if (!isspace((unsigned char)text[i]))
            out[count++] = text[i];
        else if (count && out[count - 1] != ' ')
            out[count++] = ' ';
    return count;
}

static void cut_paragraphs_of(struct sample_maker *maker, const char *text, size_t size)
{
    char *plain = malloc(size + 1);
    for (size_t at = 0; plain && at < size;) {
        size_t end = at;
        while (end + 1 < size && !(text[end] == '\n' && text[end + 1] == '\n'))
            end++;
        end += end + 1 == size;
        const size_t length = squeeze_blanks(text + at, end - at, plain);
        if (maker->kind == SAMPLE_SENTENCES)
            cut_sentences(maker, plain, length);
        else if (maker->kind == SAMPLE_PARAGRAPHS && length >= 400 && length <= 4096)
            push_sample(maker, plain, length);
        at = end + 1;
    }
    free(plain);
}

static void cut_document_into(struct sample_maker *maker, const char *text, size_t size)
{
    char *plain;
    if (maker->kind != SAMPLE_RECORDS) {
        cut_paragraphs_of(maker, text, size);
        return;
    }
    plain = malloc(size + 1);
    if (plain)
        cut_records(maker, plain, squeeze_blanks(text, size, plain));
    free(plain);
}

void samples_find(struct samples *samples, enum sample_kind kind, unsigned half)
{
    struct debian_text text = {0};
    struct sample_maker maker = {.samples = samples, .kind = kind};
    debian_text_find(&text, "/usr/share/doc", MOST_BYTES, half);
    for (size_t i = 0; i < text.count; i++) {
        maker.document = (uint32_t)i;
        cut_document_into(&maker, text.bytes + text.starts[i], text.starts[i + 1] - text.starts[i]);
    }
    number_map_free(&maker.seen);
    debian_text_free(&text);
}
