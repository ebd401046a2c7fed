/* Texts that share passages, found in the indexes of a library, are those that a set in memory
 * finds, bit for bit: after any additions, links, removals, rollbacks, packing and damage, read in
 * two ways, and by another process that reads. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/text.h>

#include "tests/library/fixture.h"

enum { PATHS = 50, POOL = 60, SENTENCE = 15, SENTENCES_MAX = 24, STEPS = 900, CHECK_EVERY = 6 };
enum { IDS_MAX = 2000, FINDS_MAX = 400, READERS = 2 };

struct shelf {
    const char *folder;
    struct doppel_library *library;
    struct doppel_text *readers[READERS]; /* in two ways */
    struct doppel_text_options options[READERS];
    char pool[POOL][SENTENCE * 12];
    uint64_t random, files;
    bool frugal; /* few postings are looked at; nothing is removed, whose keys would count, too */
};

static uint64_t draw_number(struct shelf *shelf)
{
    uint64_t z = shelf->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- texts ---- */

static void make_sentence(struct shelf *shelf, char *out)
{
    for (int i = 0; i < SENTENCE; i++)
        out += sprintf(out, "w%x ", (unsigned)(draw_number(shelf) & 0xfffff));
}

/* Sentences of the pool, some much more common than others, and words of its own between them. */
static struct doppel_text_result make_text(struct shelf *shelf, size_t way)
{
    static char bytes[SENTENCES_MAX * SENTENCE * 12 + 1];
    struct doppel_text_result result;
    size_t size = 0, count = 2 + draw_number(shelf) % (SENTENCES_MAX - 2);
    for (size_t i = 0; i < count; i++) {
        char *sentence = shelf->pool[draw_number(shelf) % (draw_number(shelf) % POOL + 1)];
        char own[SENTENCE * 12];
        if (draw_number(shelf) % 2)
            make_sentence(shelf, sentence = own);
        size += (size_t)sprintf(bytes + size, "%s", sentence);
    }
    assert_int_equal(doppel_text_read(shelf->readers[way], bytes, size,
                                      DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_PASSAGES, &result, NULL),
                     DOPPEL_OK);
    return result;
}

static struct doppel_record record_of_text(struct shelf *shelf, size_t way)
{
    struct doppel_text_result result = make_text(shelf, way);
    struct doppel_record record = {.kind = DOPPEL_KIND_TEXT, .scheme = DOPPEL_SCHEME_WINNOW32};
    assert_int_equal(doppel_text_fingerprint(record.scheme, &shelf->options[way], &result,
                                             &record.fingerprint, NULL),
                     DOPPEL_OK);
    record.version = record.fingerprint.version;
    record.digest = result.digest;
    if (draw_number(shelf) % 6 == 0)
        result.places = NULL; /* as of a very long one: its keys alone tell */
    record.attachment_size = doppel_text_attachment_size(&result);
    record.attachment = malloc(record.attachment_size);
    assert_non_null(record.attachment);
    doppel_text_attachment_write(&result, record.attachment);
    return record;
}

/* What is known of a record of a text. */
struct known {
    struct doppel_text_extra extra;
    struct doppel_text_key *keys;
    uint32_t *starts;
    struct doppel_passage_text text;
};

static void know_text(const struct doppel_record *record, struct known *out)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    *out = (struct known){.keys = calloc(fingerprint->count + 1, sizeof *out->keys),
                          .starts = calloc(fingerprint->count + 1, sizeof *out->starts)};
    assert_true(out->keys && out->starts);
    assert_int_equal(
        doppel_text_attachment_read(record->attachment, record->attachment_size, &out->extra),
        DOPPEL_OK);
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        uint64_t code = fingerprint->codes[i].word[0];
        out->keys[i] = (struct doppel_text_key){(uint32_t)code, (uint32_t)(code >> 32)};
        out->starts[i] = fingerprint->positions[i];
    }
    out->text =
        (struct doppel_passage_text){.words = out->extra.places,
                                     .word_count = (uint32_t)out->extra.words,
                                     .keys = out->keys,
                                     .key_count = fingerprint->count,
                                     .key_starts = out->extra.place_count ? NULL : out->starts};
}

static void forget_text(struct known *known)
{
    doppel_text_extra_free(&known->extra);
    free(known->keys);
    free(known->starts);
    *known = (struct known){.keys = NULL};
}

/* ---- steps ---- */

