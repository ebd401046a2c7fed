/* A library queried by calls: codes against a scan of all of them, tracks that are known to share
 * something, what comes later, and what is passed over. */
#include "tests/library/tracks.h"

#include <stdio.h>

#include <doppel/search.h>
#include <sqlite3.h>

#include "tests/match/images.h"

enum { SECONDS = 20 };

static struct doppel_search *make_search(struct doppel_run *run, struct doppel_library *library,
                                         const struct doppel_search_options *options)
{
    struct doppel_search *search = NULL;
    struct doppel_error error = {0};
    if (doppel_search_new(run, library, options, &search, &error) ||
        doppel_search_refresh(search, &error))
        fail_msg("%s", error.message);
    return search;
}

static struct doppel_run *make_run(const struct doppel_run_options *options)
{
    struct doppel_run *run = NULL;
    assert_int_equal(doppel_run_new(options, &run, NULL), DOPPEL_OK);
    return run;
}

static void query(struct doppel_search *search, const struct doppel_record *record,
                  struct doppel_search_results *results)
{
    struct doppel_error error = {0};
    if (doppel_search_record(search, record, "the query", results, &error))
        fail_msg("%s", error.message);
}

/* ---- codes, against a scan ---- */

enum { CODES = 400, BITS = 256, QUERIES = 100 };

static const struct doppel_scheme *pdq(void)
{
    return doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
}

/* By PDQ's distance alone. */
static struct doppel_search_options pdq_options(int32_t max_distance)
{
    struct doppel_search_options options = doppel_search_options_default();
    options.compare.schemes[DOPPEL_KIND_IMAGE] = *pdq();
    options.compare.orientations = false;
    options.compare.max_distance = max_distance;
    return options;
}

static struct doppel_record pdq_record(const struct doppel_code *code, uint64_t number)
{
    struct doppel_record record = {.digest = doppel_digest_bytes(&number, sizeof number),
                                   .kind = DOPPEL_KIND_IMAGE,
                                   .scheme = DOPPEL_SCHEME_PDQ,
                                   .version = pdq()->version,
                                   .quality = 100};
    assert_int_equal(doppel_fingerprint_make(pdq(), BITS, 1, &record.fingerprint, NULL), DOPPEL_OK);
    record.fingerprint.codes[0] = *code;
    return record;
}

static uint64_t add_code(struct doppel_library *library, const struct doppel_code *code,
                         uint64_t number)
{
    char path[32];
    struct doppel_record record = pdq_record(code, number);
    snprintf(path, sizeof path, "/files/%llu", (unsigned long long)number);
    uint64_t id = add_record(library, path, number, &record, DOPPEL_ADDED_NEW);
    doppel_record_free(&record);
    return id;
}

static uint32_t count_different_bits(const struct doppel_code *a, const struct doppel_code *b)
{
    uint32_t count = 0;
    for (unsigned bit = 0; bit < BITS; bit++)
        count += (a->word[bit / 64] >> bit % 64 & 1) != (b->word[bit / 64] >> bit % 64 & 1);
    return count;
}

static struct doppel_code code_near(const struct doppel_code *code, unsigned flips, uint64_t *seed)
{
    struct doppel_code out = *code;
    for (; flips; flips--)
        out.word[random_word(seed) % 4] ^= UINT64_C(1) << random_word(seed) % 64;
    return out;
}

static void assert_as_scanned(const struct doppel_search_results *results,
                              const struct doppel_code *query_code, const struct doppel_code *codes,
                              const uint64_t *ids, uint32_t most)
{
    size_t expected = 0;
    for (size_t i = 0; i < CODES; i++) {
        uint32_t distance = count_different_bits(query_code, &codes[i]);
        const struct doppel_search_result *result = doppel_search_results_find(results, ids[i]);
        assert_int_equal(result != NULL, distance <= most);
        expected += distance <= most;
        if (result)
            assert_int_equal(result->comparison.match.distance, distance);
    }
    assert_int_equal(results->count, expected);
    for (size_t i = 1; i < results->count; i++) {
        const struct doppel_search_result *a = &results->items[i - 1], *b = a + 1;
        uint32_t before = a->comparison.match.distance, here = b->comparison.match.distance;
        assert_true(before < here || (before == here && a->id < b->id));
    }
}

