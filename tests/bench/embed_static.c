/* embed_static [MB]: texts to vectors by a WordPiece model of 30 000 pieces, whose rows are random:
 * English documents of Debian, a paragraph each. CPU time of one thread, the best of some rounds.
 * Beside it the limit: the same rows added where the tokens are known already; and the tokens
 * alone. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <doppel/embed.h>

#include "bench.h"
#include "core/bytes.h"
#include "core/cpu.h"
#include "core/number_map.h"
#include "debian_text.h"
#include "embed/model.h"
#include "embed/rows.h"

enum { ROUNDS = 7, PIECES = 30000, MOST_TOKENS = 512, SHORTEST = 80 };

/* ---- texts ---- */

struct paragraphs {
    const char **texts;
    size_t *sizes, count, bytes;
};

/* What stands between empty lines, of some length. */
static struct paragraphs cut_paragraphs(const struct debian_text *text)
{
    size_t most = text->size / SHORTEST + 1, begin = 0;
    struct paragraphs out = {malloc(most * sizeof *out.texts), malloc(most * sizeof *out.sizes), 0,
                             0};
    for (size_t at = 0; at + 1 < text->size; at++) {
        if (text->bytes[at] != '\n' || text->bytes[at + 1] != '\n')
            continue;
        if (at - begin >= SHORTEST) {
            out.texts[out.count] = text->bytes + begin;
            out.bytes += out.sizes[out.count++] = at - begin;
        }
        begin = at + 2;
    }
    return out;
}

/* ---- the model ---- */

struct counted_word {
    const char *word;
    uint32_t size, count;
};

static int compare_counts(const void *left, const void *right)
{
    const struct counted_word *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->word > b->word) - (a->word < b->word);
}

/* The words of ASCII letters of a text, lower-cased in place, by how often they are there. */
static struct counted_word *count_words(char *text, size_t size, size_t *out_count)
{
    struct number_map map = {0};
    struct counted_word *words = NULL;
    size_t count = 0, capacity = 0;
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        for (; at < size && isalpha((unsigned char)text[at]); at++)
            text[at] = (char)tolower((unsigned char)text[at]);
        if (at == begin || at - begin > 30) {
            at += at == begin;
            continue;
        }
        struct doppel_digest digest = doppel_digest_bytes(text + begin, at - begin);
        if (!number_map_reserve(&map, 1))
            abort();
        uint64_t *place = number_map_place(&map, get_u64(digest.bytes) | 1);
        if (!*place) {
            if (count == capacity)
                words = realloc(words, (capacity = 2 * capacity + 1024) * sizeof *words);
            words[count] = (struct counted_word){text + begin, (uint32_t)(at - begin), 0};
            *place = ++count;
        }
        words[*place - 1].count++;
    }
    number_map_free(&map);
    qsort(words, count, sizeof *words, compare_counts);
    *out_count = count;
    return words;
}

static void put_piece(json_t *vocab, const char *prefix, const char *piece, size_t size)
{
    char text[64];
    snprintf(text, sizeof text, "%s%.*s", prefix, (int)size, piece);
    if (json_object_size(vocab) < PIECES && !json_object_get(vocab, text))
        json_object_set_new(vocab, text, json_integer((json_int_t)json_object_size(vocab)));
}

/* All of ASCII, frequent words, and how these end. */
static json_t *make_vocab(const struct debian_text *text)
{
    json_t *vocab = json_object();
    char *copy = malloc(text->size), letter;
    size_t count;
    put_piece(vocab, "", "[UNK]", 5);
    for (letter = '!'; letter <= '~'; letter++) {
        put_piece(vocab, "", &letter, 1);
        put_piece(vocab, "##", &letter, 1);
    }
    memcpy(copy, text->bytes, text->size);
    struct counted_word *words = count_words(copy, text->size, &count);
    for (size_t i = 0; i < count && i < PIECES * 3 / 4; i++)
        put_piece(vocab, "", words[i].word, words[i].size);
    for (size_t i = 0; i < count; i++)
        for (uint32_t end = 2; end < 6 && end < words[i].size; end++)
            put_piece(vocab, "##", words[i].word + words[i].size - end, end);
    free(words);
    free(copy);
    return vocab;
}

static void write_model(const char *folder, json_t *vocab, uint32_t dimension)
{
    char path[128], header[128];
    json_t *json = json_pack("{s:{s:s}, s:{s:s}, s:{s:s, s:s, s:O}, s:[{s:i, s:s}]}", "normalizer",
                             "type", "BertNormalizer", "pre_tokenizer", "type", "BertPreTokenizer",
                             "model", "type", "WordPiece", "unk_token", "[UNK]", "vocab", vocab,
                             "added_tokens", "id", 0, "content", "[UNK]");
    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    if (!json || json_dump_file(json, path, 0) != 0)
        abort();
    json_decref(json);
    size_t numbers = json_object_size(vocab) * dimension;
    float *rows = malloc(numbers * sizeof *rows);
    uint64_t state = 1;
    for (size_t i = 0; i < numbers; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        rows[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
    }
    uint64_t size = (uint64_t)snprintf(
        header, sizeof header,
        "{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[%zu,%u],\"data_offsets\":[0,%zu]}}",
        json_object_size(vocab), dimension, numbers * sizeof *rows);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(&size, 8, 1, file) != 1 || fwrite(header, 1, size, file) != size ||
        fwrite(rows, sizeof *rows, numbers, file) != numbers || fclose(file) != 0)
        abort();
    free(rows);
}

