/* How well changed copies are found whose letters are not Latin: man pages of other languages, 5 %
 * of whose characters are others, in runs of eight. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../debian_text.h"
#include "changes.h"
#include "parts.h"
#include "readings.h"

enum { PAGES = 120, LEAST_WORDS = 300, MOST_WORDS = 1000, RUN = 8, RUNS_A_THOUSAND = 6 };

struct unit_way {
    const char *name;
    enum doppel_text_unit unit;
    uint32_t shingle;
    struct doppel_text_limits limits;
};

static const struct unit_way unit_ways[] = {
    {"words 5", DOPPEL_TEXT_WORDS, 5, {0.7, 0.9}},
    {"by script", DOPPEL_TEXT_BY_SCRIPT, 5, {0.7, 0.9}},
    {"news: words 3, .6", DOPPEL_TEXT_WORDS, 3, {0.6, 0.9}},
};
enum { UNIT_WAYS = sizeof unit_ways / sizeof *unit_ways };

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Where `points` code points further is. */
static size_t skip_points(const char *text, size_t size, size_t at, size_t points)
{
    for (; points && at < size; points--)
        do
            at++;
        while (at < size && continues(text[at]));
    return at;
}

/* A page without requests and fonts, up to so many words. @return how many it has */
static size_t strip_page(const char *page, size_t size, struct draft *out)
{
    size_t words = 0;
    for (size_t i = 0; i < size && words < MOST_WORDS; i++) {
        bool begins = i == 0 || page[i - 1] == '\n';
        if (begins && (page[i] == '.' || page[i] == '\'')) {
            while (i < size && page[i] != '\n')
                i++;
        } else if (page[i] == '\\') {
            i += i + 1 < size && page[i + 1] == 'f' ? 2 : 1;
        } else {
            bool space = page[i] == ' ' || page[i] == '\n';
            words += space && out->size && out->text[out->size - 1] != ' ';
            draft_add(out, space ? " " : &page[i], 1);
        }
    }
    return words;
}

/* Eight in a row in some places are those of another place. */
static void change_runs(const struct draft *page, uint64_t *seed, struct draft *out)
{
    size_t points = 0;
    draft_add(out, page->text, page->size);
    for (size_t i = 0; i < page->size; i++)
        points += !continues(page->text[i]);
    for (size_t i = 0; i < points * RUNS_A_THOUSAND / 1000; i++) {
        size_t to = skip_points(out->text, out->size, 0, next_random(seed) % points);
        size_t to_end = skip_points(out->text, out->size, to, RUN);
        size_t from = skip_points(page->text, page->size, 0, next_random(seed) % points);
        size_t from_end = skip_points(page->text, page->size, from, RUN);
        struct draft made = {0};
        draft_add(&made, out->text, to);
        draft_add(&made, page->text + from, from_end - from);
        draft_add(&made, out->text + to_end, out->size - to_end);
        free(out->text);
        *out = made;
    }
}

struct page_list {
    struct draft items[PAGES];
    size_t count;
};

static void find_pages(const char *language, bool held, struct page_list *out)
{
    struct debian_text found = {0};
    for (int section = 1; section <= 8; section++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/usr/share/man/%s/man%d", language, section);
        debian_text_find_any(&found, folder, 8 << 20, held);
    }
    for (size_t i = 0; i < found.count && out->count < PAGES; i++) {
        struct draft page = {0};
        size_t size = found.starts[i + 1] - found.starts[i];
        if (strip_page(found.bytes + found.starts[i], size, &page) >= LEAST_WORDS)
            out->items[out->count++] = page;
        else
            free(page.text);
    }
    debian_text_free(&found);
}

static bool readings_match(const struct reading *a, const struct reading *b,
                           const struct unit_way *way, double *similarity)
{
    struct doppel_match match;
    bool matches = doppel_match_texts(&a->evidence, &b->evidence, &way->limits, &match);
    *similarity = match.similarity;
    return matches;
}

/* Copies that are found, and other pages that match. */
static void report_unit_way(const struct page_list *pages, const struct unit_way *way)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.unit = way->unit;
    options.shingle = way->shingle;
    struct reader *reader = reader_new(&options);
    struct reading *readings = calloc(pages->count + 1, sizeof *readings);
    uint64_t seed = 1;
    size_t found = 0, others = 0;
    double sum = 0, similarity;
    for (size_t i = 0; readings && i < pages->count; i++) {
        struct draft copy = {0};
        struct reading changed;
        change_runs(&pages->items[i], &seed, &copy);
        reader_read(reader, pages->items[i].text, pages->items[i].size, &readings[i]);
        reader_read(reader, copy.text, copy.size, &changed);
        readings[i].evidence.lanes = readings[i].lanes;
        changed.evidence.lanes = changed.lanes;
        found += readings_match(&changed, &readings[i], way, &similarity);
        sum += similarity;
        for (size_t j = 0; j < i; j++)
            others += readings_match(&readings[i], &readings[j], way, &similarity);
        reading_free(&changed);
        free(copy.text);
    }
    printf(" %.3f (%.3f), %zu |", (double)found / (double)pages->count, sum / (double)pages->count,
           others);
    for (size_t i = 0; readings && i < pages->count; i++)
        reading_free(&readings[i]);
    free(readings);
    reader_free(reader);
}

void part_scripts(bool held)
{
    static const char *const languages[] = {"ru", "uk", "sr", "ko", "ja", "zh_CN", "de", "fr"};
    printf("\ncopies found (similarity, mean), other pairs of pages that match\n| pages |");
    for (size_t i = 0; i < UNIT_WAYS; i++)
        printf(" %s |", unit_ways[i].name);
    printf("\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        static struct page_list pages;
        pages.count = 0;
        find_pages(languages[i], held, &pages);
        printf("| %s: %zu |", languages[i], pages.count);
        for (size_t j = 0; pages.count && j < UNIT_WAYS; j++)
            report_unit_way(&pages, &unit_ways[j]);
        puts("");
        for (size_t j = 0; j < pages.count; j++)
            free(pages.items[j].text);
    }
}
