/* Changed copies of texts of 1000 words: how similar they are, and how many are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "parts.h"
#include "search.h"

enum { TEXTS = 2500, WORDS = 1000 };

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
    search_bands(index, copy, setup->options.lanes, candidates);
    bool candidate = has_candidate(candidates, number);
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

static void report_preset(const char *preset, bool held)
{
    struct documents_wish wish = {.folders = document_folders,
                                  .held = held,
                                  .min_words = WORDS,
                                  .max_count = TEXTS,
                                  .cut_words = WORDS};
    struct documents documents = documents_load(&wish);
    struct setup setup = setup_of(preset);
    report_copies(&documents, &setup);
    documents_free(&documents);
}

void part_web(bool held)
{
    report_preset("web", held);
}

void part_news(bool held)
{
    report_preset("news", held);
}

void part_ocr(bool held)
{
    report_preset("ocr", held);
}