static bool list_id(void *context, const struct doppel_item *item)
{
    uint64_t *ids = context;
    assert_int_equal(item->record.error.status, DOPPEL_OK);
    assert_true(ids[0] < IDS_MAX - 1);
    ids[++ids[0]] = item->id;
    return true;
}

/* @return 0: there is none */
static uint64_t any_item(struct shelf *shelf)
{
    uint64_t ids[IDS_MAX] = {0};
    assert_int_equal(doppel_library_each(shelf->library, list_id, ids, NULL), DOPPEL_OK);
    return ids[0] ? ids[1 + draw_number(shelf) % ids[0]] : 0;
}

static void put_text_item(struct shelf *shelf, uint64_t number)
{
    struct doppel_record record = record_of_text(shelf, draw_number(shelf) % 5 == 0);
    struct doppel_file_stamp stamp = {.inode = ++shelf->files, .mtime_ns = 1};
    struct doppel_error error = {0};
    enum doppel_added added;
    char path[64];
    uint64_t id;
    snprintf(path, sizeof path, "/texts/%llu", (unsigned long long)number);
    if (doppel_library_add(shelf->library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
}

static void link_items(struct shelf *shelf)
{
    uint64_t item = any_item(shelf), leader = any_item(shelf), its = 0;
    if (!item || item == leader || doppel_library_leader(shelf->library, leader, &its, NULL) ||
        its != leader)
        return;
    assert_int_equal(doppel_library_link(shelf->library, item, leader, NULL), DOPPEL_OK);
}

static void close_and_open(struct shelf *shelf)
{
    commit(shelf->library);
    doppel_library_close(shelf->library);
    shelf->library = open_library(shelf->folder);
}

/* The files of the indexes go, or are cut, while nobody has them open. */
static void lose_files(struct shelf *shelf)
{
    static const char *const folders[] = {"winnow32", "winnow32-followers"};
    char path[1200];
    commit(shelf->library);
    doppel_library_close(shelf->library);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", directory_of(shelf->folder), folders[i]);
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            snprintf(path, sizeof path, "%s/%s/%s", directory_of(shelf->folder), folders[i],
                     entry->d_name);
            if (entry->d_name[0] != '.')
                assert_int_equal(draw_number(shelf) % 2 ? unlink(path) : truncate(path, 4200), 0);
        }
        if (folder)
            closedir(folder);
    }
    shelf->library = open_library(shelf->folder);
}

static void change_shelf(struct shelf *shelf)
{
    const uint64_t what = draw_number(shelf) % 100;
    const uint64_t id = what >= 45 && what < 78 ? any_item(shelf) : 0;
    if (what < 45) {
        put_text_item(shelf, draw_number(shelf) % PATHS);
    } else if (what < 60) {
        link_items(shelf);
    } else if (what < 66) {
        if (id)
            assert_int_equal(doppel_library_unlink(shelf->library, id, NULL), DOPPEL_OK);
    } else if (what < 78) {
        if (id)
            assert_int_equal(doppel_library_remove(shelf->library, id, NULL), DOPPEL_OK);
    } else if (what < 86) {
        commit(shelf->library);
    } else if (what < 91) {
        doppel_library_rollback(shelf->library);
    } else if (what < 95) {
        close_and_open(shelf);
    } else if (what < 98) {
        commit(shelf->library);
        assert_int_equal(doppel_library_compact(shelf->library, NULL, NULL, NULL), DOPPEL_OK);
    } else {
        lose_files(shelf);
    }
}

/* ---- comparing ---- */

/* The library, as a source of its texts and a set in memory. */
struct oracle {
    struct doppel_library *library;
    struct doppel_passages *set;
    uint16_t version;
    bool followers;
    struct known last;
};

static bool add_to_oracle(void *context, const struct doppel_item *item)
{
    struct oracle *oracle = context;
    struct doppel_item whole;
    struct known known;
    uint64_t leader;
    assert_int_equal(doppel_library_leader(oracle->library, item->id, &leader, NULL), DOPPEL_OK);
    if (item->record.version != oracle->version || (leader != item->id && !oracle->followers))
        return true;
    assert_int_equal(doppel_library_get(oracle->library, item->id, true, &whole, NULL), DOPPEL_OK);
    know_text(&whole.record, &known);
    doppel_item_free(&whole);
    assert_int_equal(doppel_passages_add(oracle->set, item->id, &known.text, NULL), DOPPEL_OK);
    forget_text(&known);
    return true;
}

