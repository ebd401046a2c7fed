/* How well texts are found again, on what Debian packages ship: against all pairs, exactly counted,
 * and after changes with fixed seeds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "documents.h"
#include "readings.h"
#include "truth.h"

enum { MANY = 6000, SOME = 2500, FEW = 1400 };

static const char *const folders[] = {"/usr/share/doc",
                                      "/usr/share/man/man1",
                                      "/usr/share/man/man3",
                                      "/usr/share/man/man5",
                                      "/usr/share/man/man7",
                                      "/usr/share/man/man8",
                                      NULL};

static bool held = true; /* the half of the packages that is reported */

static struct documents_wish wish(size_t min_words, size_t max_count)
{
    return (struct documents_wish){
        .folders = folders, .held = held, .min_words = min_words, .max_count = max_count};
}

/* How texts are read and searched. */
struct setup {
    const char *name;
    struct doppel_text_options options;
    struct doppel_text_limits limits;
    uint32_t bands, rows;
};

static struct setup setup_of(const char *preset_name)
{
    const struct doppel_text_preset *preset = doppel_text_preset_by_name(preset_name);
    struct setup setup = {preset_name, preset->options, doppel_text_limits_default(), preset->bands,
                          preset->rows};
    setup.limits.min_similarity = preset->min_similarity;
    setup.options.format = DOPPEL_TEXT_PLAIN;
    return setup;
}

/* ---- candidates ---- */

struct candidates {
    uint32_t *items;
    size_t count, capacity;
};

static bool collect(void *context, const struct doppel_index_hit *hit)
{
    struct candidates *candidates = context;
    if (candidates->count == candidates->capacity) {
        candidates->capacity = 2 * candidates->capacity + 64;
        candidates->items =
            realloc(candidates->items, candidates->capacity * sizeof *candidates->items);
        if (!candidates->items)
            abort();
    }
    candidates->items[candidates->count++] = (uint32_t)hit->payload;
    return true;
}

static void search(const struct doppel_index *index, const struct reading *query, uint32_t lanes,
                   struct candidates *out)
{
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    struct doppel_error error;
    memcpy(code, query->lanes, sizeof code);
    struct doppel_index_request request = {.queries = code, .count = 1, .radius = lanes};
    out->count = 0;
    if (!query->evidence.too_short)
        check(doppel_index_search(index, &request, collect, out, &error), &error);
}

static bool has(const struct candidates *candidates, size_t wanted)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i] == wanted)
            return true;
    return false;
}

/* ---- all pairs ---- */

struct pair_counts {
    size_t wanted, found; /* pairs of the truth within the limit */
    size_t candidates, matched,
        right; /* that the search gave; within the limit by doppel, by truth */
};

