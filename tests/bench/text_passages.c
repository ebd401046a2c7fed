/*
 * Passages: what of planted ones is found, and how exactly; what unrelated documents share; speed.
 *
 *     text_passages [0|1]    the half of the packages; 0 is what was tuned on
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "match/images.h"
#include "passage_documents.h"
#include "text/winnow.h"

enum { TRIALS = 2000, NEAR_WORDS = 10, LIBRARY_DOCUMENTS = 10000, FINDS = 100 };

/* ---- chance ---- */

static void print_chance(const struct documents *documents, const char *name)
{
    static const uint32_t limits[] = {8, 10, 13, 16, 20};
    struct doppel_passage_options options = doppel_passage_options_default();
    size_t matches[5] = {0}, pairs = documents->count * (documents->count - 1) / 2;
    double before = bench_now().cpu;
    for (size_t i = 0; i < documents->count; i++)
        for (size_t j = 0; j < i; j++)
            for (int limit = 0; limit < 5; limit++) {
                struct doppel_passage_text a = document_text(&documents->items[i]);
                struct doppel_passage_text b = document_text(&documents->items[j]);
                struct doppel_match match;
                options.min_words = limits[limit];
                if (doppel_match_passages(&a, &b, &options, &match, NULL))
                    abort();
                matches[limit] += match.segment_count > 0;
                free((void *)match.segments);
            }
    double each = (bench_now().cpu - before) / (double)pairs / 5;
    printf("%-22s %9zu %6zu %7.0f ", name, documents->count, pairs, each * 1e6);
    for (int limit = 0; limit < 5; limit++)
        printf(" %7.2f", 1000.0 * (double)matches[limit] / (double)pairs);
    putchar('\n');
}

/* ---- planted passages ---- */

struct score {
    size_t trials, compared, near, found;
};

static bool meets(double first, double end, uint32_t planted_first, uint32_t planted)
{
    return first < planted_first + planted && end > planted_first;
}

static double farther(double a, double b)
{
    return a > b ? a : b;
}

/* How far the ends of the passage, as it was found, are from what was planted; < 0: not found. a is
 * the document that it was planted in. */
static double miss(const struct doppel_match *match, const struct plant *plant, uint32_t planted)
{
    double least = -1;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *it = &match->segments[i];
        if (!meets(it->a_start, it->a_end, plant->to_first, planted) ||
            !meets(it->b_start, it->b_end, plant->from_first, plant->words))
            continue;
        double in_a = farther(fabs(it->a_start - plant->to_first),
                              fabs(it->a_end - plant->to_first - planted));
        double in_b = farther(fabs(it->b_start - plant->from_first),
                              fabs(it->b_end - plant->from_first - plant->words));
        double missed = farther(in_a, in_b);
        if (least < 0 || missed < least)
            least = missed;
    }
    return least;
}

static struct plant choose(const struct documents *documents, uint32_t words, double edits,
                           uint64_t *seed)
{
    size_t from = random_word(seed) % documents->count;
    size_t to = (from + 1 + random_word(seed) % (documents->count - 1)) % documents->count;
    return (struct plant){&documents->items[from],
                          &documents->items[to],
                          (uint32_t)(random_word(seed) % (DOCUMENT_WORDS - words)),
                          (uint32_t)(random_word(seed) % (DOCUMENT_WORDS - words)),
                          words,
                          edits};
}

static bool give_document(void *context, uint64_t id, struct doppel_passage_text *out)
{
    const struct documents *documents = context;
    *out = document_text(&documents->items[id]);
    return true;
}

struct wanted {
    uint64_t id;
    const struct plant *plant;
    uint32_t planted;
    bool found;
};

static bool look(void *context, const struct doppel_found *found)
{
    struct wanted *wanted = context;
    if (found->id == wanted->id)
        wanted->found = miss(&found->match, wanted->plant, wanted->planted) >= 0;
    return true;
}

static struct score try_passages(const struct documents *documents,
                                 const struct doppel_passages *set, uint32_t words, double edits)
{
    static struct document made;
    struct doppel_passage_options options = doppel_passage_options_default();
    struct score score = {.trials = TRIALS};
    uint64_t seed = words * 1000 + (uint64_t)(edits * 100);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct plant plant = choose(documents, words, edits, &seed);
        struct wanted wanted = {.id = (uint64_t)(plant.from - documents->items), .plant = &plant};
        plant_passage(&plant, documents, &seed, &made, &wanted.planted);
        struct doppel_passage_text query = document_text(&made), item = document_text(plant.from);
        struct doppel_match match;
        if (doppel_match_passages(&query, &item, &options, &match, NULL))
            abort();
        double missed = miss(&match, &plant, wanted.planted);
        free((void *)match.segments);
        score.compared += missed >= 0;
        score.near += missed >= 0 && missed <= NEAR_WORDS;
        struct doppel_passage_request request = doppel_passage_request_default(&query);
        request.source = give_document;
        request.source_context = (void *)documents;
        if (doppel_passages_find(set, &request, look, &wanted, NULL))
            abort();
        score.found += wanted.found;
    }
    return score;
}

