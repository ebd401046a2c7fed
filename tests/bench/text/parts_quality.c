/* Texts of which another one holds nine tenths, far longer: what bands of signatures find of them,
 * and what the lowest shingles of the part do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "compare/part_index.h"
#include "parts.h"
#include "search.h"

enum { TEXTS = 2500, WORDS = 600 };

struct part_counts {
    size_t parts, by_bands, by_keys, by_either, candidates;
};

struct part_kind {
    const char *name;
    size_t words;    /* of the part */
    double replaced; /* share of them that others replace */
};

static const struct part_kind part_kinds[] = {{"40 words", 40, 0},
                                              {"80 words", 80, 0},
                                              {"200 words", 200, 0},
                                              {"80 words, 1 % others", 80, 0.01},
                                              {"200 words, 1 % others", 200, 0.01},
                                              {"200 words, 2 % others", 200, 0.02}};

/* Some words in a row, a share of them replaced by those of other texts. */
static void cut_part(const struct documents *documents, const struct document *document,
                     const struct part_kind *kind, uint64_t *seed, struct draft *out)
{
    size_t all = count_words(document->text, document->size);
    size_t first = next_random(seed) % (all - kind->words + 1);
    size_t at = words_end(document->text, document->size, first);
    for (size_t i = 0; i < kind->words; i++) {
        const struct document *from = document;
        size_t start = at, size = words_end(document->text + at, document->size - at, 1);
        at += size;
        if ((double)(next_random(seed) >> 11) * 0x1p-53 < kind->replaced) {
            from = &documents->items[next_random(seed) % documents->count];
            start = words_end(from->text, from->size, next_random(seed) % 300);
            size = words_end(from->text + start, from->size - start, 1);
        }
        draft_add(out, from->text + start, size);
    }
}

static struct part_index *parts_of(const struct readings *readings)
{
    struct part_index *index = part_index_new();
    for (uint32_t i = 0; index && i < readings->count; i++) {
        const struct doppel_text_evidence *evidence = &readings->items[i].evidence;
        if (!part_index_add(index, i, evidence->shingles, evidence->shingle_count))
            abort();
    }
    return index;
}

/* Whether one of the candidates holds the part: passages of licences stand in many texts, of which
 * any will do. */
static bool one_holds(const struct readings *readings, const struct reading *part,
                      const uint32_t *numbers, size_t count)
{
    const struct doppel_text_limits limits = doppel_text_limits_default();
    struct doppel_match match;
    bool holds = false;
    for (size_t i = 0; i < count && !holds; i++)
        holds = doppel_match_texts(&part->evidence, &readings->items[numbers[i]].evidence, &limits,
                                   &match);
    return holds;
}

static void count_part(const struct readings *readings, const struct reading *part,
                       const struct doppel_index *bands, const struct part_index *keys,
                       struct part_counts *counts)
{
    struct candidates near = {0};
    struct part_candidates held;
    search_bands(bands, part, part->evidence.lane_count, &near);
    const struct part_wish wish = {part->evidence.shingles, part->evidence.shingle_count, 0.9,
                                   false};
    if (!part_index_find(keys, &wish, &held))
        abort();
    bool by_keys = one_holds(readings, part, held.items, held.count);
    bool by_bands = one_holds(readings, part, near.items, near.count);
    counts->parts++;
    counts->by_bands += by_bands;
    counts->by_keys += by_keys;
    counts->by_either += by_bands || by_keys;
    counts->candidates += held.count;
    free(near.items);
    free(held.items);
}

static void report_parts(const struct documents *documents, const struct readings *readings,
                         const struct setup *setup, const struct part_kind *kind)
{
    struct doppel_index *bands =
        index_of(readings, setup->options.lanes, setup->bands, setup->rows);
    struct part_index *keys = parts_of(readings);
    struct reader *reader = reader_new(&setup->options);
    struct part_counts counts = {0};
    uint64_t seed = 1;
    for (size_t i = 0; i < documents->count; i++) {
        struct draft draft = {0};
        struct reading part;
        struct doppel_match match;
        cut_part(documents, &documents->items[i], kind, &seed, &draft);
        reader_read(reader, draft.text, draft.size, &part);
        part.evidence.lanes = part.lanes;
        if (doppel_match_texts(&part.evidence, &readings->items[i].evidence, &setup->limits,
                               &match) &&
            match.similarity < setup->limits.min_similarity)
            count_part(readings, &part, bands, keys, &counts);
        reading_free(&part);
        free(draft.text);
    }
    double all = counts.parts ? (double)counts.parts : 1;
    printf("| %s | %zu | %.3f | %.4f | %.4f | %.2f |\n", kind->name, counts.parts,
           (double)counts.by_bands / all, (double)counts.by_keys / all,
           (double)counts.by_either / all, (double)counts.candidates / all);
    fflush(stdout);
    reader_free(reader);
    part_index_free(keys);
    doppel_index_free(bands);
}

void part_contained(bool held)
{
    struct documents_wish wish = {.folders = document_folders,
                                  .held = held,
                                  .min_words = WORDS,
                                  .max_count = TEXTS,
                                  .own_words = true};
    struct documents documents = documents_load(&wish);
    struct setup setup = setup_of("web");
    struct readings readings = readings_of(&documents, &setup.options);
    printf("\n%zu texts of %d words and more; parts of them, contained by %.2f or more\n"
           "| part | pairs | by bands | by lowest shingles | by either | candidates, a part |\n"
           "|---|---|---|---|---|---|\n",
           documents.count, WORDS, setup.limits.min_containment);
    for (size_t i = 0; i < sizeof part_kinds / sizeof *part_kinds; i++)
        report_parts(&documents, &readings, &setup, &part_kinds[i]);
    readings_free(&readings);
    documents_free(&documents);
}
