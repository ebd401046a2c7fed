/* Records that are a part of an earlier, far longer one: against what is known of how they were
 * made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/corpus.h>

#include "tests/corpus/files.h"

enum {
    WHOLES = 150,
    WORDS = 900,
    EARLY = 110,
    ROOM = 40,
    LENGTHS = 3,
    MOST = WHOLES * 5,
    SHINGLE = 5
};

/* Parts do not overlap. */
static const size_t starts[LENGTHS] = {150, 250, 450}, lengths[LENGTHS] = {60, 150, 300};

/* Before its whole, or behind it; `share` of its shingles are the whole's. */
struct made_part {
    size_t whole, of; /* numbers of the records */
    double share;
    bool behind;
};

struct scene {
    struct bytes lines;
    char *folder, *path, *packed;
    struct made_part parts[MOST];
    size_t part_count, records;
    uint64_t seed;
};

static void add_word(struct scene *scene, uint64_t number)
{
    char word[32];
    snprintf(word, sizeof word, "w%llx ", (unsigned long long)number);
    bytes_add_text(&scene->lines, word);
}

static size_t end_record(struct scene *scene)
{
    bytes_add_text(&scene->lines, "\"}\n");
    return scene->records++;
}

/* Word i of a text is told by both numbers alone. */
static uint64_t word_of(size_t whole, size_t i)
{
    return whole * WORDS + i;
}

static size_t add_whole(struct scene *scene, size_t whole)
{
    bytes_add_text(&scene->lines, "{\"text\":\"");
    for (size_t i = 0; i < WORDS; i++)
        add_word(scene, word_of(whole, i));
    return end_record(scene);
}

/* Some words in a row, each `every`-th of which is another one; 0: none. */
static void add_part(struct scene *scene, size_t whole, size_t start, size_t length, size_t every)
{
    struct made_part *part = &scene->parts[scene->part_count++];
    size_t first = start + random_next(&scene->seed) % ROOM, kept = 0, since = 0;
    bytes_add_text(&scene->lines, "{\"text\":\"");
    for (size_t i = 0; i < length; i++) {
        bool other = every && i % every == every / 2;
        since = other ? 0 : since + 1;
        kept += since >= SHINGLE;
        add_word(scene,
                 other ? random_next(&scene->seed) | UINT64_C(1) << 40 : word_of(whole, first + i));
    }
    *part = (struct made_part){.share = (double)kept / (double)(length - SHINGLE + 1)};
    part->of = end_record(scene);
}

static void begin_scene(struct scene *scene)
{
    static const size_t everies[] = {0, 80, 40};
    *scene = (struct scene){.folder = folder_make(), .seed = 7};
    for (size_t whole = 0; whole < WHOLES; whole++) {
        add_part(scene, whole, 0, EARLY, 0);
        size_t first = scene->part_count - 1, record = add_whole(scene, whole);
        for (size_t i = 0; i < LENGTHS; i++)
            add_part(scene, whole, starts[i], lengths[i], everies[(whole + i) % 3]);
        for (size_t i = first; i < scene->part_count; i++) {
            scene->parts[i].whole = record;
            scene->parts[i].behind = i > first;
        }
    }
    scene->path = path_in(scene->folder, "parts.jsonl");
    write_file(scene->path, scene->lines.data, scene->lines.size);
    struct bytes packed = {0};
    bytes_add_gzip(&packed, scene->lines.data, scene->lines.size);
    scene->packed = path_in(scene->folder, "parts.jsonl.gz");
    write_file(scene->packed, packed.data, packed.size);
    bytes_free(&packed);
}

static void end_scene(struct scene *scene)
{
    bytes_free(&scene->lines);
    folder_remove(scene->folder);
    free(scene->path);
    free(scene->packed);
}

/* Of each record the line of what it is a part of; 0: of nothing. */
struct told_parts {
    uint64_t of[MOST + WHOLES];
    size_t count;
};

static bool take_told_part(void *context, const struct doppel_dedup_decision *decision)
{
    struct told_parts *told = context;
    const bool part = decision->decision == DOPPEL_DECISION_PART;
    if (part) {
        assert_int_equal(decision->match.relation, DOPPEL_RELATION_CONTAINED);
        assert_true(decision->match.query_coverage >= .9);
        assert_true(decision->unique);
    }
    told->of[told->count++] = part ? decision->of_line : 0;
    return true;
}

static void decide_parts(const struct doppel_dedup_options *options, struct told_parts *out)
{
    *out = (struct told_parts){0};
    assert_int_equal(doppel_dedup(options, take_told_part, out, NULL), DOPPEL_OK);
}

static void parts_are_of_what_holds_them(void **state)
{
    (void)state;
    static struct scene scene;
    static struct told_parts told, other;
    size_t held = 0, found = 0;
    begin_scene(&scene);
    const char *paths[] = {scene.path};
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = 1;
    options.parts = true;
    decide_parts(&options, &told);
    assert_int_equal(told.count, scene.records);
    for (size_t i = 0; i < scene.part_count; i++) {
        const struct made_part *part = &scene.parts[i];
        const bool holds = part->behind && part->share >= .9;
        assert_true(told.of[part->of] == 0 || (holds && told.of[part->of] == part->whole + 1));
        held += holds;
        found += told.of[part->of] != 0;
    }
    assert_true(held > WHOLES && (double)found > .97 * (double)held);

    options.parts = false; /* bands find less than half of them */
    decide_parts(&options, &other);
    for (found = 0; other.count--;)
        found += other.of[other.count] != 0;
    assert_true((double)found < .5 * (double)held);
    end_scene(&scene);
}

static void parts_are_the_same_for_threads_memory_and_packed(void **state)
{
    (void)state;
    static struct scene scene;
    static struct told_parts told, other;
    begin_scene(&scene);
    const char *paths[] = {scene.path}, *packed[] = {scene.packed};
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = 1;
    options.parts = true;
    decide_parts(&options, &told);
    options.threads = 3;
    options.memory_bytes = 1;
    decide_parts(&options, &other);
    assert_memory_equal(&other, &told, sizeof told);
    options.files.paths = packed;
    options.keep_shingles = true;
    decide_parts(&options, &other);
    assert_memory_equal(&other, &told, sizeof told);
    end_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_of_what_holds_them),
        cmocka_unit_test(parts_are_the_same_for_threads_memory_and_packed),
    };
    return cmocka_run_group_tests_name("corpus_dedup_parts", tests, NULL, NULL);
}
