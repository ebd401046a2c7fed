/* meaning_quality MODELS MODEL [sentences|records|paragraphs [HALF]]: how well texts in other words
 * are found by cosines, and by scores, at a rate of pairs by chance; and whether that rate is true.
 *
 * Texts are documentation of one half of Debian's packages (the other one is for those who tune):
 * HALF 1 unless 0 is given. Of five texts four are the corpus, whose own background says from which
 * cosine, or score, on pairs by chance are as rare as asked for. How many are it indeed is counted
 * with the fifth: as a ratio, of all pairs of such a text and one of the corpus, and of those of
 * two documents. Of the corpus 4000 texts come again, half of their words replaced by WordNet's
 * synonyms, as far as they have some, or all of these, and moved by up to six places: which share
 * is found? Also where one pair in a hundred is a false one among pairs of one topic: texts of a
 * document, up to six texts from each other. Whitened are they by what the corpus has in common;
 * or, as whitened models are, by texts of the other half, all or some. Scores subtract a share of
 * the levels of both texts, or, as a search of a library does, half of that of the query. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/embed.h>
#include <doppel/text.h>
#include <doppel/vector.h>

#include "../bench.h"
#include "debian_samples.h"
#include "synonyms.h"

enum { EDITED = 4000, HELD_PAIRS = 1 << 24, NEIGHBOURS = 6, EDITS = 2, HELD_EACH = 5 };

static const double rates[] = {1e-4, 1e-5};
enum { RATES = sizeof rates / sizeof *rates };

struct meaning_bench {
    struct doppel_model *model;
    uint32_t dimension;
    struct samples all, others; /* of the half, and of the other one */
    float *others_rows;
    size_t *corpus, *held; /* numbers of texts */
    size_t corpus_count, held_count;
    float *corpus_rows, *held_rows, *edited_rows[EDITS];
    size_t originals[EDITED], topic[EDITED], originals_count,
        topic_count; /* places of the corpus */
    size_t of_topic[EDITED];
    char **edited[EDITS];
    struct random random;
};

/* How pairs are compared. */
struct way {
    const char *name;
    struct doppel_vectors corpus;
    const float *held, *edited[EDITS];
    struct doppel_vector_cohort *cohort; /* NULL: by cosine */
    float share;                         /* of a level that counts */
    bool of_queries;                     /* and of one text alone */
    const float *levels;                 /* of the corpus: this share of them */
    struct doppel_vector_background *background;
    float *held_levels; /* NAN: not known yet */
};

/* ---- texts ---- */

static void embed_samples(const struct meaning_bench *bench, const char *const *texts, size_t count,
                          float *rows)
{
    const struct doppel_model_texts request = {texts, NULL, count};
    struct doppel_error error;
    bench_must(doppel_model_embed(bench->model, &request, rows, NULL, &error), &error);
}

static float *embed_numbers(const struct meaning_bench *bench, const size_t *numbers, size_t count)
{
    float *rows = malloc((count + 1) * bench->dimension * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const char *const text = bench->all.texts[numbers[i]];
        embed_samples(bench, &text, 1, rows + i * bench->dimension);
    }
    return rows;
}

static void divide_texts(struct meaning_bench *bench)
{
    bench->corpus = malloc((bench->all.count + 1) * sizeof *bench->corpus);
    bench->held = malloc((bench->all.count + 1) * sizeof *bench->held);
    for (size_t i = 0; i < bench->all.count; i++)
        if (i % HELD_EACH)
            bench->corpus[bench->corpus_count++] = i;
        else
            bench->held[bench->held_count++] = i;
}

/* @return a place of the corpus, of the same document; `place` itself: there is none */
static size_t neighbour_of(struct meaning_bench *bench, size_t place)
{
    const uint32_t *documents = bench->all.documents;
    size_t near[2 * NEIGHBOURS], count = 0;
    for (size_t i = place < NEIGHBOURS ? 0 : place - NEIGHBOURS;
         i <= place + NEIGHBOURS && i < bench->corpus_count; i++)
        if (i != place && documents[bench->corpus[i]] == documents[bench->corpus[place]])
            near[count++] = i;
    return count ? near[random_below(&bench->random, (int)count)] : place;
}

static void choose_originals(struct meaning_bench *bench)
{
    for (size_t i = 0; i < EDITED; i++) {
        const size_t place =
            i * bench->corpus_count / EDITED +
            (size_t)random_below(&bench->random, (int)(bench->corpus_count / EDITED));
        const size_t near = neighbour_of(bench, place);
        bench->originals[i] = place;
        if (near == place)
            continue;
        bench->topic[bench->topic_count] = place;
        bench->of_topic[bench->topic_count++] = near;
    }
}

