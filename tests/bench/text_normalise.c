/* How fast text is normalised, and read into a MinHash, against utf8proc on the whole texts: man
 * pages of nine languages, and English documents. CPU time of one thread, best of some rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include <doppel/text.h>

#include "bench.h"
#include "debian_text.h"
#include "text/text_internal.h"

enum { LIMIT = 4 << 20, ROUNDS = 7 };

/* ---- what is measured ---- */

typedef size_t read_text(void *context, const uint8_t *bytes, size_t size);

static size_t normalise(void *context, const uint8_t *bytes, size_t size)
{
    struct text_block block;
    size_t words = 0;
    normaliser_begin(context, bytes, size);
    while (normaliser_next(context, &block))
        words += block.words;
    return words;
}

static bool count_word(void *context, const uint8_t *word, size_t size, uint32_t start,
                       uint32_t end)
{
    (void)word, (void)start, (void)end;
    *(size_t *)context += size;
    return true;
}

static size_t place(void *context, const uint8_t *bytes, size_t size)
{
    size_t sum = 0;
    normaliser_places(context, bytes, size, count_word, &sum, NULL);
    return sum;
}

static size_t minhash(void *context, const uint8_t *bytes, size_t size)
{
    struct doppel_text_result result;
    doppel_text_read(context, bytes, size, DOPPEL_TEXT_MINHASH, &result, NULL);
    return result.lanes[0];
}

static size_t whole(void *context, const uint8_t *bytes, size_t size)
{
    utf8proc_uint8_t *out = NULL;
    (void)context;
    utf8proc_ssize_t got = utf8proc_map(bytes, (utf8proc_ssize_t)size, &out,
                                        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                            UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    free(out);
    return (size_t)got;
}

/* Seconds for all texts, the best of `rounds`. */
static double measure(const struct debian_text *texts, read_text *read, void *context, int rounds)
{
    static volatile size_t sink;
    double best = 1e9;
    for (int round = 0; round < rounds; round++) {
        double begin = bench_now().cpu;
        for (size_t i = 0; i < texts->count; i++)
            sink += read(context, (const uint8_t *)texts->bytes + texts->starts[i],
                         texts->starts[i + 1] - texts->starts[i]);
        double seconds = bench_now().cpu - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

struct line {
    double bytes, normalise, minhash, place, whole;
};

static void print_line(const char *name, const struct line *line)
{
    printf("%-10s %6.1f MB %9.0f %9.0f %9.0f %9.0f %8.0f x\n", name, line->bytes / 1e6,
           line->bytes / line->normalise / 1e6, line->bytes / line->minhash / 1e6,
           line->bytes / line->place / 1e6, line->bytes / line->whole / 1e6,
           line->whole / line->normalise);
}

static struct line measure_texts(const struct debian_text *texts)
{
    struct normaliser *normaliser;
    struct doppel_text *text;
    struct doppel_text_options options = doppel_text_options_default();
    struct line line = {.bytes = (double)texts->size};
    if (normaliser_new(&options, &normaliser, NULL) || doppel_text_new(&options, &text, NULL))
        abort();
    line.normalise = measure(texts, normalise, normaliser, ROUNDS);
    line.place = measure(texts, place, normaliser, ROUNDS);
    line.minhash = measure(texts, minhash, text, ROUNDS);
    line.whole = measure(texts, whole, NULL, 1);
    normaliser_free(normaliser);
    doppel_text_free(text);
    return line;
}

/* The man pages of a language. */
static struct debian_text man_pages(const char *language, unsigned half)
{
    struct debian_text text = {0};
    for (int section = 1; section <= 8; section++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/usr/share/man/%s/man%d", language, section);
        debian_text_find_any(&text, folder, LIMIT, half);
    }
    return text;
}

static bool is_ascii(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] >= 0x80)
            return false;
    return true;
}

/* Keep the documents that are nothing but ASCII. */
static void keep_ascii(struct debian_text *text)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < text->count; i++) {
        size_t begin = text->starts[i], size = text->starts[i + 1] - begin;
        if (!is_ascii(text->bytes + begin, size))
            continue;
        memmove(text->bytes + at, text->bytes + begin, size);
        text->starts[kept++] = at;
        at += size;
    }
    text->starts[kept] = text->size = at;
    text->count = kept;
}

static void add_line(struct line *all, const struct line *line)
{
    all->bytes += line->bytes;
    all->normalise += line->normalise;
    all->minhash += line->minhash;
    all->place += line->place;
    all->whole += line->whole;
}

/* text_normalise [0|1]: which half of the files; 1 is reported, 0 is for tuning. */
int main(int count, char **arguments)
{
    static const char *const languages[] = {"de", "fr", "es",    "pl", "ru",
                                            "uk", "ja", "zh_CN", "ko"};
    struct debian_text english = {0};
    struct line all = {0};
    unsigned half = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
    printf("%-10s %9s %9s %9s %9s %9s %10s\n", "MB/s", "", "normalise", "+ OPH-128", "places",
           "utf8proc", "ratio");
    debian_text_find(&english, "/usr/share/doc", LIMIT, half);
    struct line line = measure_texts(&english);
    print_line("English", &line);
    keep_ascii(&english);
    line = measure_texts(&english);
    print_line("its ASCII", &line);
    debian_text_free(&english);
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        struct debian_text text = man_pages(languages[i], half);
        line = text.count ? measure_texts(&text) : (struct line){0};
        if (text.count)
            print_line(languages[i], &line);
        else
            printf("%-10s no man pages here\n", languages[i]);
        add_line(&all, &line);
        debian_text_free(&text);
    }
    if (all.bytes > 0)
        print_line("these", &all);
    return 0;
}