static double similarity_of(const struct true_pairs *truth, uint32_t a, uint32_t b)
{
    size_t low = 0, high = truth->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct true_pair *pair = &truth->items[middle];
        if (pair->a < a || (pair->a == a && pair->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    const struct true_pair *pair = &truth->items[low];
    return low < truth->count && pair->a == a && pair->b == b ? pair->similarity : 0;
}

static struct pair_counts count_pairs(const struct readings *readings,
                                      const struct true_pairs *truth, const struct setup *setup)
{
    struct doppel_index *index =
        index_of(readings, setup->options.lanes, setup->bands, setup->rows);
    struct doppel_text_limits limits = {setup->limits.min_similarity, 2};
    struct candidates candidates = {0};
    struct pair_counts counts = {0};
    struct doppel_match match;
    for (size_t i = 0; i < truth->count; i++)
        counts.wanted += truth->items[i].similarity >= limits.min_similarity;
    for (uint32_t a = 0; a < readings->count; a++) {
        search(index, &readings->items[a], setup->options.lanes, &candidates);
        for (size_t i = 0; i < candidates.count; i++) {
            uint32_t b = candidates.items[i];
            if (b <= a)
                continue;
            bool right = similarity_of(truth, a, b) >= limits.min_similarity;
            bool matched = doppel_match_texts(&readings->items[a].evidence,
                                              &readings->items[b].evidence, &limits, &match);
            counts.candidates++;
            counts.found += right && matched;
            counts.matched += matched;
            counts.right += right && matched;
        }
    }
    free(candidates.items);
    doppel_index_free(index);
    return counts;
}

/* Each document, and a changed copy of it. */
static struct documents with_copies(const struct documents *documents)
{
    struct documents all = {calloc(2 * documents->count, sizeof *all.items), 0, 0};
    struct change_source source = {documents, 1};
    for (size_t i = 0; i < documents->count; i++) {
        struct draft draft = {0};
        const struct change *change = &changes[1 + i % (change_count - 1)];
        change->apply(&documents->items[i], change->amount, &source, &draft);
        all.items[all.count++] = documents->items[i];
        all.items[all.count++] = (struct document){"", draft.text, draft.size};
    }
    return all;
}

static void print_pairs(const struct documents *all)
{
    static const struct {
        double limit;
        uint32_t bands, rows;
    } tries[] = {{.5, 32, 4}, {.6, 32, 4}, {.6, 25, 5}, {.7, 32, 4}, {.7, 28, 4}, {.7, 24, 4},
                 {.7, 25, 5}, {.7, 20, 6}, {.7, 16, 8}, {.8, 25, 5}, {.8, 18, 7}, {.9, 11, 11}};
    struct setup setup = setup_of("web");
    struct readings readings = readings_of(all, &setup.options);
    struct true_pairs truth = true_pairs_of(all, false, setup.options.shingle, 0.5);
    puts("| limit | bands | pairs | found | precision | candidates a text |\n"
         "|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        setup.limits.min_similarity = tries[i].limit;
        setup.bands = tries[i].bands;
        setup.rows = tries[i].rows;
        struct pair_counts counts = count_pairs(&readings, &truth, &setup);
        printf("| %.1f | %u×%u | %zu | %.4f | %.4f | %.2f |\n", tries[i].limit, setup.bands,
               setup.rows, counts.wanted, (double)counts.found / (double)counts.wanted,
               (double)counts.right / (double)counts.matched,
               (double)counts.candidates / (double)all->count);
        fflush(stdout);
    }
    free(truth.items);
    readings_free(&readings);
}

static void report_pairs(void)
{
    struct documents_wish many = wish(50, MANY), half = wish(50, MANY / 2);
    struct documents documents = documents_load(&many);
    printf("\n%zu texts as they are, all pairs counted exactly\n", documents.count);
    print_pairs(&documents);
    documents_free(&documents);
    documents = documents_load(&half);
    struct documents all = with_copies(&documents);
    printf("\n%zu texts and as many changed copies, all pairs counted exactly\n", documents.count);
    print_pairs(&all);
    for (size_t i = 1; i < all.count; i += 2)
        free(all.items[i].text);
    free(all.items);
    documents_free(&documents);
}

/* ---- changed copies ---- */

struct copy_counts {
    size_t copies, similar, held, candidates, found, others;
    double similarity;
};

static void count_copy(const struct readings *readings, const struct doppel_index *index,
                       const struct setup *setup, size_t number, const struct reading *copy,
                       struct candidates *candidates, struct copy_counts *counts)
{
    struct doppel_match match;
    bool matches = doppel_match_texts(&copy->evidence, &readings->items[number].evidence,
                                      &setup->limits, &match);
    search(index, copy, setup->options.lanes, candidates);
    bool candidate = has(candidates, number);
    bool same = match.similarity >= setup->limits.min_similarity;
    counts->copies++;
    counts->similarity += match.similarity;
    counts->similar += same;
    counts->held += matches && !same;
    counts->candidates += candidate;
    counts->found += candidate && matches;
    counts->others += candidates->count - candidate;
}

static struct copy_counts count_copies(const struct documents *documents,
                                       const struct readings *readings,
                                       const struct doppel_index *index, const struct setup *setup,
                                       const struct change *change)
{
    struct change_source source = {documents, hash_bytes(change->name, strlen(change->name))};
    struct reader *reader = reader_new(&setup->options);
    struct candidates candidates = {0};
    struct copy_counts counts = {0};
    for (size_t i = 0; i < documents->count; i++) {
        struct draft draft = {0};
        struct document document = documents->items[i];
        struct reading reading;
        change->apply(&document, change->amount, &source, &draft);
        reader_read(reader, draft.text, draft.size, &reading);
        reading.evidence.lanes = reading.lanes;
        count_copy(readings, index, setup, i, &reading, &candidates, &counts);
        reading_free(&reading);
        free(draft.text);
    }
    free(candidates.items);
    reader_free(reader);
    return counts;
}

static void report_copies(const struct documents *documents, const struct setup *setup)
{
    struct readings readings = readings_of(documents, &setup->options);
    struct doppel_index *index =
        index_of(&readings, setup->options.lanes, setup->bands, setup->rows);
    printf("\n%s: %zu texts, shingles of %u %s, limit %.2f or contained %.2f, %u×%u\n"
           "| change | Jaccard, mean | within the limit | contained only | candidates | found | "
           "others that are candidates, a text |\n|---|---|---|---|---|---|---|\n",
           setup->name, documents->count, setup->options.shingle,
           setup->options.unit == DOPPEL_TEXT_WORDS ? "words" : "characters",
           setup->limits.min_similarity, setup->limits.min_containment, setup->bands, setup->rows);
    for (size_t i = 0; i < change_count; i++) {
        struct copy_counts counts = count_copies(documents, &readings, index, setup, &changes[i]);
        double copies = (double)counts.copies;
        printf("| %s | %.3f | %.4f | %.4f | %.4f | %.4f | %.2f |\n", changes[i].name,
               counts.similarity / copies, (double)counts.similar / copies,
               (double)counts.held / copies, (double)counts.candidates / copies,
               (double)counts.found / copies, (double)counts.others / copies);
        fflush(stdout);
    }
    doppel_index_free(index);
    readings_free(&readings);
}

static void report_changes(const char *preset)
{
    struct documents_wish long_ones = wish(1000, SOME);
    long_ones.cut_words = 1000;
    struct documents documents = documents_load(&long_ones);
    struct setup setup = setup_of(preset);
    report_copies(&documents, &setup);
    documents_free(&documents);
}

/* ---- the parts ---- */

static void report_web(void)
{
    report_changes("web");
}

static void report_news(void)
{
    report_changes("news");
}

/* ---- strangers ---- */

static void print_strangers(const char *preset)
{
    struct documents_wish strangers = wish(300, FEW);
    strangers.one_a_family = strangers.own_words = true;
    struct documents documents = documents_load(&strangers);
    struct setup setup = setup_of(preset);
    double all = (double)documents.count * (double)(documents.count - 1) / 2;
    struct true_pairs pairs =
        true_pairs_of(&documents, setup.options.unit == DOPPEL_TEXT_CHARACTERS,
                      setup.options.shingle, setup.limits.min_similarity);
    printf("\n%s: of %.0f pairs of texts of different families %zu (%.5f %%) are within %.2f:\n",
           preset, all, pairs.count, 100 * (double)pairs.count / all, setup.limits.min_similarity);
    for (size_t i = 0; i < pairs.count && i < 20; i++)
        printf("- %.3f %s %s\n", pairs.items[i].similarity, documents.items[pairs.items[i].a].path,
               documents.items[pairs.items[i].b].path);
    free(pairs.items);
    documents_free(&documents);
}

static void report_ocr(void)
{
    report_changes("ocr");
}

static void report_strangers(void)
{
    print_strangers("ocr");
    print_strangers("news");
    print_strangers("web");
}

static const struct {
    const char *name;
    void (*report)(void);
} parts[] = {{"pairs", report_pairs},
             {"web", report_web},
             {"news", report_news},
             {"ocr", report_ocr},
             {"strangers", report_strangers}};

/* text_quality [tune] [PART...] */
int main(int count, char **words)
{
    int first = 1;
    if (first < count && strcmp(words[first], "tune") == 0) {
        held = false;
        first++;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool wanted = first == count;
        for (int j = first; j < count; j++)
            wanted |= strcmp(words[j], parts[i].name) == 0;
        if (wanted)
            parts[i].report();
    }
    return 0;
}