static void edit_originals(struct meaning_bench *bench, const struct synonyms *synonyms)
{
    static const double probabilities[EDITS] = {0.5, 1};
    for (size_t e = 0; e < EDITS; e++) {
        struct replaced_words count = {0};
        bench->edited[e] = malloc(EDITED * sizeof *bench->edited[e]);
        for (size_t i = 0; i < EDITED; i++)
            bench->edited[e][i] =
                synonyms_rewrite(synonyms, bench->all.texts[bench->corpus[bench->originals[i]]],
                                 probabilities[e], &bench->random, &count);
        bench->edited_rows[e] = malloc(EDITED * bench->dimension * sizeof(float));
        embed_samples(bench, (const char *const *)bench->edited[e], EDITED, bench->edited_rows[e]);
        printf("edited: a probability of %.1f replaces %.3f of all words\n", probabilities[e],
               (double)count.replaced / (double)count.words);
    }
}

/* ---- the peer: shingles ---- */

static double shared_shingles(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    size_t i = 0, j = 0, both = 0;
    while (i < a_count && j < b_count) {
        both += a[i] == b[j];
        const bool step = a[i] <= b[j];
        j += b[j] <= a[i];
        i += step;
    }
    return a_count + b_count ? (double)both / (double)(a_count + b_count - both) : 0;
}

static void print_shingles(const struct meaning_bench *bench)
{
    struct doppel_text *readers[2];
    struct doppel_text_result results[2];
    struct doppel_error error;
    printf("by shingles of five words:");
    for (size_t i = 0; i < 2; i++)
        bench_must(doppel_text_new(NULL, &readers[i], &error), &error);
    for (size_t e = 0; e < EDITS; e++) {
        size_t half = 0;
        for (size_t i = 0; i < EDITED; i++) {
            const char *texts[2] = {bench->all.texts[bench->corpus[bench->originals[i]]],
                                    bench->edited[e][i]};
            for (size_t k = 0; k < 2; k++)
                bench_must(doppel_text_read(readers[k], texts[k], strlen(texts[k]),
                                            DOPPEL_TEXT_SHINGLES, &results[k], &error),
                           &error);
            half += shared_shingles(results[0].shingles, results[0].shingle_count,
                                    results[1].shingles, results[1].shingle_count) >= 0.5;
        }
        printf(" %.4f of %s share half", (double)half / EDITED, e ? "the latter" : "the former,");
    }
    printf("\n");
    for (size_t i = 0; i < 2; i++)
        doppel_text_free(readers[i]);
}

/* ---- comparing ---- */

