/* Codes and digests of a list for tests, and the two ways in which they come into a library. */
#include "tests/library/list_codes.h"

#include <stdio.h>

#include "library/items/import_internal.h"

enum { OTHER_NAMES = 900 };

uint64_t draw_below(struct code_source *source, uint64_t below)
{
    uint64_t z = source->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

struct list_code random_code(struct code_source *source)
{
    static const enum doppel_scheme_id schemes[] = {DOPPEL_SCHEME_PDQ, DOPPEL_SCHEME_IMAGEHASH,
                                                    DOPPEL_SCHEME_PHASH256};
    struct list_code code = {.scheme = schemes[draw_below(source, 3)],
                             .quality = (uint8_t)draw_below(source, 101)};
    uint64_t seed =
        draw_below(source, 8) ? draw_below(source, UINT64_MAX) : draw_below(source, 200);
    for (int i = 0; i < (code.scheme == DOPPEL_SCHEME_IMAGEHASH ? 1 : 4); i++)
        code.code.word[i] = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i;
    if (draw_below(source, 2))
        snprintf(code.name, sizeof code.name, "name %u", (unsigned)draw_below(source, OTHER_NAMES));
    if (!draw_below(source, 5))
        source->algorithm = (enum doppel_exact)draw_below(source, DOPPEL_EXACT_SHA256 + 1);
    code.algorithm = source->algorithm;
    return code;
}

struct doppel_item item_of_code(struct list_code *code, uint32_t *position)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code->scheme);
    *position = 0;
    return (struct doppel_item){.path = (char *)"",
                                .added_ns = 1000000007,
                                .record = {.kind = scheme->kind,
                                           .scheme = scheme->id,
                                           .version = scheme->version,
                                           .quality = code->quality,
                                           .fingerprint = {.scheme = scheme->id,
                                                           .version = scheme->version,
                                                           .code_bits = scheme->code_bits,
                                                           .count = 1,
                                                           .codes = &code->code,
                                                           .positions = position}}};
}

/* None, one or two, as a column of tags has them. */
static struct doppel_list_tags tags_of(const struct list_code *code)
{
    static char *tags[] = {(char *)"red", (char *)"blue"};
    return (struct doppel_list_tags){tags, code->quality % 3u, true};
}

/* As the importer does what is no code of a list. */
static enum doppel_status import_one_code(struct doppel_library *library, struct list_code *code,
                                          const struct doppel_metadata *about,
                                          enum doppel_added *out_added, uint64_t *out_id,
                                          struct doppel_error *error)
{
    const struct doppel_exact_digest exact = {code->algorithm, (const uint8_t *)&code->code,
                                              1000000007};
    uint32_t position;
    struct doppel_item item = item_of_code(code, &position);
    bool added = false;
    if (!code->algorithm)
        return doppel_library_import(library, &item, about, out_added, out_id, error);
    enum doppel_status status = library_begin(library, error);
    if (!status)
        status = exact_add(library, &exact, about->source, out_id, &added, error);
    *out_added = added ? DOPPEL_ADDED_NEW : DOPPEL_ADDED_UNCHANGED;
    return status ? status : doppel_library_set_metadata(library, *out_id, about, error);
}

void import_one_by_one(struct doppel_library *library, struct list_code *codes, size_t count,
                       const struct doppel_metadata *about, uint64_t *counts)
{
    for (size_t i = 0; i < count; i++) {
        const struct doppel_list_tags tags = tags_of(&codes[i]);
        const struct doppel_metadata labels = {.labels = tags.items, .label_count = tags.count};
        struct doppel_metadata all = *about;
        struct doppel_error error = {0};
        enum doppel_added added;
        uint64_t id = 0;
        bool changed;
        all.external_id = *codes[i].name ? codes[i].name : NULL;
        if (import_one_code(library, &codes[i], &all, &added, &id, &error))
            fail_msg("%s", error.message);
        for (size_t list = 0; list < about->list_count; list++)
            assert_int_equal(doppel_library_list_says(library, id, about->lists[list], &tags,
                                                      added == DOPPEL_ADDED_NEW, &changed, NULL),
                             DOPPEL_OK);
        if (!about->list_count)
            assert_int_equal(doppel_library_set_metadata(library, id, &labels, NULL), DOPPEL_OK);
        counts[added]++;
    }
    commit(library);
}

void import_batches(struct doppel_library *library, struct list_code *codes, size_t count,
                    size_t step, const struct doppel_metadata *about, uint64_t *counts)
{
    struct doppel_code_batch *batch = NULL;
    struct doppel_error error = {0};
    assert_int_equal(doppel_code_batch_new(library, about, &batch, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        uint32_t position;
        struct doppel_item item = item_of_code(&codes[i], &position);
        bool full = true;
        assert_true(doppel_code_batch_takes(&item));
        const struct doppel_exact_digest exact = {codes[i].algorithm,
                                                  (const uint8_t *)&codes[i].code, item.added_ns};
        const struct doppel_list_code code = {.item = &item,
                                              .name = *codes[i].name ? codes[i].name : NULL,
                                              .tags = tags_of(&codes[i]),
                                              .exact = exact.algorithm ? &exact : NULL};
        if (doppel_code_batch_add(batch, &code, &full, &error) ||
            ((i + 1) % step == 0 && doppel_code_batch_write(batch, counts, &error)))
            fail_msg("%s", error.message);
        assert_false(full);
    }
    if (doppel_code_batch_write(batch, counts, &error))
        fail_msg("%s", error.message);
    doppel_code_batch_free(batch);
}

static bool count_problem(void *context, const struct doppel_problem *problem)
{
    print_message("%s\n", problem->detail);
    ++*(int *)context;
    return true;
}

void assert_whole(struct doppel_library *library)
{
    int problems = 0;
    assert_int_equal(doppel_library_verify(library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 0);
}