static bool give_text(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct oracle *oracle = context;
    struct doppel_item item;
    assert_int_equal(doppel_library_get(oracle->library, id, true, &item, NULL), DOPPEL_OK);
    bool wanted = item.record.version == oracle->version;
    forget_text(&oracle->last);
    if (wanted)
        know_text(&item.record, &oracle->last);
    *out = oracle->last.text;
    doppel_item_free(&item);
    return wanted;
}

struct finds {
    struct doppel_found items[FINDS_MAX];
    double first[FINDS_MAX][4]; /* of the first segment */
    size_t count;
};

static bool take_find(void *context, const struct doppel_found *found)
{
    struct finds *finds = context;
    const struct doppel_segment *segment = found->match.segments;
    assert_true(finds->count < FINDS_MAX);
    finds->items[finds->count] = *found;
    if (segment) {
        const double ends[] = {segment->a_start, segment->a_end, segment->b_start, segment->b_end};
        memcpy(finds->first[finds->count], ends, sizeof ends);
    }
    finds->count++;
    return true;
}

static void assert_same_finds(const struct finds *kept, const struct finds *expected)
{
    assert_int_equal(kept->count, expected->count);
    for (size_t i = 0; i < kept->count; i++) {
        const struct doppel_match *a = &kept->items[i].match, *b = &expected->items[i].match;
        assert_int_equal(kept->items[i].id, expected->items[i].id);
        assert_true(a->score == b->score && a->false_positive_rate == b->false_positive_rate);
        assert_true(a->query_coverage == b->query_coverage && a->similarity == b->similarity);
        assert_true(a->item_coverage == b->item_coverage && a->relation == b->relation);
        assert_int_equal(a->verified, b->verified);
        assert_int_equal(a->segment_count, b->segment_count);
        assert_memory_equal(kept->first[i], expected->first[i], sizeof kept->first[i]);
    }
}

static size_t compare_finds(struct shelf *shelf, struct doppel_library *library, size_t way)
{
    static struct finds kept, expected;
    static const size_t misses[] = {0, 1, 4, 200};
    struct doppel_record query = record_of_text(shelf, way);
    struct oracle oracle = {
        .library = library, .version = query.version, .followers = draw_number(shelf) % 2};
    struct doppel_error error = {0};
    struct known known;
    know_text(&query, &known);
    struct doppel_passage_request request = doppel_passage_request_default(&known.text);
    request.source = give_text;
    request.source_context = &oracle;
    request.max_misses = misses[draw_number(shelf) % 4];
    if (shelf->frugal)
        request.max_postings = draw_number(shelf) % 400;
    assert_int_equal(doppel_passages_new(&oracle.set, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, add_to_oracle, &oracle, NULL), DOPPEL_OK);
    kept.count = expected.count = 0;
    assert_int_equal(doppel_passages_find(oracle.set, &request, take_find, &expected, NULL),
                     DOPPEL_OK);
    const struct doppel_passage_lookup lookup = {&request, query.version, oracle.followers};
    if (doppel_library_find_passages(library, &lookup, take_find, &kept, &error))
        fail_msg("%s", error.message);
    assert_same_finds(&kept, &expected);
    doppel_passages_free(oracle.set);
    forget_text(&oracle.last);
    forget_text(&known);
    doppel_record_free(&query);
    return kept.count;
}

/* As this process sees it, and sometimes as another that reads. */
static size_t compare_shelf(struct shelf *shelf)
{
    const struct doppel_library_options reading = {.read_only = true};
    struct doppel_library *reader;
    size_t found =
        compare_finds(shelf, shelf->library, 0) + compare_finds(shelf, shelf->library, 1);
    if (draw_number(shelf) % 3)
        return found;
    commit(shelf->library);
    assert_int_equal(doppel_library_open(directory_of(shelf->folder), &reading, &reader, NULL),
                     DOPPEL_OK);
    found += compare_finds(shelf, reader, 0);
    doppel_library_close(reader);
    return found;
}

static bool fail_for_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void open_shelf(struct shelf *shelf, const char *folder)
{
    *shelf = (struct shelf){.folder = folder, .random = 5};
    for (size_t i = 0; i < READERS; i++) {
        shelf->options[i] = doppel_text_options_default();
        shelf->options[i].drop_punctuation ^= i;
        assert_int_equal(doppel_text_new(&shelf->options[i], &shelf->readers[i], NULL), DOPPEL_OK);
    }
    for (size_t i = 0; i < POOL; i++)
        make_sentence(shelf, shelf->pool[i]);
    shelf->library = open_library(folder);
}