static float *whitened(const struct doppel_vector_whitening *whitening, const float *rows,
                       size_t count, uint32_t dimension)
{
    float *out = malloc((count + 1) * dimension * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (!doppel_vector_whiten(whitening, rows + i * dimension, out + i * dimension))
            abort();
    return out;
}

static float cosine_of(const struct way *way, const float *a, const float *b)
{
    return doppel_vector_cosine(a, b, way->corpus.dimension);
}

static float level_of_row(const struct way *way, const float *row)
{
    float level;
    if (!doppel_vector_cohort_level(way->cohort, row, 1, &level))
        abort();
    return way->share * level;
}

static float level_of_place(const struct way *way, size_t place)
{
    return way->of_queries ? 0 : way->levels[place];
}

/* Of a text of the corpus and another vector; of the latter either the place or the numbers. */
static float value_of(const struct way *way, size_t place, size_t other, const float *row)
{
    const uint32_t size = way->corpus.dimension;
    const float *a = way->corpus.rows + place * size;
    const float *b = row ? row : way->corpus.rows + other * size;
    const float cosine = cosine_of(way, a, b);
    if (!way->cohort)
        return cosine;
    return doppel_vector_cohort_normalise(cosine, level_of_place(way, place),
                                          row ? level_of_row(way, row) : way->levels[other]);
}

static float level_of_held(const struct way *way, size_t i)
{
    if (isnan(way->held_levels[i]))
        way->held_levels[i] = level_of_row(way, way->held + i * way->corpus.dimension);
    return way->held_levels[i];
}

/* Of pairs by chance of a text that was held out and one of the corpus, the share that reaches
 * thresholds. @param apart only pairs of two documents */
static void measure_held(const struct meaning_bench *bench, const struct way *way, bool apart,
                         const float *thresholds, double *out)
{
    const uint32_t size = way->corpus.dimension;
    struct random random = random_seeded(7, "held", "pairs");
    size_t reaching[RATES] = {0};
    for (size_t i = 0; i < HELD_PAIRS;) {
        const size_t a = random_next(&random) % bench->held_count;
        const size_t b = random_next(&random) % bench->corpus_count;
        const uint32_t *documents = bench->all.documents;
        if (apart && documents[bench->held[a]] == documents[bench->corpus[b]])
            continue;
        float value = cosine_of(way, way->held + a * size, way->corpus.rows + b * size);
        if (way->cohort)
            value = doppel_vector_cohort_normalise(value, level_of_held(way, a),
                                                   level_of_place(way, b));
        for (size_t r = 0; r < RATES; r++)
            reaching[r] += value >= thresholds[r];
        i++;
    }
    for (size_t r = 0; r < RATES; r++)
        out[r] = (double)reaching[r] / HELD_PAIRS;
}

static int compare_values_falling(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* What one pair in a hundred of a topic reaches. */
static float threshold_of_topic(const struct meaning_bench *bench, const struct way *way)
{
    static float values[EDITED];
    for (size_t i = 0; i < bench->topic_count; i++)
        values[i] = value_of(way, bench->topic[i], bench->of_topic[i], NULL);
    qsort(values, bench->topic_count, sizeof *values, compare_values_falling);
    return values[bench->topic_count / 100];
}

static void print_recall(const struct meaning_bench *bench, const struct way *way, size_t edit,
                         const float *thresholds, size_t count)
{
    size_t found[RATES + 1] = {0};
    for (size_t i = 0; i < EDITED; i++) {
        const float value =
            value_of(way, bench->originals[i], 0, way->edited[edit] + i * way->corpus.dimension);
        for (size_t t = 0; t < count; t++)
            found[t] += value >= thresholds[t];
    }
    printf(" |");
    for (size_t t = 0; t < count; t++)
        printf(" %5.3f", (double)found[t] / EDITED);
}

static float *shared_levels(const struct way *way)
{
    const float *levels;
    struct doppel_error error;
    float *shares = malloc((way->corpus.count + 1) * sizeof *shares);
    bench_must(doppel_vector_cohort_levels(way->cohort, &levels, &error), &error);
    for (size_t i = 0; i < way->corpus.count; i++)
        shares[i] = way->share * levels[i];
    return shares;
}

static void measure_way(const struct meaning_bench *bench, struct way *way)
{
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_error error;
    float thresholds[RATES + 1];
    double held[RATES], apart[RATES];
    options.threads = 2;
    if (way->cohort)
        way->levels = shared_levels(way);
    options.levels = way->levels;
    options.of_queries = way->of_queries;
    options.min_cosine = -1;
    bench_must(doppel_vector_background_make(&way->corpus, &options, &way->background, &error),
               &error);
    for (size_t r = 0; r < RATES; r++)
        thresholds[r] = doppel_vector_background_cosine(way->background, rates[r]);
    thresholds[RATES] = threshold_of_topic(bench, way);
    measure_held(bench, way, false, thresholds, held);
    measure_held(bench, way, true, thresholds, apart);
    printf("%-15s", way->name);
    for (size_t r = 0; r < RATES; r++)
        printf(" | %5.3f %4.2f %4.2f", (double)thresholds[r], held[r] / rates[r],
               apart[r] / rates[r]);
    for (size_t e = 0; e < EDITS; e++)
        print_recall(bench, way, e, thresholds, RATES + 1);
    printf("\n");
    fflush(stdout);
}

/* The vectors of a way, whitened by what these have in common. */
static struct way whitened_way(const struct meaning_bench *bench, const char *name,
                               const struct doppel_vectors *learned)
{
    const uint32_t size = bench->dimension;
    struct doppel_vector_whitening *whitening;
    struct doppel_error error;
    bench_must(doppel_vector_whitening_make(learned, &whitening, &error), &error);
    float *rows = whitened(whitening, bench->corpus_rows, bench->corpus_count, size);
    float *held = whitened(whitening, bench->held_rows, bench->held_count, size);
    float *edited[EDITS];
    for (size_t e = 0; e < EDITS; e++)
        edited[e] = whitened(whitening, bench->edited_rows[e], EDITED, size);
    doppel_vector_whitening_free(whitening);
    return (struct way){.name = name,
                        .corpus = {rows, bench->corpus_count, size},
                        .held = held,
                        .edited = {edited[0], edited[1]}};
}

/* The same by scores. @param of_queries of the query's level alone */
static void measure_scores(const struct meaning_bench *bench, struct way way, const char *name,
                           float share, bool of_queries)
{
    struct doppel_vector_cohort_options options = doppel_vector_cohort_options_default();
    struct doppel_error error;
    options.threads = 2;
    way.name = name;
    way.share = share;
    way.of_queries = of_queries;
    way.held_levels = malloc((bench->held_count + 1) * sizeof *way.held_levels);
    for (size_t i = 0; i < bench->held_count; i++)
        way.held_levels[i] = NAN;
    bench_must(doppel_vector_cohort_make(&way.corpus, &options, &way.cohort, &error), &error);
    measure_way(bench, &way);
    doppel_vector_cohort_free(way.cohort);
}

/* As a whitened model that was made for other texts; of some it takes each so many-th. */
static void measure_by_others(const struct meaning_bench *bench)
{
    static const size_t counts[] = {SIZE_MAX, 5000, 1000, 200};
    const size_t size = bench->dimension, all = bench->others.count;
    float *some = malloc((all + 1) * size * sizeof *some);
    char name[24];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const size_t count = counts[i] < all ? counts[i] : all;
        for (size_t j = 0; j < count; j++)
            memcpy(some + j * size, bench->others_rows + j * all / count * size,
                   size * sizeof *some);
        const struct doppel_vectors learned = {some, count, bench->dimension};
        snprintf(name, sizeof name, "by %zu others", count);
        struct way white = whitened_way(bench, name, &learned);
        measure_way(bench, &white);
        if (i == 0) {
            measure_scores(bench, white, "  of queries", 1, true);
            measure_scores(bench, white, "  .7 of both", 0.7F, false);
        }
    }
    free(some);
}

static void measure_all_ways(const struct meaning_bench *bench)
{
    const uint32_t size = bench->dimension;
    const struct doppel_vectors raw = {bench->corpus_rows, bench->corpus_count, size};
    struct way plain = {.name = "cosines",
                        .corpus = raw,
                        .held = bench->held_rows,
                        .edited = {bench->edited_rows[0], bench->edited_rows[1]}};
    struct way white = whitened_way(bench, "whitened", &raw);
    measure_way(bench, &plain);
    measure_scores(bench, plain, "  of queries", 1, true);
    measure_scores(bench, plain, "  .7 of both", 0.7F, false);
    measure_way(bench, &white);
    measure_scores(bench, white, "scores", 1, false);
    measure_scores(bench, white, "  .7 of both", 0.7F, false);
    measure_by_others(bench);
}

int main(int count, char **arguments)
{
    static struct meaning_bench bench;
    static const char *const kinds[] = {"sentences", "records", "paragraphs"};
    struct doppel_error error;
    size_t kind = 0;
    for (size_t i = 0; i < 3 && count > 3; i++)
        if (strcmp(arguments[3], kinds[i]) == 0)
            kind = i;
    struct synonyms *synonyms = synonyms_load("/usr/share/wordnet");
    if (count < 3 || !synonyms) {
        fputs("meaning_quality MODELS MODEL [sentences|records|paragraphs [HALF]], with "
              "wordnet-base\n",
              stderr);
        return 2;
    }
    const struct doppel_model_open_options open = {arguments[1], arguments[2], false};
    bench_must(doppel_model_open(&open, &bench.model, &error), &error);
    bench.dimension = doppel_model_info(bench.model)->dimension;
    bench.random = random_seeded(3, "meaning", "edits");
    const unsigned half = count > 4 ? (unsigned)atoi(arguments[4]) : 1;
    samples_find(&bench.all, (enum sample_kind)kind, half);
    samples_find(&bench.others, (enum sample_kind)kind, !half);
    divide_texts(&bench);
    if (bench.corpus_count < EDITED || bench.held_count < 2) {
        puts("too few documents below /usr/share/doc");
        return 0;
    }
    printf("%zu %s of a corpus, %zu held out\n", bench.corpus_count, kinds[kind], bench.held_count);
    choose_originals(&bench);
    edit_originals(&bench, synonyms);
    bench.corpus_rows = embed_numbers(&bench, bench.corpus, bench.corpus_count);
    bench.others_rows = malloc((bench.others.count + 1) * bench.dimension * sizeof(float));
    embed_samples(&bench, (const char *const *)bench.others.texts, bench.others.count,
                  bench.others_rows);
    bench.held_rows = embed_numbers(&bench, bench.held, bench.held_count);
    printf("%-15s | %-15s | %-15s | found, half      | found, all\n%-15s | %5s %9s | %5s %9s |"
           "  1e-4  1e-5 topic |  1e-4  1e-5 topic\n",
           "", "rate 1e-4", "rate 1e-5", "", "from", "held out", "from", "held out");
    measure_all_ways(&bench);
    print_shingles(&bench);
    return 0;
}