static void codes_are_found_as_by_a_scan(void **state)
{
    static struct doppel_code codes[CODES];
    static uint64_t ids[CODES];
    uint64_t seed = 1;
    size_t found = 0;
    const struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    for (size_t i = 0; i < CODES; i++) {
        for (unsigned word = 0; word < 4; word++)
            codes[i].word[word] = random_word(&seed);
        if (i % 4)
            codes[i] = code_near(&codes[i - i % 4], (unsigned)(random_word(&seed) % 80), &seed);
        ids[i] = add_code(library, &codes[i], i);
    }
    commit(library);
    struct doppel_search *search = make_search(run, library, &options);
    for (uint64_t i = 0; i < QUERIES; i++) {
        struct doppel_code code =
            code_near(&codes[random_word(&seed) % CODES], (unsigned)(i % 60), &seed);
        struct doppel_record record = pdq_record(&code, CODES + i);
        query(search, &record, &results);
        assert_as_scanned(&results, &code, codes, ids, 40);
        assert_int_equal(doppel_search_code(search, &record.fingerprint, &results, NULL),
                         DOPPEL_OK);
        assert_as_scanned(&results, &code, codes, ids, 40);
        found += results.count;
        doppel_record_free(&record);
    }
    assert_true(found > QUERIES);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

/* ---- what is the same, and what comes later ---- */

static void the_same_bytes_come_first(void **state)
{
    const struct doppel_code code = {0}, near = {{7}};
    const struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    uint64_t by_code = add_code(library, &near, 1);
    uint64_t same = add_code(library, &near, 2);
    struct doppel_search *search = make_search(run, library, &options);
    struct doppel_record record = pdq_record(&code, 2);
    query(search, &record, &results);
    assert_int_equal(results.count, 2);
    assert_int_equal(results.items[0].id, same);
    assert_int_equal(results.items[0].comparison.match.verified, DOPPEL_VERIFIED_EXACT);
    assert_int_equal(results.items[1].id, by_code);
    assert_int_equal(results.items[1].comparison.match.distance, 3);

    uint64_t later = add_code(library, &code, 3);
    assert_int_equal(doppel_search_refresh(search, NULL), DOPPEL_OK);
    query(search, &record, &results);
    assert_non_null(doppel_search_results_find(&results, later));

    struct doppel_search_result listed = {.id = 1000, .comparison.match.similarity = .999};
    assert_int_equal(doppel_search_results_add(&results, &listed, NULL), DOPPEL_OK);
    assert_int_equal(results.count, 4);
    assert_int_equal(results.items[2].id, 1000); /* after two that are the same */
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

static void representatives_stand_for_their_groups(void **state)
{
    const struct doppel_code code = {0}, near = {{7}};
    struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    uint64_t first = add_code(library, &code, 1), follower = add_code(library, &near, 2);
    assert_int_equal(doppel_library_link(library, follower, first, NULL), DOPPEL_OK);
    options.representatives = true;
    struct doppel_search *search = make_search(run, library, &options);
    struct doppel_record record = pdq_record(&near, 2);
    query(search, &record, &results);
    assert_int_equal(results.count, 1);
    assert_int_equal(results.items[0].id, first);
    assert_int_equal(results.items[0].comparison.match.distance, 3);
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

static void add_to_list(struct doppel_library *library, uint64_t id, char *name,
                        enum doppel_list_state state)
{
    const struct doppel_metadata metadata = {.lists = &name, .list_count = 1};
    assert_int_equal(doppel_library_set_metadata(library, id, &metadata, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(library, name, state, NULL), DOPPEL_OK);
}

static void lists_explain_and_disable(void **state)
{
    const struct doppel_code code = {0}, near = {{7}}, nearer = {{1}};
    char stock[] = "stock", old[] = "old";
    const struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    uint64_t active = add_code(library, &near, 1), benign = add_code(library, &nearer, 2),
             disabled = add_code(library, &nearer, 3);
    struct doppel_search *search = make_search(run, library, &options);
    struct doppel_record record = pdq_record(&code, 4);
    query(search, &record, &results);
    assert_int_equal(doppel_search_results_apply_lists(&results, library, NULL), DOPPEL_OK);
    assert_int_equal(results.count, 3);
    for (size_t i = 0; i < results.count; i++)
        assert_true(results.items[i].state == DOPPEL_LIST_ACTIVE &&
                    !results.items[i].suppressed_by);

    add_to_list(library, benign, stock, DOPPEL_LIST_BENIGN);
    add_to_list(library, disabled, old, DOPPEL_LIST_DISABLED);
    assert_int_equal(doppel_search_results_apply_lists(&results, library, NULL), DOPPEL_OK);
    const struct doppel_search_result *explained = doppel_search_results_find(&results, active);
    assert_int_equal(explained->suppressed_by, benign);
    assert_int_equal(doppel_search_results_find(&results, benign)->state, DOPPEL_LIST_BENIGN);
    assert_int_equal(doppel_search_results_find(&results, benign)->suppressed_by, 0);
    assert_int_equal(doppel_search_results_find(&results, disabled)->state, DOPPEL_LIST_DISABLED);
    assert_int_equal(doppel_search_results_find(&results, disabled)->suppressed_by, 0);
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

static void a_result_as_json(void **state)
{
    const struct doppel_code code = {0}, near = {{7}};
    const struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    struct doppel_json json = {0};
    add_to_list(library, add_code(library, &near, 1), "stock", DOPPEL_LIST_BENIGN);
    struct doppel_search *search = make_search(run, library, &options);
    struct doppel_record record = pdq_record(&code, 2);
    query(search, &record, &results);
    doppel_json_object_begin(&json, NULL);
    results.items[0].suppressed_by = 9;
    assert_int_equal(doppel_search_result_to_json(&json, library, NULL, results.items, NULL),
                     DOPPEL_OK);
    results.items[0].id = 99;
    assert_int_equal(doppel_search_result_to_json(&json, library, NULL, results.items, NULL),
                     DOPPEL_E_NOT_FOUND);
    doppel_json_object_end(&json);
    assert_string_equal(json.bytes,
                        "{\"id\":1,\"path\":\"/files/1\",\"lists\":[\"stock\"],"
                        "\"list_state\":\"benign\",\"suppressed_by\":9,\"kind\":\"image\","
                        "\"scheme\":\"pdq\",\"relation\":\"same\",\"distance\":3,\"bits\":256,"
                        "\"similarity\":0.9766,\"verified\":\"codes\"}");
    doppel_json_free(&json);
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

/* ---- tracks ---- */

/* As another file of the same content. */
static struct doppel_record other_bytes(struct doppel_record record)
{
    record.digest.bytes[0] ^= 1;
    return record;
}

struct refined {
    const struct doppel_record *query;
    uint64_t item;
    unsigned calls;
};

static enum doppel_status note_refined(void *context, const struct doppel_record *record,
                                       const struct doppel_item *item, struct doppel_match *match,
                                       struct doppel_error *error)
{
    struct refined *refined = context;
    (void)error;
    assert_true(match->segment_count > 0);
    refined->query = record;
    refined->item = item->id;
    refined->calls++;
    return DOPPEL_OK;
}

static void tracks_are_found_by_what_they_share(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_options options = doppel_search_options_default();
    struct refined refined = {0};
    struct doppel_search_results results = {0};
    options.refine = note_refined;
    options.context = &refined;
    uint64_t audio = add_track(library, &recordings, "/files/a", 7, SECONDS, DOPPEL_ADDED_NEW);
    uint64_t video = add_track(library, &clips, "/files/b", 7, SECONDS, DOPPEL_ADDED_NEW);
    uint64_t other = add_track(library, &clips, "/files/c", 8, SECONDS, DOPPEL_ADDED_NEW);
    commit(library);
    struct doppel_search *search = make_search(run, library, &options);

    struct doppel_record heard = other_bytes(audio_record(7, SECONDS));
    query(search, &heard, &results);
    assert_int_equal(results.count, 2);
    assert_non_null(doppel_search_results_find(&results, audio));
    assert_int_equal(doppel_search_results_find(&results, video)->comparison.evidence,
                     DOPPEL_EVIDENCE_AUDIO);
    assert_int_equal(refined.calls, 0);

    struct doppel_record seen = other_bytes(video_record(7, SECONDS));
    query(search, &seen, &results);
    assert_int_equal(results.count, 2);
    assert_null(doppel_search_results_find(&results, other));
    const struct doppel_comparison *shared =
        &doppel_search_results_find(&results, video)->comparison;
    assert_int_equal(shared->evidence, DOPPEL_EVIDENCE_IMAGE | DOPPEL_EVIDENCE_AUDIO);
    assert_true(shared->match.segments == shared->by_image.segments);
    assert_true(refined.calls == 1 && refined.item == video && refined.query == &seen);

    struct doppel_video_track clip = video_make(8, SECONDS);
    struct doppel_record image = record_make(5);
    image.quality = 100;
    image.fingerprint.codes[0] = clip.frames[300].code;
    query(search, &image, &results);
    assert_int_equal(results.count, 1);
    assert_int_equal(results.items[0].id, other);
    doppel_video_track_free(&clip);
    doppel_record_free(&image);
    doppel_record_free(&heard);
    doppel_record_free(&seen);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

/* What a frame is read as, and how often it was. */
struct frame_read {
    const struct doppel_record *shown; /* NULL: it cannot be had */
    uint64_t item;
    double seconds;
    unsigned calls;
};

static enum doppel_status read_frame(void *context, const struct doppel_item *item, double seconds,
                                     struct doppel_record *out, struct doppel_error *error)
{
    struct frame_read *frame = context;
    frame->item = item->id;
    frame->seconds = seconds;
    frame->calls++;
    *out = (struct doppel_record){0};
    if (!frame->shown)
        return DOPPEL_OK;
    *out = *frame->shown;
    out->fingerprint.codes = NULL;
    out->fingerprint.positions = NULL;
    out->attachment = NULL;
    out->attachment_size = 0;
    const size_t size = doppel_fingerprint_size(&frame->shown->fingerprint);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    doppel_fingerprint_write(&frame->shown->fingerprint, bytes);
    enum doppel_status status = doppel_fingerprint_read(bytes, size, &out->fingerprint, error);
    free(bytes);
    return status;
}

/* A crop is near to a frame by its code, and is it when the frame is read. */
static void frames_that_are_near_are_read(void **state)
{
    enum { FRAME = 300, FLIPS = 84 };
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_options options = doppel_search_options_default();
    struct doppel_video_track clip = video_make(8, SECONDS);
    struct doppel_record image = record_make(5), other = record_make(6);
    struct frame_read frame = {0};
    struct doppel_search_results results = {0};
    uint64_t seed = 3;
    add_track(library, &clips, "/files/b", 7, SECONDS, DOPPEL_ADDED_NEW);
    uint64_t video = add_track(library, &clips, "/files/c", 8, SECONDS, DOPPEL_ADDED_NEW);
    commit(library);
    image.quality = other.quality = 100;
    image.fingerprint.codes[0] = code_near(&clip.frames[FRAME].code, FLIPS, &seed);
    for (uint32_t i = 0; i < other.fingerprint.count; i++)
        for (int word = 0; word < 4; word++)
            other.fingerprint.codes[i].word[word] = random_word(&seed);
    options.compare.thorough = true;
    options.context = &frame;
    options.still = read_frame;
    struct doppel_search *search = make_search(run, library, &options);

    const struct doppel_record *const shown[] = {&image, &other, NULL};
    for (int i = 0; i < 3; i++) {
        frame = (struct frame_read){.shown = shown[i]};
        query(search, &image, &results);
        assert_int_equal(frame.calls, 1);
        assert_int_equal(frame.item, video);
        assert_true(frame.seconds * 1000 >= clip.frames[FRAME].start_ms &&
                    frame.seconds * 1000 <= clip.frames[FRAME].end_ms + 1);
        assert_int_equal(results.count, shown[i] == &image);
        if (results.count) { /* the frame is compared as an image: by 64 bits, and it is the same */
            const struct doppel_match *match = &results.items[0].comparison.by_image;
            assert_true(match->bits == 64 && match->distance == 0 && match->segment_count == 1);
            assert_true(match->score > 3 && match->false_positive_rate < 1e-3);
        }
    }
    doppel_search_free(search);
    options.still = NULL;
    search = make_search(run, library, &options);
    query(search, &image, &results);
    assert_int_equal(results.count, 0);
    doppel_video_track_free(&clip);
    doppel_record_free(&image);
    doppel_record_free(&other);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

/* ---- what is passed over ---- */

static void count_notice(void *context, enum doppel_notice level, const char *path,
                         const char *text)
{
    unsigned *notices = context;
    (void)level;
    (void)path;
    assert_non_null(strstr(text, "1 picture of another scheme was not compared"));
    ++*notices;
}

static void another_scheme_is_noticed_once(void **state)
{
    const struct doppel_code code = {0};
    unsigned notices = 0;
    const struct doppel_run_options run_options = {.on_notice = count_notice, .context = &notices};
    struct doppel_search_options options = doppel_search_options_default();
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(&run_options);
    struct doppel_search_results results = {0};
    struct doppel_record record = record_make(5);
    add_code(library, &code, 1);
    struct doppel_search *silent = make_search(run, library, &options);
    query(silent, &record, &results);
    assert_int_equal(notices, 0);
    options.other_schemes = true;
    struct doppel_search *search = make_search(run, library, &options);
    for (int i = 0; i < 3; i++)
        query(search, &record, &results);
    assert_int_equal(results.count, 0);
    assert_int_equal(notices, 1);
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(silent);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

static void what_is_damaged_or_unwanted_is_no_query(void **state)
{
    struct doppel_search_options options = doppel_search_options_default();
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    struct doppel_record record = audio_record(7, 1), image = record_make(5);
    options.compare.schemes[DOPPEL_KIND_IMAGE].id = DOPPEL_SCHEME_NONE;
    struct doppel_search *search = make_search(run, library, &options);
    assert_int_equal(doppel_search_record(search, &image, "the query", &results, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_record_free(&image);
    record.attachment_size /= 2;
    assert_int_equal(doppel_search_record(search, &record, "the query", &results, NULL),
                     DOPPEL_E_CORRUPT);
    doppel_record_free(&record);
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_search_free(NULL);
    doppel_run_free(run);
    doppel_library_close(library);
}

static void careless_queries(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    struct doppel_search *search = make_search(run, library, NULL); /* the defaults */
    for (int id = 0; id < 16; id++) {                               /* of no scheme, too */
        struct doppel_code codes[1] = {0};
        uint32_t positions[1] = {0};
        const struct doppel_scheme *scheme = doppel_scheme_by_id((enum doppel_scheme_id)id);
        struct doppel_fingerprint code = {.scheme = (enum doppel_scheme_id)id,
                                          .code_bits = 64,
                                          .count = 1,
                                          .codes = codes,
                                          .positions = positions};
        bool searched =
            scheme && (scheme->kind == DOPPEL_KIND_IMAGE || scheme->kind == DOPPEL_KIND_TEXT);
        bool same_scheme = id == DOPPEL_SCHEME_PHASH64 || id == DOPPEL_SCHEME_MINHASH128;
        if (!searched || !same_scheme)
            assert_int_equal(doppel_search_code(search, &code, &results, NULL),
                             searched ? DOPPEL_E_VERSION : DOPPEL_E_ARGUMENT);
        code = (struct doppel_fingerprint){.scheme = code.scheme, .code_bits = 64};
        assert_int_equal(doppel_search_code(search, &code, &results, NULL), DOPPEL_E_ARGUMENT);
    }
    doppel_search_results_free(&results);
    doppel_search_results_free(NULL);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

/* A query for which there was no memory says so, and the next one knows nothing of that. */
static void a_failure_is_told_once(void **state)
{
    const struct doppel_code code = {0};
    const struct doppel_search_options options = pdq_options(40);
    struct doppel_library *library = open_library(*state);
    struct doppel_run *run = make_run(NULL);
    struct doppel_search_results results = {0};
    add_code(library, &code, 1);
    struct doppel_search *search = make_search(run, library, &options);
    struct doppel_record record = pdq_record(&code, 2);
    sqlite3_hard_heap_limit64(sqlite3_memory_used());
    const enum doppel_status status =
        doppel_search_record(search, &record, "the query", &results, NULL);
    sqlite3_hard_heap_limit64(0);
    assert_int_equal(status, DOPPEL_E_MEMORY);
    query(search, &record, &results);
    assert_int_equal(results.count, 1);
    doppel_search_results_free(&results);
    doppel_record_free(&record);
    doppel_search_free(search);
    doppel_run_free(run);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(codes_are_found_as_by_a_scan),
        IN_FOLDER(the_same_bytes_come_first),
        IN_FOLDER(representatives_stand_for_their_groups),
        IN_FOLDER(lists_explain_and_disable),
        IN_FOLDER(a_result_as_json),
        IN_FOLDER(tracks_are_found_by_what_they_share),
        IN_FOLDER(frames_that_are_near_are_read),
        IN_FOLDER(another_scheme_is_noticed_once),
        IN_FOLDER(what_is_damaged_or_unwanted_is_no_query),
        IN_FOLDER(careless_queries),
        IN_FOLDER(a_failure_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
