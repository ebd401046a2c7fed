/* How texts, and how source code, are best read: what survives changes, at which limit, and what
 * keeps unrelated items apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "parts.h"
#include "readings.h"

enum { FILES = 1200, LIMITS = 4 };

static const double limits[LIMITS] = {0.5, 0.6, 0.7, 0.8};

struct way {
    const char *name;
    enum doppel_text_unit unit;
    uint32_t shingle;
    bool fold_case, drop_punctuation;
};

static const struct way code_ways[] = {
    {"words 5", DOPPEL_TEXT_WORDS, 5, true, true},
    {"words 5, case kept", DOPPEL_TEXT_WORDS, 5, false, true},
    {"words and marks 5, case kept", DOPPEL_TEXT_WORDS, 5, false, false},
    {"words and marks 7, case kept", DOPPEL_TEXT_WORDS, 7, false, false},
    {"words and marks 10, case kept", DOPPEL_TEXT_WORDS, 10, false, false},
    {"words 3, case kept", DOPPEL_TEXT_WORDS, 3, false, true},
    {"characters 8, case kept", DOPPEL_TEXT_CHARACTERS, 8, false, true},
};

static const struct way prose_ways[] = {
    {"words 5", DOPPEL_TEXT_WORDS, 5, true, true},
    {"words 3", DOPPEL_TEXT_WORDS, 3, true, true},
    {"words 8", DOPPEL_TEXT_WORDS, 8, true, true},
    {"characters 5", DOPPEL_TEXT_CHARACTERS, 5, true, true},
    {"characters 8", DOPPEL_TEXT_CHARACTERS, 8, true, true},
};

static double similarity(const struct reading *a, const struct reading *b)
{
    static const struct doppel_text_limits any = {0, 2};
    struct doppel_match match;
    doppel_match_texts(&a->evidence, &b->evidence, &any, &match);
    return match.similarity;
}

struct tally {
    size_t within[LIMITS], all;
    double sum;
};

static void add(struct tally *tally, double similarity)
{
    tally->all++;
    tally->sum += similarity;
    for (int i = 0; i < LIMITS; i++)
        tally->within[i] += similarity >= limits[i];
}

static void print_tally(const char *name, const struct tally *tally)
{
    double all = tally->all ? (double)tally->all : 1;
    printf("| %s | %.3f |", name, tally->sum / all);
    for (int i = 0; i < LIMITS; i++)
        printf(" %.*g |", 4, (double)tally->within[i] / all);
    puts("");
    fflush(stdout);
}

static struct tally copies_tally(const struct documents *documents, const struct readings *readings,
                                 const struct doppel_text_options *options,
                                 const struct change *change)
{
    struct change_source source = {documents, 1};
    struct reader *reader = reader_new(options);
    struct tally tally = {0};
    for (size_t i = 0; i < documents->count; i++) {
        struct draft draft = {0};
        struct reading reading;
        change->apply(&documents->items[i], change->amount, &source, &draft);
        reader_read(reader, draft.text, draft.size, &reading);
        add(&tally, similarity(&reading, &readings->items[i]));
        reading_free(&reading);
        free(draft.text);
    }
    reader_free(reader);
    return tally;
}

/* Pairs of different source packages. */
static struct tally strangers_tally(const struct documents *documents,
                                    const struct readings *readings)
{
    struct tally tally = {0};
    for (size_t i = 0; i < readings->count; i++)
        for (size_t j = i + 1; j < readings->count; j++)
            if (documents->items[i].family != documents->items[j].family)
                add(&tally, similarity(&readings->items[i], &readings->items[j]));
    return tally;
}

struct change_list {
    const struct change *items;
    size_t count;
};

static void report_way(const struct documents *documents, const struct way *way,
                       const struct change_list *list)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.format = DOPPEL_TEXT_AUTO;
    options.unit = way->unit;
    options.shingle = way->shingle;
    options.fold_case = way->fold_case;
    options.drop_punctuation = way->drop_punctuation;
    struct readings readings = readings_of(documents, &options);
    printf("\n%s\n| change | Jaccard, mean | >= .5 | >= .6 | >= .7 | >= .8 |\n"
           "|---|---|---|---|---|---|\n",
           way->name);
    for (size_t i = 0; i < list->count; i++) {
        struct tally tally = copies_tally(documents, &readings, &options, &list->items[i]);
        print_tally(list->items[i].name, &tally);
    }
    struct tally strangers = strangers_tally(documents, &readings);
    char name[64];
    snprintf(name, sizeof name, "%zu pairs of strangers", strangers.all);
    print_tally(name, &strangers);
    readings_free(&readings);
}

void part_code(bool held)
{
    static const char *const folders[] = {"/usr/include", "/usr/lib/python3", "/usr/share/doc",
                                          NULL};
    static const char *const endings[] = {".h", ".c", ".py", NULL};
    struct documents_wish wish = {
        .folders = folders, .endings = endings, .held = held, .min_words = 200, .max_count = FILES};
    struct change_list list = {code_changes, code_change_count};
    struct documents documents = documents_load(&wish);
    printf("\n%zu source files, C and Python\n", documents.count);
    for (size_t i = 0; i < sizeof code_ways / sizeof *code_ways; i++)
        report_way(&documents, &code_ways[i], &list);
    documents_free(&documents);
}

/* Texts with words of their own, cut at 1000 words. */
void part_prose(bool held)
{
    struct documents_wish wish = {.folders = document_folders,
                                  .held = held,
                                  .min_words = 300,
                                  .max_count = FILES,
                                  .cut_words = 1000,
                                  .own_words = true};
    struct change_list list = {changes, change_count};
    struct documents documents = documents_load(&wish);
    printf("\n%zu texts of up to 1000 words\n", documents.count);
    for (size_t i = 0; i < sizeof prose_ways / sizeof *prose_ways; i++)
        report_way(&documents, &prose_ways[i], &list);
    documents_free(&documents);
}
