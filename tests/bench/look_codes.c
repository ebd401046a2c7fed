/* look_codes PICTURES QUESTIONS FOLDER: made pictures of 10 views, as photos have, in the files of
 * FOLDER that cluster_module.py loads into nodes (payloads, codes and full: 64-bit words, picture
 * by picture) and asks about (questions, full-questions); and what doppel_images_find takes for the
 * same questions here, in one thread: milliseconds of CPU a question, and how many it finds. */
#include <doppel/match.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { VIEWS = 10, TABLES = DOPPEL_IMAGE_TABLES };

static uint64_t mix_bits(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- pictures ---- */

struct made_picture {
    struct doppel_code codes[VIEWS];
    uint32_t positions[VIEWS];
    struct doppel_fingerprint print;
    struct doppel_match_item item;
};

/* @param bits that differ from those of the picture itself, in each word */
static void make_picture_of(uint64_t id, unsigned bits, struct made_picture *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    for (uint32_t i = 0; i < VIEWS; i++) {
        for (unsigned word = 0; word < 4; word++)
            out->codes[i].word[word] =
                mix_bits((id * VIEWS + i) * 4 + word) ^ ((UINT64_C(1) << bits) - 1) << (id % 50);
        out->positions[i] = i ? i + DOPPEL_VIEW_CENTRE - 1 : DOPPEL_VIEW_FULL;
    }
    out->print = (struct doppel_fingerprint){.scheme = scheme->id,
                                             .version = scheme->version,
                                             .code_bits = 256,
                                             .count = VIEWS,
                                             .codes = out->codes,
                                             .positions = out->positions};
    out->item = (struct doppel_match_item){&out->print, 100};
}

/* ---- files, and the same codes here ---- */

static FILE *open_in(const char *folder, const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void make_pictures(uint64_t count, const char *folder, struct doppel_index *tables[TABLES])
{
    FILE *payload_file = open_in(folder, "payloads"), *full_file = open_in(folder, "full");
    FILE *code_file = open_in(folder, "codes");
    struct made_picture picture;
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS], payloads[VIEWS];
    struct doppel_error error;
    for (uint64_t id = 1; id <= count; id++) {
        make_picture_of(id, 0, &picture);
        for (uint32_t i = 0; i < VIEWS; i++)
            payloads[i] = doppel_image_table_payload(&picture.print, id, i);
        size_t made = doppel_image_table_codes(DOPPEL_IMAGE_TABLE_FULL, &picture.item, codes);
        bench_must(doppel_index_insert(tables[1], codes, payloads, made, &error), &error);
        fwrite(codes, 32, made, full_file);
        made = doppel_image_table_codes(DOPPEL_IMAGE_TABLE_CODES, &picture.item, codes);
        bench_must(doppel_index_insert(tables[0], codes, payloads, made, &error), &error);
        fwrite(codes, 32, made, code_file);
        fwrite(payloads, 8, made, payload_file);
    }
    fclose(payload_file);
    fclose(full_file);
    fclose(code_file);
}

static enum doppel_status give_made(void *context, uint64_t id, struct doppel_fingerprint *out,
                                    uint8_t *out_quality, struct doppel_error *error)
{
    struct made_picture picture;
    (void)context;
    make_picture_of(id, 0, &picture);
    *out_quality = 100;
    bench_must(
        doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), 256, VIEWS, out, error),
        error);
    memcpy(out->codes, picture.codes, sizeof picture.codes);
    memcpy(out->positions, picture.positions, sizeof picture.positions);
    return DOPPEL_OK;
}

static bool count_matches(void *context, const struct doppel_found *found)
{
    (void)found;
    ++*(size_t *)context;
    return true;
}

/* Every other one is of a picture that is there. */
static void ask_all(uint64_t count, uint64_t questions, const char *folder,
                    struct doppel_index *tables[TABLES])
{
    const struct doppel_match_options options = doppel_match_options_default();
    FILE *file = open_in(folder, "questions"), *full_file = open_in(folder, "full-questions");
    double cpu = 0;
    size_t found = 0;
    struct doppel_error error;
    for (uint64_t i = 0; i < questions; i++) {
        uint8_t bytes[DOPPEL_IMAGE_QUESTION_BYTES];
        uint64_t code[4];
        uint32_t radius;
        struct made_picture picture;
        make_picture_of(1 + (i % 2 ? count + i : i * 7919 % count), 3, &picture);
        const struct doppel_image_request request = {.query = &picture.item,
                                                     .options = &options,
                                                     .tables = {tables[0], tables[1]},
                                                     .source = give_made};
        const struct bench_time begun = bench_now();
        bench_must(doppel_images_find(&request, count_matches, &found, &error), &error);
        cpu += bench_each_ms(begun, 1).cpu;
        fwrite(bytes, 1, doppel_image_question_pack(&picture.print, &options, bytes), file);
        fwrite(code, 32, doppel_image_full_lookup(&picture.item, &options, code, &radius),
               full_file);
    }
    fclose(file);
    fclose(full_file);
    printf("%.4f %zu\n", cpu / (double)questions, found);
}

int main(int argc, char **argv)
{
    struct doppel_index *tables[TABLES];
    struct doppel_error error;
    if (argc != 4)
        return 2;
    const uint64_t count = strtoull(argv[1], NULL, 10), questions = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < TABLES; i++) {
        struct doppel_index_options options;
        (void)doppel_image_table_options(DOPPEL_SCHEME_PHASH64, (enum doppel_image_table)i,
                                         &options);
        bench_must(doppel_index_new(&options, &tables[i], &error), &error);
    }
    make_pictures(count, argv[3], tables);
    ask_all(count, questions, argv[3], tables);
    for (int i = 0; i < TABLES; i++)
        doppel_index_free(tables[i]);
    return 0;
}