static struct doppel_passages *shelve(const struct documents *documents)
{
    struct doppel_passages *set;
    if (doppel_passages_new(&set, NULL))
        abort();
    for (size_t i = 0; i < documents->count; i++) {
        struct doppel_passage_text text = document_text(&documents->items[i]);
        if (doppel_passages_add(set, i, &text, NULL))
            abort();
    }
    return set;
}

static void print_planted(const struct documents *documents)
{
    struct doppel_passages *set = shelve(documents);
    printf("\nA passage of one document planted in another, %d trials a line, words replaced, "
           "inserted or dropped:\n"
           "words  edits   by compare  ends within %d words   by find\n",
           TRIALS, NEAR_WORDS);
    for (uint32_t words = 50; words >= 25; words -= 25)
        for (int edits = 0; edits <= 2; edits++) {
            double rate = edits == 0 ? 0 : edits == 1 ? 0.02 : 0.05;
            struct score score = try_passages(documents, set, words, rate);
            printf("%5u  %4.0f %%  %10.4f  %21.4f  %8.4f\n", words, rate * 100,
                   (double)score.compared / TRIALS, (double)score.near / (double)score.compared,
                   (double)score.found / TRIALS);
        }
    doppel_passages_free(set);
}

/* ---- speed ---- */

static void print_reading(const struct documents *documents)
{
    static struct doppel_text_key keys[DOCUMENT_WORDS];
    enum { ROUNDS = 20 };
    size_t words = 0, chosen = 0;
    double before = bench_now().cpu;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < documents->count; i++) {
            chosen += winnow(documents->items[i].words, DOCUMENT_WORDS, keys);
            words += DOCUMENT_WORDS;
        }
    double seconds = bench_now().cpu - before;
    printf("\nFrom bytes to words with places and keys: %.0f MB/s; the keys of words alone: %.0f "
           "million words/s; %.0f keys of 1000 words\n",
           (double)documents->read_bytes / documents->read_seconds / 1e6,
           (double)words / seconds / 1e6, 1000.0 * (double)chosen / (double)words);
}

/* Text made like the documents: each word follows the one before it as one does somewhere in them.
 */
struct maker {
    uint32_t *text;           /* hashes of all words */
    uint32_t *order;          /* places, by hash */
    uint32_t *first, *others; /* by place: where the places of its hash begin, and how many */
    uint32_t count;
};

static const uint32_t *sorted_text;

static int compare_hashes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t a_hash = sorted_text[a], b_hash = sorted_text[b];
    return a_hash != b_hash ? (a_hash < b_hash ? -1 : 1) : a < b ? -1 : a > b;
}

static uint32_t *make_numbers(size_t count)
{
    uint32_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        abort();
    return numbers;
}

static struct maker make_maker(const struct documents *documents)
{
    uint32_t count = (uint32_t)(documents->count * DOCUMENT_WORDS);
    struct maker maker = {make_numbers(count), make_numbers(count), make_numbers(count),
                          make_numbers(count), count};
    for (uint32_t i = 0; i < count; i++) {
        maker.text[i] = documents->items[i / DOCUMENT_WORDS].words[i % DOCUMENT_WORDS].hash;
        maker.order[i] = i;
    }
    sorted_text = maker.text;
    qsort(maker.order, count, sizeof *maker.order, compare_hashes);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first;
             end < count && maker.text[maker.order[end]] == maker.text[maker.order[first]];)
            end++;
        for (uint32_t i = first; i < end; i++) {
            maker.first[maker.order[i]] = first;
            maker.others[maker.order[i]] = end - first;
        }
    }
    return maker;
}

static void free_maker(struct maker *maker)
{
    free(maker->text);
    free(maker->order);
    free(maker->first);
    free(maker->others);
}

/* A document is rebuilt, from its number, whenever it is wanted. */
static void make_document(const struct maker *maker, uint64_t id, struct document *out)
{
    uint64_t seed = id * 7919 + 1;
    uint32_t place = (uint32_t)(random_word(&seed) % maker->count);
    for (out->word_count = 0; out->word_count < DOCUMENT_WORDS; out->word_count++) {
        out->words[out->word_count].hash = maker->text[place];
        uint32_t like = maker->first[place] + (uint32_t)(random_word(&seed) % maker->others[place]);
        place = (maker->order[like] + 1) % maker->count;
    }
    document_finish(out);
}

