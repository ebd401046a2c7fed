/* Texts that are looked up in the indexes of a library are those that its rows tell of: files and
 * records, those who lead apart from those who follow, after any additions, links, removals,
 * rollbacks, with damage and with another process that reads. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/text.h>

#include "tests/library/fixture.h"

enum { LANES = 128, TEXTS_MAX = 90, WORDS = 40, STEPS = 900, QUERIES = 4, CHECK_EVERY = 9 };

struct world {
    const char *folder;
    struct doppel_library *library;
    struct doppel_text *reader;
    struct doppel_text_options options;
    uint64_t random, files;
    uint32_t words[TEXTS_MAX][WORDS]; /* of texts that were made */
};

static uint64_t draw(struct world *world)
{
    uint64_t z = world->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- texts ---- */

/* A new text, or one that was made, with some words changed or none; a few are too short. */
static struct doppel_text_result next_text(struct world *world)
{
    static char bytes[WORDS * 12];
    struct doppel_text_result result;
    uint32_t *words = world->words[draw(world) % TEXTS_MAX];
    const uint32_t *of = world->words[draw(world) % TEXTS_MAX];
    size_t size = 0, count = draw(world) % 12 ? WORDS : draw(world) % 3;
    bool is_new = draw(world) % 4 == 0;
    uint64_t changed = draw(world) % 3 ? draw(world) % 4 : 0;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = is_new ? (uint32_t)draw(world) : of[i];
    for (uint64_t i = 0; i < changed; i++)
        words[draw(world) % WORDS] = (uint32_t)draw(world);
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(bytes + size, sizeof bytes - size, "w%x ", words[i]);
    assert_int_equal(doppel_text_read(world->reader, bytes, size,
                                      DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES |
                                          DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH,
                                      &result, NULL),
                     DOPPEL_OK);
    return result;
}

/* ---- the rows, which are the truth ---- */

struct text_row {
    uint64_t id, leader;
    struct doppel_digest content;
    uint16_t lanes[LANES];
    bool too_short, leads, is_file;
    uint32_t shingles[WORDS];
    size_t shingle_count;
};

struct rows {
    struct text_row items[STEPS];
    size_t count;
};

static bool take_text_row(void *context, const struct doppel_library_text *text)
{
    struct rows *rows = context;
    struct text_row *row = &rows->items[rows->count++];
    assert_int_equal(text->error.status, DOPPEL_OK);
    *row = (struct text_row){.id = text->id,
                             .leader = text->leader,
                             .content = text->content,
                             .too_short = text->too_short,
                             .leads = text->leads,
                             .is_file = text->path,
                             .shingle_count = text->shingles ? (size_t)text->shingle_total : 0};
    assert_true(row->shingle_count <= WORDS);
    if (row->shingle_count)
        memcpy(row->shingles, text->shingles, row->shingle_count * sizeof *row->shingles);
    memcpy(row->lanes, text->lanes, sizeof row->lanes);
    return rows->count < STEPS;
}

static const struct text_row *row_of(const struct rows *rows, uint64_t id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].id == id)
            return &rows->items[i];
    return NULL;
}

static void read_rows(struct doppel_library *library, struct rows *out)
{
    const struct doppel_text_query all = {.files = true, .shingles = true};
    out->count = 0;
    assert_int_equal(doppel_library_each_text(library, &all, take_text_row, out, NULL), DOPPEL_OK);
}

static bool row_leads(const struct rows *rows, const struct text_row *row)
{
    return !row->too_short && (row->leads || !row_of(rows, row->leader));
}

/* ---- steps ---- */

static uint64_t any_id(struct world *world, bool leads)
{
    static struct rows rows;
    read_rows(world->library, &rows);
    for (int i = 0; i < 20 && rows.count; i++) {
        const struct text_row *row = &rows.items[draw(world) % rows.count];
        if (!leads || row_leads(&rows, row))
            return row->id;
    }
    return 0;
}

