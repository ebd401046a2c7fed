/* Pictures that are found in the indexes of a library are those that a matcher in memory finds,
 * with the same matches in the same order: after any additions, changes, removals, rollbacks, with
 * damage and with another process that writes. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/library.h>
#include <doppel/match.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "index/segment/segment_internal.h"
#include "tests/library/fixture.h"

enum { ITEMS_MAX = 160, STEPS = 800, QUERIES = 6, CHECK_EVERY = 8, FOUND_MAX = 4096 };

struct picture {
    struct doppel_code codes[DOPPEL_VIEW_COUNT];
    uint32_t views;
    uint8_t quality;
};

struct kept_item {
    uint64_t id; /* 0: not there */
    struct picture picture;
};

struct world {
    enum doppel_scheme_id scheme;
    const char *folder;
    struct doppel_library *library;
    struct doppel_library *follower; /* reads as of one moment after the other */
    struct kept_item now[ITEMS_MAX], committed[ITEMS_MAX];
    uint64_t random;
    bool unmade; /* indexes are made within the transaction in progress */
};

static uint64_t draw(struct world *world)
{
    uint64_t z = world->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- pictures ---- */

static uint32_t words_of(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_IMAGEHASH ? 1 : 4;
}

static struct picture random_picture(struct world *world)
{
    struct picture picture = {.quality = (uint8_t)(draw(world) % 101), .views = 1};
    if (world->scheme == DOPPEL_SCHEME_PHASH64) /* some have few views, some all */
        picture.views = 1 + (uint32_t)(draw(world) % DOPPEL_VIEW_COUNT);
    for (uint32_t i = 0; i < DOPPEL_VIEW_COUNT; i++)
        for (uint32_t word = 0; word < words_of(world->scheme); word++)
            picture.codes[i].word[word] = draw(world);
    return picture;
}

/* Turned, with some bits changed, or a crop of it. */
static struct picture copy_of(struct world *world, const struct picture *of)
{
    struct picture picture = *of;
    const unsigned turn = draw(world) % 2 ? 0 : (unsigned)(draw(world) % 8);
    const uint32_t bits = words_of(world->scheme) * 64, changed = 1 + (uint32_t)(draw(world) % 23);
    picture.quality = (uint8_t)(draw(world) % 3 ? 40 + draw(world) % 61 : draw(world) % 40);
    for (uint32_t i = 0; i < picture.views; i++) {
        if (turn && world->scheme != DOPPEL_SCHEME_IMAGEHASH)
            picture.codes[i] = doppel_image_orient(&picture.codes[i], turn);
        const uint64_t first = draw(world);
        for (uint32_t bit = 0; bit < changed; bit++) {
            uint64_t at = (first + 5 * bit) % bits;
            picture.codes[i].word[at / 64] ^= UINT64_C(1) << at % 64;
        }
    }
    if (picture.views > DOPPEL_VIEW_CENTRE && draw(world) % 3 == 0)
        picture.codes[0] = picture.codes[DOPPEL_VIEW_CENTRE]; /* the crop as a picture of its own */
    return picture;
}

static struct picture next_picture(struct world *world)
{
    const struct kept_item *other = &world->now[draw(world) % ITEMS_MAX];
    return other->id && draw(world) % 3 ? copy_of(world, &other->picture) : random_picture(world);
}

static struct doppel_fingerprint fingerprint_of(const struct world *world, struct picture *picture,
                                                uint32_t positions[DOPPEL_VIEW_COUNT])
{
    for (uint32_t i = 0; i < DOPPEL_VIEW_COUNT; i++)
        positions[i] = i;
    return (struct doppel_fingerprint){.scheme = world->scheme,
                                       .version = doppel_scheme_by_id(world->scheme)->version,
                                       .code_bits = (uint16_t)(64 * words_of(world->scheme)),
                                       .count = picture->views,
                                       .codes = picture->codes,
                                       .positions = positions};
}

/* ---- steps ---- */

static void put(struct world *world, size_t at)
{
    uint32_t positions[DOPPEL_VIEW_COUNT];
    char name[32];
    struct kept_item *item = &world->now[at];
    enum doppel_added added;
    item->picture = next_picture(world);
    snprintf(name, sizeof name, "picture %zu", at);
    const struct doppel_metadata about = {.external_id = name};
    const struct doppel_fingerprint fingerprint = fingerprint_of(world, &item->picture, positions);
    const struct doppel_item given = {.record = {.kind = DOPPEL_KIND_IMAGE,
                                                 .scheme = fingerprint.scheme,
                                                 .version = fingerprint.version,
                                                 .quality = item->picture.quality,
                                                 .fingerprint = fingerprint}};
    struct doppel_error error = {0};
    if (doppel_library_import(world->library, &given, &about, &added, &item->id, &error))
        fail_msg("%s", error.message);
}

static void drop(struct world *world, size_t at)
{
    if (!world->now[at].id)
        return;
    struct doppel_error error = {0};
    if (doppel_library_remove(world->library, world->now[at].id, &error))
        fail_msg("%s", error.message);
    world->now[at].id = 0;
}

static void settle(struct world *world)
{
    assert_int_equal(doppel_library_commit(world->library, NULL), DOPPEL_OK);
    memcpy(world->committed, world->now, sizeof world->now);
}

static void reopen(struct world *world)
{
    settle(world);
    doppel_library_close(world->library);
    world->library = open_library(world->folder);
}

static void follow(struct world *world)
{
    const struct doppel_library_options reading = {.read_only = true};
    assert_int_equal(
        doppel_library_open(directory_of(world->folder), &reading, &world->follower, NULL),
        DOPPEL_OK);
}

/* A table as an earlier version made it: of views, before its codes lay in blocks, or of wide
 * codes; others are left as they are. */
static void make_former(const char *path)
{
    enum { APART = AT_PARAMETERS + 3 * sizeof(uint64_t) };
    uint8_t header[SEGMENT_HEADER];
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fread(header, sizeof header, 1, file), 1);
    const uint32_t table = get_u32(header + AT_TABLE);
    if (table == SEGMENT_HAMMING || (table == SEGMENT_LINEAR && get_u64(header + APART))) {
        put_u64(header + (table == SEGMENT_HAMMING ? AT_PARAMETERS : APART), 1);
        put_u64(header + AT_HEADER_SUM, checksum64(header, AT_HEADER_SUM));
        rewind(file);
        assert_int_equal(fwrite(header, sizeof header, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* What is changed are pages that an open does not look at. */
static void damage_file(const char *path, uint64_t how)
{
    static const uint8_t changed[] = "changed bytes";
    if (how % 4 == 3) {
        make_former(path);
    } else if (how % 3 == 0) {
        assert_int_equal(unlink(path), 0);
    } else if (how % 3 == 1) {
        assert_int_equal(truncate(path, 5000), 0);
    } else {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        for (long at = 4096; at < 40000; at += 4096) {
            assert_int_equal(fseek(file, at + (long)(how % 900), SEEK_SET), 0);
            assert_int_equal(fwrite(changed, sizeof changed, 1, file), 1);
        }
        assert_int_equal(fclose(file), 0);
    }
}

/* A file of an index goes, or is cut, or has changed bytes, or is of an earlier version, while
 * nobody has it open. */
static void damage(struct world *world)
{
    static const char *const folders[] = {"phash64-views", "phash64-frames", "phash256",
                                          "imagehash", "pdq"};
    char path[600];
    settle(world);
    doppel_library_close(world->library);
    doppel_library_close(world->follower);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", directory_of(world->folder), folders[i]);
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (entry->d_name[0] != '.') {
                snprintf(path, sizeof path, "%s/%s/%s", directory_of(world->folder), folders[i],
                         entry->d_name);
                damage_file(path, draw(world));
            }
        if (folder)
            closedir(folder);
    }
    world->library = open_library(world->folder);
    follow(world);
    world->unmade = true;
}

static void take_step(struct world *world)
{
    const size_t at = draw(world) % ITEMS_MAX;
    const uint64_t what = draw(world) % 100;
    if (what < 60) {
        put(world, at);
    } else if (what < 78) {
        drop(world, at);
    } else if (what < 88) {
        settle(world);
    } else if (what < 92) {
        doppel_library_rollback(world->library);
        memcpy(world->now, world->committed, sizeof world->now);
    } else if (what < 96) {
        reopen(world);
    } else if (what < 98) {
        settle(world);
        assert_int_equal(doppel_library_compact(world->library, NULL, NULL, NULL), DOPPEL_OK);
    } else {
        damage(world);
    }
}

/* ---- comparing ---- */

struct found {
    struct doppel_found items[FOUND_MAX];
    size_t count;
};

static bool take(void *context, const struct doppel_found *found)
{
    struct found *all = context;
    assert_true(all->count < FOUND_MAX);
    all->items[all->count++] = *found;
    return true;
}

static struct doppel_matcher *matcher_of(struct world *world, const struct kept_item *items,
                                         const struct doppel_match_options *options)
{
    struct doppel_matcher *matcher;
    uint32_t positions[DOPPEL_VIEW_COUNT];
    assert_int_equal(doppel_matcher_new(world->scheme, options, 1, &matcher, NULL), DOPPEL_OK);
    for (size_t i = 0; i < ITEMS_MAX; i++) {
        struct picture picture = items[i].picture;
        const struct doppel_fingerprint fingerprint = fingerprint_of(world, &picture, positions);
        const struct doppel_match_item item = {&fingerprint, picture.quality};
        if (items[i].id)
            assert_int_equal(doppel_matcher_add(matcher, items[i].id, &item, NULL), DOPPEL_OK);
    }
    return matcher;
}

static void assert_same(const struct found *kept, const struct found *expected)
{
    assert_int_equal(kept->count, expected->count);
    for (size_t i = 0; i < kept->count; i++) {
        const struct doppel_match *a = &kept->items[i].match, *b = &expected->items[i].match;
        assert_int_equal(kept->items[i].id, expected->items[i].id);
        assert_int_equal(kept->items[i].borderline, expected->items[i].borderline);
        assert_int_equal(a->distance, b->distance);
        assert_int_equal(a->relation, b->relation);
        assert_true(a->similarity == b->similarity);
        if (a->false_positive_rate != b->false_positive_rate)
            fail_msg("%g is not %g", a->false_positive_rate, b->false_positive_rate);
        assert_memory_equal(&a->transform, &b->transform, sizeof a->transform);
    }
}

static size_t compare(struct world *world, struct doppel_library *library,
                      const struct kept_item *items, const struct doppel_match_options *options)
{
    static struct found kept, expected;
    struct doppel_matcher *matcher = matcher_of(world, items, options);
    uint32_t positions[DOPPEL_VIEW_COUNT];
    size_t matches = 0;
    for (int i = 0; i < QUERIES; i++) {
        struct picture picture = next_picture(world);
        const struct doppel_fingerprint fingerprint = fingerprint_of(world, &picture, positions);
        const struct doppel_match_item query = {&fingerprint, picture.quality};
        struct doppel_error error = {0};
        kept.count = expected.count = 0;
        if (doppel_library_find_images(library, &query, options, take, &kept, &error))
            fail_msg("%s", error.message);
        assert_int_equal(doppel_matcher_find(matcher, &query, take, &expected, NULL), DOPPEL_OK);
        assert_same(&kept, &expected);
        matches += kept.count;
    }
    doppel_matcher_free(matcher);
    return matches;
}

static size_t compare_all(struct world *world)
{
    struct doppel_match_options options[6];
    struct doppel_library *reader;
    const struct doppel_library_options reading = {.read_only = true};
    size_t matches = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        options[i] = doppel_match_options_default();
    options[1].check_pixels = true;
    options[2].max_distance = 20;
    options[3].min_similarity = .6;
    options[4].image.views = DOPPEL_VIEWS_TRIM;
    options[5].image.orientations = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        matches += compare(world, world->library, world->now, &options[i]);
    if (world->unmade) /* a reader would wait for it */
        settle(world);
    world->unmade = false;
    assert_int_equal(doppel_library_open(directory_of(world->folder), &reading, &reader, NULL),
                     DOPPEL_OK);
    matches += compare(world, reader, world->committed, &options[0]);
    doppel_library_close(reader);
    doppel_library_begin_reading(world->follower);
    matches += compare(world, world->follower, world->committed, &options[0]);
    doppel_library_end_reading(world->follower);
    return matches;
}

static bool no_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void test_scheme(void **state, enum doppel_scheme_id scheme)
{
    static struct world world;
    size_t matches = 0;
    world = (struct world){
        .scheme = scheme, .folder = *state, .random = (uint64_t)scheme, .unmade = true};
    world.library = open_library(*state);
    reopen(&world); /* so that a reader finds a library */
    follow(&world);
    for (int step = 0; step < STEPS; step++) {
        take_step(&world);
        if (step % CHECK_EVERY == 0)
            matches += compare_all(&world);
    }
    settle(&world);
    assert_true(matches > STEPS / 4);
    assert_int_equal(doppel_library_verify(world.library, false, no_problem, NULL, NULL),
                     DOPPEL_OK);
    doppel_library_close(world.follower);
    doppel_library_close(world.library);
}

static void test_phash64(void **state)
{
    test_scheme(state, DOPPEL_SCHEME_PHASH64);
}

static void test_phash256(void **state)
{
    test_scheme(state, DOPPEL_SCHEME_PHASH256);
}

static void test_imagehash(void **state)
{
    test_scheme(state, DOPPEL_SCHEME_IMAGEHASH);
}

static void test_pdq(void **state)
{
    test_scheme(state, DOPPEL_SCHEME_PDQ);
}

static bool finds(struct world *world, struct doppel_library *library, size_t at)
{
    static struct found found;
    const struct doppel_match_options options = doppel_match_options_default();
    uint32_t positions[DOPPEL_VIEW_COUNT];
    struct kept_item *item = &world->now[at];
    const struct doppel_fingerprint fingerprint = fingerprint_of(world, &item->picture, positions);
    const struct doppel_match_item query = {&fingerprint, item->picture.quality};
    found.count = 0;
    assert_int_equal(doppel_library_find_images(library, &query, &options, take, &found, NULL),
                     DOPPEL_OK);
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].id == item->id)
            return true;
    return false;
}

/* What comes meanwhile is not seen, though segments are merged and go. */
static void test_one_moment(void **state)
{
    static struct world world;
    world = (struct world){.scheme = DOPPEL_SCHEME_PDQ, .folder = *state, .random = 12};
    world.library = open_library(*state);
    put(&world, 0);
    reopen(&world);
    follow(&world);
    struct doppel_library *reader = world.follower;
    doppel_library_begin_reading(reader);
    assert_true(finds(&world, reader, 0));
    put(&world, 1);
    settle(&world);
    assert_int_equal(doppel_library_compact(world.library, NULL, NULL, NULL), DOPPEL_OK);
    assert_true(finds(&world, reader, 0));
    assert_false(finds(&world, reader, 1));
    doppel_library_end_reading(reader);
    doppel_library_begin_reading(reader);
    assert_true(finds(&world, reader, 0));
    assert_true(finds(&world, reader, 1));
    doppel_library_end_reading(reader);
    doppel_library_close(reader);
    doppel_library_close(world.library);
}

/* Before version 17 pictures of little structure were in no index. */
static void version_16_is_brought_up(void **state)
{
    static struct world world;
    size_t weak = 0;
    world = (struct world){.scheme = DOPPEL_SCHEME_PHASH64, .folder = *state, .random = 16};
    world.library = open_library(*state);
    put(&world, weak);
    while (world.now[weak].picture.quality < DOPPEL_IMAGE_STRICT_QUALITY ||
           world.now[weak].picture.quality >= DOPPEL_IMAGE_MIN_QUALITY)
        put(&world, ++weak);
    settle(&world);
    assert_true(finds(&world, world.library, weak));
    doppel_library_close(world.library);
    const char *path = folder_path(*state, "a/library/catalogue.db");
    run_raw(path, "DELETE FROM doppel_index_log WHERE record >> 40 IN"
                  " (SELECT id FROM doppel_index WHERE name LIKE 'phash64-frames.%')");
    world.library = open_library(*state);
    assert_false(finds(&world, world.library, weak));
    doppel_library_close(world.library);
    run_raw(path, "PRAGMA user_version = 16");
    world.library = open_library(*state);
    assert_true(finds(&world, world.library, weak));
    assert_int_equal(doppel_library_verify(world.library, false, no_problem, NULL, NULL),
                     DOPPEL_OK);
    doppel_library_close(world.library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_phash64), IN_FOLDER(test_phash256),   IN_FOLDER(test_imagehash),
        IN_FOLDER(test_pdq),     IN_FOLDER(test_one_moment), IN_FOLDER(version_16_is_brought_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