/* The words of the library: a real one reads them. */
struct shelf {
    const struct maker *maker;
    uint32_t *hashes;
    struct document given;
    size_t asked;
    double seconds; /* spent on giving */
};

static bool give_made(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct shelf *shelf = context;
    double before = bench_now().cpu;
    shelf->given.word_count = DOCUMENT_WORDS;
    for (size_t i = 0; i < DOCUMENT_WORDS; i++)
        shelf->given.words[i].hash = shelf->hashes[id * DOCUMENT_WORDS + i];
    document_finish(&shelf->given);
    *out = document_text(&shelf->given);
    shelf->seconds += bench_now().cpu - before;
    shelf->asked++;
    return true;
}

static void find_in_library(const struct doppel_passages *set, struct shelf *shelf,
                            const struct documents *documents)
{
    static struct document from, to, query;
    static double ms[FINDS];
    uint64_t seed = 9;
    size_t found = 0;
    for (uint64_t i = 0; i < FINDS; i++) {
        uint64_t id = random_word(&seed) % LIBRARY_DOCUMENTS;
        make_document(shelf->maker, id, &from);
        make_document(shelf->maker, LIBRARY_DOCUMENTS + i, &to);
        struct plant plant = {&from, &to, 1000, 3000, i % 2 ? 50 : 25, 0.05};
        struct wanted wanted = {.id = id, .plant = &plant};
        plant_passage(&plant, documents, &seed, &query, &wanted.planted);
        struct doppel_passage_text text = document_text(&query);
        struct doppel_passage_request request = doppel_passage_request_default(&text);
        request.source = give_made;
        request.source_context = shelf;
        double before = bench_now().cpu, made = shelf->seconds;
        if (doppel_passages_find(set, &request, look, &wanted, NULL))
            abort();
        ms[i] = 1e3 * (bench_now().cpu - before - (shelf->seconds - made));
        found += wanted.found;
    }
    double median = bench_median(ms, FINDS);
    printf("A find of a document with a planted passage of 25 or 50 words, 5 %% edited: median "
           "%.1f ms, p95 %.1f ms, without the reading of %.0f items; found %.3f\n",
           median, ms[FINDS * 95 / 100], (double)shelf->asked / FINDS, (double)found / FINDS);
}

static void print_library(const struct documents *documents)
{
    static struct document made;
    struct maker maker = make_maker(documents);
    struct shelf shelf = {.maker = &maker,
                          .hashes = make_numbers((size_t)LIBRARY_DOCUMENTS * DOCUMENT_WORDS)};
    struct doppel_passages *set;
    double seconds = 0;
    size_t keys = 0;
    if (doppel_passages_new(&set, NULL))
        abort();
    for (uint64_t id = 0; id < LIBRARY_DOCUMENTS; id++) {
        make_document(&maker, id, &made);
        struct doppel_passage_text text = document_text(&made);
        double before = bench_now().cpu;
        if (doppel_passages_add(set, id, &text, NULL))
            abort();
        seconds += bench_now().cpu - before;
        keys += made.key_count;
        for (size_t i = 0; i < DOCUMENT_WORDS; i++)
            shelf.hashes[id * DOCUMENT_WORDS + i] = made.words[i].hash;
    }
    printf("\nA library of %d documents of %d words (made: the word after each is one that follows "
           "it somewhere): %.1f million keys, %.1f s to add\n",
           LIBRARY_DOCUMENTS, DOCUMENT_WORDS, (double)keys / 1e6, seconds);
    find_in_library(set, &shelf, documents);
    doppel_passages_free(set);
    free(shelf.hashes);
    free_maker(&maker);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    unsigned keep = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    struct documents prose, all;
    documents_load(&prose, keep, false);
    documents_load(&all, keep, true);
    if (prose.count < 2) {
        puts("too few packages with documents");
        return 0;
    }
    printf("Unrelated documents of %d words: pairs of 1000 that share a passage of so many matched "
           "words\n%-22s %9s %6s %7s  %7d %7d %7d %7d %7d\n",
           DOCUMENT_WORDS, "", "documents", "pairs", "us/pair", 8, 10, 13, 16, 20);
    print_chance(&prose, "prose");
    print_chance(&all, "prose and changelogs");
    print_planted(&prose);
    print_reading(&prose);
    print_library(&prose);
    documents_free(&prose);
    documents_free(&all);
    return 0;
}