/* ---- what is measured ---- */

struct embed_bench {
    const struct paragraphs *paragraphs;
    struct doppel_model *model;
    uint32_t *tokens; /* of all texts */
    size_t *ends;     /* of a text's */
    float *rows, *weights;
};

typedef void embed_work(struct embed_bench *bench);

static double best_of_rounds(embed_work *work, struct embed_bench *bench)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now().cpu;
        work(bench);
        double seconds = bench_now().cpu - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void tokenize_all(struct embed_bench *bench)
{
    size_t at = 0;
    for (size_t i = 0; i < bench->paragraphs->count; i++) {
        size_t count;
        doppel_model_tokenize(bench->model, bench->paragraphs->texts[i],
                              bench->paragraphs->sizes[i], bench->tokens + at, MOST_TOKENS, &count,
                              NULL);
        bench->ends[i] = at += count;
    }
}

static void embed_all_texts(struct embed_bench *bench)
{
    struct doppel_model_texts all = {bench->paragraphs->texts, bench->paragraphs->sizes,
                                     bench->paragraphs->count};
    doppel_model_embed(bench->model, &all, bench->rows, NULL, NULL);
}

/* Rows alone: of this model the row of a token has its number. */
static void add_known_rows(struct embed_bench *bench)
{
    const struct doppel_model *model = bench->model;
    static float sum[DOPPEL_MODEL_MAX_DIMENSION];
    for (size_t i = 0, at = 0; i < bench->paragraphs->count; at = bench->ends[i++]) {
        memset(sum, 0, sizeof *sum * model->head.stride);
        size_t count = bench->ends[i] - at;
        if (model->exact)
            model->kernels->add_float(sum, model->float_rows, model->head.stride,
                                      bench->tokens + at, bench->weights, count);
        else
            model->kernels->add_int8(sum, model->int8_rows, model->head.stride, bench->tokens + at,
                                     bench->weights, count);
    }
}

static void measure_model(const char *folder, const struct paragraphs *paragraphs,
                          uint32_t dimension, bool exact, const char *rows)
{
    struct embed_bench bench = {.paragraphs = paragraphs};
    struct doppel_error error;
    bench_must(doppel_model_open(&(struct doppel_model_open_options){folder, "bench", exact},
                                 &bench.model, &error),
               &error);
    bench.tokens = malloc((paragraphs->count + 1) * MOST_TOKENS * sizeof *bench.tokens);
    bench.ends = malloc(paragraphs->count * sizeof *bench.ends);
    bench.rows = calloc(paragraphs->count * dimension, sizeof *bench.rows);
    bench.weights = malloc(MOST_TOKENS * sizeof *bench.weights);
    for (size_t i = 0; i < MOST_TOKENS; i++)
        bench.weights[i] = 0.5f;
    double pieces = best_of_rounds(tokenize_all, &bench);
    double limit = best_of_rounds(add_known_rows, &bench);
    double whole = best_of_rounds(embed_all_texts, &bench);
    double tokens = (double)bench.ends[paragraphs->count - 1] / 1e6;
    printf("%5u  %-11s %8.1f %8.1f %8.1f %8.0f %9.2f\n", dimension, rows, tokens / pieces,
           tokens / limit, tokens / whole, (double)paragraphs->bytes / whole / 1e6, limit / whole);
    doppel_model_free(bench.model);
    free(bench.tokens);
    free(bench.ends);
    free(bench.rows);
    free(bench.weights);
}

int main(int argument_count, char **arguments)
{
    size_t limit = (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 16) << 20;
    struct debian_text text = {0};
    static const uint32_t dimensions[] = {64, 256, 512};
    char folder[] = "/tmp/embed-static-XXXXXX";
    debian_text_find(&text, "/usr/share/doc", limit, 2);
    struct paragraphs paragraphs = cut_paragraphs(&text);
    if (!paragraphs.count || !mkdtemp(folder)) {
        printf("no documents below /usr/share/doc\n");
        return 0;
    }
    json_t *vocab = make_vocab(&text);
    printf("%zu paragraphs, %.1f MB, %zu pieces; million tokens a second, and MB of text\n",
           paragraphs.count, (double)paragraphs.bytes / 1e6, json_object_size(vocab));
    printf("%5s  %-11s %8s %8s %8s %8s %9s\n", "d", "rows", "tokens", "rows", "vectors", "MB/s",
           "of limit");
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        struct doppel_model_add_options add = doppel_model_add_options_default();
        struct doppel_model_info info;
        struct doppel_error error;
        write_model(folder, vocab, dimensions[i]);
        doppel_model_remove(folder, "bench", NULL);
        add.folder = add.source = folder;
        add.name = "bench";
        bench_must(doppel_model_add(&add, &info, &error), &error);
        measure_model(folder, &paragraphs, dimensions[i], false, "8 bits");
        measure_model(folder, &paragraphs, dimensions[i], true, "float");
        cpu_mask(0);
        measure_model(folder, &paragraphs, dimensions[i], false, "8 bits, C");
        cpu_mask(UINT32_MAX);
    }
    json_decref(vocab);
    bench_remove_folder(folder);
    free(paragraphs.texts);
    free(paragraphs.sizes);
    debian_text_free(&text);
    return 0;
}