static void close_shelf(struct shelf *shelf)
{
    doppel_library_close(shelf->library);
    for (size_t i = 0; i < READERS; i++)
        doppel_text_free(shelf->readers[i]);
}

static void what_is_found_is_what_a_set_in_memory_finds(void **state)
{
    static struct shelf shelf;
    size_t found = 0;
    open_shelf(&shelf, *state);
    for (int step = 0; step < STEPS; step++) {
        change_shelf(&shelf);
        if (step % CHECK_EVERY == 0)
            found += compare_shelf(&shelf);
        if (step % (10 * CHECK_EVERY) == 0) {
            commit(shelf.library);
            assert_int_equal(
                doppel_library_verify(shelf.library, false, fail_for_problem, NULL, NULL),
                DOPPEL_OK);
        }
    }
    assert_true(found > STEPS);
    close_shelf(&shelf);
}

static void fill_shelf(struct shelf *shelf)
{
    for (uint64_t i = 0; i < 200; i++)
        put_text_item(shelf, i);
    compare_finds(shelf, shelf->library, 0);
    close_and_open(shelf);
}

static void rare_keys_are_looked_at_first(void **state)
{
    static struct shelf shelf;
    size_t found = 0;
    open_shelf(&shelf, *state);
    fill_shelf(&shelf);
    shelf.frugal = true;
    for (uint64_t i = 0; i < 300; i++) {
        if (i % 4 == 0)
            put_text_item(&shelf, 200 + i);
        found += compare_finds(&shelf, shelf.library, i % 2);
    }
    assert_true(found > 300);
    close_shelf(&shelf);
}

/* ---- what is wrong ---- */

static bool count_problem(void *context, const struct doppel_problem *problem)
{
    *(int *)context += strstr(problem->detail, "the index 'winnow32'") != NULL;
    return true;
}

static void verify_and_repair(struct shelf *shelf)
{
    int problems = 0;
    assert_int_equal(doppel_library_verify(shelf->library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_true(problems > 0);
    problems = 0;
    assert_int_equal(doppel_library_verify(shelf->library, true, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_verify(shelf->library, false, fail_for_problem, NULL, NULL),
                     DOPPEL_OK);
    compare_finds(shelf, shelf->library, 0);
}

static void a_miscount_and_a_text_too_few_are_found(void **state)
{
    static const char *const lies[] = {
        "UPDATE revision SET number = number + 1 WHERE part = 1048579",
        "UPDATE revision SET number = number - 1 WHERE part = 1048578",
        "INSERT INTO revision VALUES (1048676, 3)",
        "DELETE FROM item WHERE id IN (SELECT id FROM item WHERE id NOT IN"
        " (SELECT leader FROM link) ORDER BY id DESC LIMIT 1)",
    };
    static struct shelf shelf;
    char path[600];
    open_shelf(&shelf, *state);
    fill_shelf(&shelf);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        doppel_library_close(shelf.library);
        snprintf(path, sizeof path, "%s/catalogue.db", directory_of(shelf.folder));
        run_raw(path, lies[i]);
        shelf.library = open_library(shelf.folder);
        verify_and_repair(&shelf);
    }
    close_shelf(&shelf);
}

/* A damaged text that goes: what the totals have of it nobody knows. */
static void a_damaged_text_is_taken_out(void **state)
{
    static struct shelf shelf;
    char path[600];
    open_shelf(&shelf, *state);
    fill_shelf(&shelf);
    const uint64_t id = any_item(&shelf);
    doppel_library_close(shelf.library);
    snprintf(path, sizeof path, "%s/catalogue.db", directory_of(shelf.folder));
    char *sql = NULL;
    assert_true(asprintf(&sql, "UPDATE fingerprint SET checksum = 1 WHERE item = %llu",
                         (unsigned long long)id) > 0);
    run_raw(path, sql);
    free(sql);
    shelf.library = open_library(shelf.folder);
    assert_int_equal(doppel_library_remove(shelf.library, id, NULL), DOPPEL_OK);
    commit(shelf.library);
    assert_int_equal(doppel_library_verify(shelf.library, false, fail_for_problem, NULL, NULL),
                     DOPPEL_OK);
    compare_finds(&shelf, shelf.library, 0);
    close_shelf(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_found_is_what_a_set_in_memory_finds),
        IN_FOLDER(rare_keys_are_looked_at_first),
        IN_FOLDER(a_miscount_and_a_text_too_few_are_found),
        IN_FOLDER(a_damaged_text_is_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