static void put_text_record(struct world *world)
{
    struct doppel_error error = {0};
    const struct doppel_text_result result = next_text(world);
    uint64_t leader = draw(world) % 3 ? 0 : any_id(world, true), id;
    const struct doppel_library_text text = {.content = result.digest,
                                             .words = result.words,
                                             .too_short = result.too_short,
                                             .leads = !leader && !result.too_short,
                                             .leader = leader,
                                             .decision = leader ? DOPPEL_DECISION_DUPLICATE
                                                                : DOPPEL_DECISION_NEW,
                                             .lanes = result.lanes,
                                             .lane_count = LANES,
                                             .shingles = result.shingles,
                                             .shingle_total = result.shingle_count};
    if (doppel_library_add_text(world->library, &text, &id, &error))
        fail_msg("%s", error.message);
}

/* At a new path, or at one where there was another text. */
static void put_text_file(struct world *world)
{
    const struct doppel_text_result result = next_text(world);
    struct doppel_record record = {.kind = DOPPEL_KIND_TEXT, .scheme = DOPPEL_SCHEME_MINHASH128};
    struct doppel_file_stamp stamp = {.inode = ++world->files, .mtime_ns = 1};
    struct doppel_error error = {0};
    enum doppel_added added;
    char path[64];
    uint64_t id;
    snprintf(path, sizeof path, "/texts/%llu", (unsigned long long)(draw(world) % 60));
    record.digest = doppel_digest_bytes(&stamp, sizeof stamp);
    record.attachment_size = doppel_text_attachment_size(&result);
    record.attachment = malloc(record.attachment_size);
    assert_non_null(record.attachment);
    doppel_text_attachment_write(&result, record.attachment);
    assert_int_equal(
        doppel_text_fingerprint(record.scheme, &world->options, &result, &record.fingerprint, NULL),
        DOPPEL_OK);
    record.version = record.fingerprint.version;
    if (doppel_library_add(world->library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
}

static void link_some(struct world *world)
{
    uint64_t item = any_id(world, false), leader = any_id(world, true), its = 0;
    if (!item || !leader || item == leader ||
        doppel_library_leader(world->library, leader, &its, NULL) || its != leader)
        return;
    assert_int_equal(doppel_library_link(world->library, item, leader, NULL), DOPPEL_OK);
}

static void drop_some(struct world *world)
{
    uint64_t id = any_id(world, draw(world) % 2);
    if (id)
        assert_int_equal(doppel_library_remove(world->library, id, NULL), DOPPEL_OK);
}

static void reopen(struct world *world)
{
    commit(world->library);
    doppel_library_close(world->library);
    world->library = open_library(world->folder);
}

/* A file of an index goes, or is cut, or has changed bytes, while nobody has it open. */
static void damage(struct world *world)
{
    static const char *const folders[] = {"minhash128", "minhash128-followers", "text-contents",
                                          "minhash128-shingles"};
    char path[600];
    commit(world->library);
    doppel_library_close(world->library);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", directory_of(world->folder), folders[i]);
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (entry->d_name[0] != '.') {
                snprintf(path, sizeof path, "%s/%s/%s", directory_of(world->folder), folders[i],
                         entry->d_name);
                assert_int_equal(draw(world) % 2 ? unlink(path) : truncate(path, 4200), 0);
            }
        if (folder)
            closedir(folder);
    }
    world->library = open_library(world->folder);
}

static void take_step(struct world *world)
{
    const uint64_t what = draw(world) % 100;
    if (what < 30) {
        put_text_record(world);
    } else if (what < 50) {
        put_text_file(world);
    } else if (what < 62) {
        link_some(world);
    } else if (what < 66) {
        uint64_t id = any_id(world, false);
        if (id)
            assert_int_equal(doppel_library_unlink(world->library, id, NULL), DOPPEL_OK);
    } else if (what < 84) {
        drop_some(world);
    } else if (what < 90) {
        commit(world->library);
    } else if (what < 94) {
        doppel_library_rollback(world->library);
    } else if (what < 97) {
        reopen(world);
    } else if (what < 99) {
        commit(world->library);
        assert_int_equal(doppel_library_compact(world->library, NULL, NULL, NULL), DOPPEL_OK);
    } else {
        damage(world);
    }
}

/* ---- comparing ---- */

struct candidates {
    uint64_t ids[STEPS];
    uint32_t distances[STEPS];
    size_t count;
};

static bool take_candidate(void *context, uint64_t id, uint32_t distance)
{
    struct candidates *found = context;
    assert_true(found->count < STEPS);
    found->ids[found->count] = id;
    found->distances[found->count++] = distance;
    return true;
}

static uint32_t differing(const uint16_t *a, const uint16_t *b)
{
    uint32_t count = 0;
    for (int i = 0; i < LANES; i++)
        count += a[i] != b[i];
    return count;
}

static bool share_a_band(const uint16_t *a, const uint16_t *b, uint32_t bands, uint32_t rows)
{
    for (uint32_t band = 0; band < bands; band++)
        if (memcmp(a + band * rows, b + band * rows, rows * sizeof *a) == 0)
            return true;
    return false;
}

/* Each that is expected is found once, with its distance; texts too short are nobody's business. */
static size_t compare_near(struct world *world, struct doppel_library *library,
                           const struct rows *rows, const struct doppel_text_result *query,
                           uint32_t bands, uint32_t lanes_a_band, bool followers)
{
    static struct candidates found;
    uint64_t code[LANES / 4] = {0};
    struct doppel_error error = {0};
    struct doppel_text_lookup lookup = {.scheme = DOPPEL_SCHEME_MINHASH128,
                                        .code = code,
                                        .radius = LANES,
                                        .bands = bands,
                                        .rows = lanes_a_band,
                                        .followers = followers};
    size_t expected = 0, counted = 0;
    (void)world;
    for (int i = 0; i < LANES; i++)
        code[i / 4] |= (uint64_t)query->lanes[i] << 16 * (i % 4);
    found.count = 0;
    if (doppel_library_near_texts(library, &lookup, take_candidate, &found, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < rows->count; i++) {
        const struct text_row *row = &rows->items[i];
        bool near = share_a_band(row->lanes, query->lanes, bands, lanes_a_band);
        expected += !row->too_short && near && (followers || row_leads(rows, row));
    }
    for (size_t i = 0; i < found.count; i++) {
        const struct text_row *row = row_of(rows, found.ids[i]);
        assert_non_null(row);
        if (row->too_short)
            continue;
        assert_true(share_a_band(row->lanes, query->lanes, bands, lanes_a_band));
        assert_true(followers || row_leads(rows, row));
        assert_int_equal(found.distances[i], differing(row->lanes, query->lanes));
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(found.ids[j], found.ids[i]);
        counted++;
    }
    assert_int_equal(counted, expected);
    return counted;
}

static void compare_contents(struct doppel_library *library, const struct rows *rows,
                             const struct doppel_digest *content, size_t limit)
{
    static struct candidates found;
    size_t at = 0;
    found.count = 0;
    assert_int_equal(doppel_library_texts_of(library, content, limit, take_candidate, &found, NULL),
                     DOPPEL_OK);
    for (size_t i = 0; i < rows->count && (!limit || at < limit); i++)
        if (memcmp(&rows->items[i].content, content, sizeof *content) == 0) {
            assert_true(at < found.count);
            assert_int_equal(found.ids[at++], rows->items[i].id);
        }
    assert_int_equal(at, found.count);
}

static uint32_t count_shared(const struct text_row *row, const struct doppel_text_result *query)
{
    uint32_t count = 0;
    for (size_t i = 0; i < row->shingle_count && row->is_file; i++)
        for (size_t j = 0; j < query->shingle_count; j++)
            count += row->shingles[i] == query->shingles[j] &&
                     query->shingles[j] < DOPPEL_TEXT_HELD_BELOW;
    return count;
}

/* Files that have one of its lowest shingles, in order, and how many they have. */
static size_t compare_shared(struct world *world, struct doppel_library *library,
                             const struct rows *rows, const struct doppel_text_result *query)
{
    static struct candidates found;
    const struct doppel_shingle_lookup lookup = {
        .scheme = DOPPEL_SCHEME_MINHASH128,
        .version = doppel_text_version(doppel_scheme_by_id(DOPPEL_SCHEME_MINHASH128)->version,
                                       &world->options),
        .shingles = query->shingles,
        .count = query->shingle_count};
    struct doppel_error error = {0};
    size_t at = 0;
    found.count = 0;
    if (doppel_library_share_shingles(library, &lookup, take_candidate, &found, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t shared = count_shared(&rows->items[i], query);
        if (!shared)
            continue;
        assert_true(at < found.count);
        assert_int_equal(found.ids[at], rows->items[i].id);
        assert_int_equal(found.distances[at++], shared);
    }
    assert_int_equal(at, found.count);
    return at;
}

static size_t compare(struct world *world, struct doppel_library *library)
{
    static const uint32_t others[][2] = {{32, 4}, {12, 10}, {128, 1}};
    static struct rows rows;
    uint32_t bands, lanes_a_band;
    size_t matches = 0;
    assert_int_equal(doppel_index_bands_choose(LANES, doppel_text_limits_default().min_similarity,
                                               DOPPEL_INDEX_BANDS_USUAL, &bands, &lanes_a_band,
                                               NULL),
                     DOPPEL_OK);
    read_rows(library, &rows);
    for (int i = 0; i < QUERIES; i++) {
        const struct doppel_text_result query = next_text(world);
        compare_contents(library, &rows, &query.digest, 0);
        compare_contents(library, &rows, &query.digest, 2);
        matches += compare_shared(world, library, &rows, &query);
        if (query.too_short)
            continue;
        for (int followers = 0; followers < 2; followers++) {
            matches += compare_near(world, library, &rows, &query, bands, lanes_a_band, followers);
            const uint32_t *other = others[draw(world) % 3];
            matches += compare_near(world, library, &rows, &query, other[0], other[1], followers);
        }
    }
    return matches;
}

static size_t compare_all(struct world *world)
{
    struct doppel_library *reader;
    const struct doppel_library_options reading = {.read_only = true};
    size_t matches = compare(world, world->library);
    if (draw(world) % 3) /* else what is not committed is not there for others */
        return matches;
    commit(world->library);
    assert_int_equal(doppel_library_open(directory_of(world->folder), &reading, &reader, NULL),
                     DOPPEL_OK);
    matches += compare(world, reader);
    doppel_library_close(reader);
    return matches;
}

static bool no_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void test_indexes_hold_what_rows_tell(void **state)
{
    static struct world world;
    const struct doppel_text_limits limits = doppel_text_limits_default();
    size_t matches = 0;
    world = (struct world){.folder = *state, .options = doppel_text_options_default()};
    assert_int_equal(doppel_text_new(&world.options, &world.reader, NULL), DOPPEL_OK);
    world.library = open_library(*state);
    assert_int_equal(doppel_library_set_text_options(world.library, &world.options, &limits, NULL),
                     DOPPEL_OK);
    reopen(&world);
    for (int step = 0; step < STEPS; step++) {
        take_step(&world);
        if (step % CHECK_EVERY == 0)
            matches += compare_all(&world);
        if (step % (10 * CHECK_EVERY) == 0) {
            commit(world.library);
            assert_int_equal(doppel_library_verify(world.library, false, no_problem, NULL, NULL),
                             DOPPEL_OK);
        }
    }
    commit(world.library);
    assert_true(matches > STEPS);
    assert_int_equal(doppel_library_verify(world.library, false, no_problem, NULL, NULL),
                     DOPPEL_OK);
    doppel_library_close(world.library);
    doppel_text_free(world.reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_indexes_hold_what_rows_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
