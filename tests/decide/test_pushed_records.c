/* Records of files that are nowhere, pushed: each kind is decided about as its files are, by what
 * was read of them. */
#include "tests/decide/sentences.h"
#include "tests/library/tracks.h"

#include <stdio.h>
#include <unistd.h>

#include <doppel/decide.h>
#include <doppel/intake.h>

enum {
    SIDE = 128,
    CELL = SIDE / 8,
    PIXELS_AT = 54,
    IMAGE_BYTES = PIXELS_AT + 3 * SIDE * SIDE,
    SECONDS = 20
};

/* What is pushed: something, what is near it, and something else. */
enum content { FIRST, NEAR, OTHER, CONTENTS };

static struct doppel_run *run;
static struct doppel_library *library;
static struct doppel_decider *decider;
static struct doppel_record records[CONTENTS];

/* ---- records ---- */

static void put_number(uint8_t *to, uint32_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
}

/* One of 9 by 9 levels of an image. */
static uint32_t level(enum content content, uint32_t x, uint32_t y)
{
    uint32_t mixed = ((content == OTHER ? 977 : 7) + y * 9 + x) * UINT32_C(2654435761);
    return (mixed ^ mixed >> 13) * UINT32_C(2246822519) >> 24;
}

/* Between the levels around it. */
static uint8_t shade(enum content content, uint32_t x, uint32_t y)
{
    uint32_t column = x / CELL, row = y / CELL, right = x % CELL, down = y % CELL;
    uint32_t upper =
        level(content, column, row) * (CELL - right) + level(content, column + 1, row) * right;
    uint32_t lower = level(content, column, row + 1) * (CELL - right) +
                     level(content, column + 1, row + 1) * right;
    return (uint8_t)((upper * (CELL - down) + lower * down) / (CELL * CELL));
}

/* A BMP; of what is near, one corner is another. */
static void draw_image(enum content content, uint8_t out[IMAGE_BYTES])
{
    memset(out, 0, IMAGE_BYTES);
    memcpy(out, "BM", 2);
    put_number(out + 2, IMAGE_BYTES, 4);
    put_number(out + 10, PIXELS_AT, 4);
    put_number(out + 14, 40, 4);
    put_number(out + 18, SIDE, 4);
    put_number(out + 22, SIDE, 4);
    put_number(out + 26, 1, 2);
    put_number(out + 28, 24, 2);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        bool is_corner = i % SIDE < 4 && i / SIDE < 4;
        uint8_t grey = shade(content, i % SIDE, i / SIDE);
        memset(out + PIXELS_AT + (size_t)3 * i, content == NEAR && is_corner ? grey ^ 64 : grey, 3);
    }
}

static struct doppel_record read_bytes(const void *bytes, size_t size)
{
    const struct doppel_input input = {.bytes = bytes, .size = size};
    struct doppel_record record;
    struct doppel_error error = {0};
    if (doppel_fingerprint(run, &input, NULL, &record, &error))
        fail_msg("%s", error.message);
    return record;
}

static struct doppel_record make_image(enum content content)
{
    static uint8_t bytes[IMAGE_BYTES];
    draw_image(content, bytes);
    return read_bytes(bytes, sizeof bytes);
}

static struct doppel_record make_text(enum content content)
{
    static const char *const texts[CONTENTS] = {FOX "1", FOX "2", KETTLE};
    return read_bytes(texts[content], strlen(texts[content]));
}

static struct doppel_record make_track(struct doppel_record (*make)(uint64_t, uint32_t),
                                       enum content content)
{
    struct doppel_record record = make(content == OTHER ? 2 : 1, SECONDS);
    record.digest.bytes[0] ^= content == NEAR;
    return record;
}

static struct doppel_record make_audio(enum content content)
{
    return make_track(audio_record, content);
}

static struct doppel_record make_video(enum content content)
{
    return make_track(video_record, content);
}

static struct doppel_record (*const makers[])(enum content) = {make_image, make_text, make_audio,
                                                               make_video};
enum { MAKERS = sizeof makers / sizeof *makers };

/* ---- a library for each test and kind ---- */

static void begin_kind(const char *folder, struct doppel_record (*make)(enum content))
{
    const struct doppel_library_options made = {.create = true};
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_open(folder_path(folder, "library"), &made, &library, NULL),
                     DOPPEL_OK);
    for (enum content i = FIRST; i < CONTENTS; i++)
        records[i] = make(i);
}

static void end_kind(const char *folder)
{
    char command[256];
    doppel_decider_free(decider);
    decider = NULL;
    doppel_library_close(library);
    doppel_run_free(run);
    for (enum content i = FIRST; i < CONTENTS; i++)
        doppel_record_free(&records[i]);
    snprintf(command, sizeof command, "rm -r '%s'", folder_path(folder, "library"));
    assert_int_equal(system(command), 0);
}

static void open_decider(const struct doppel_decide_options *options)
{
    struct doppel_error error = {0};
    doppel_decider_free(decider);
    decider = NULL;
    if (doppel_decider_new(run, library, options, &decider, &error))
        fail_msg("%s", error.message);
}

struct step {
    enum content content;
    const char *id;
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t of, item;
};

static void push_step(const struct step *step)
{
    struct doppel_error error = {0};
    const struct doppel_decide_input input = {.id = step->id, .record = &records[step->content]};
    if (doppel_decider_push(decider, &input, &error))
        fail_msg("%s", error.message);
}

static struct doppel_decided pull(void)
{
    struct doppel_decided decided;
    struct doppel_error error = {0};
    if (doppel_decider_pull(decider, &decided, &error))
        fail_msg("%s", error.message);
    return decided;
}

static struct doppel_decided pull_step(const struct step *step)
{
    struct doppel_decided decided = pull();
    if (decided.decision != step->decision || decided.reason != step->reason ||
        decided.of != step->of || decided.item != step->item)
        fail_msg("%s of %s: got %s, %s of %llu, item %llu", step->id ? step->id : "-",
                 doppel_kind_name(records[FIRST].kind), doppel_decision_name(decided.decision),
                 decided.why ? decided.why : "-", (unsigned long long)decided.of,
                 (unsigned long long)decided.item);
    assert_null(decided.path);
    return decided;
}

static void take_step(const struct step *step)
{
    push_step(step);
    (void)pull_step(step);
}

/* ---- every kind ---- */

static const struct step steps[] = {
    {FIRST, "a", DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0, 1},
    {FIRST, "a", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 1}, /* again */
    {FIRST, "b", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 2},
    {FIRST, NULL, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 3},
    {FIRST, NULL, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 3},
    {NEAR, "c", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 1, 4},
    {OTHER, "d", DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0, 5},
    {FIRST, "b", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 2},
};
enum { STEPS = sizeof steps / sizeof *steps };

static bool count_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *problem)
{
    *(int *)context += entry->decided && !problem->status;
    return true;
}

/* Whom the items follow, what they are called, and that each came in once. */
static void assert_is_kept(void)
{
    static const uint64_t leaders[] = {1, 1, 1, 1, 5};
    static const char *const names[] = {"a", "b", NULL, "c", "d"};
    for (uint64_t id = 1; id <= 5; id++) {
        const struct doppel_log_query query = {.item = id, .limit = 16};
        struct doppel_metadata about;
        struct doppel_item item;
        uint64_t leader;
        int decisions = 0;
        assert_int_equal(doppel_library_leader(library, id, &leader, NULL), DOPPEL_OK);
        assert_int_equal(leader, leaders[id - 1]);
        assert_int_equal(doppel_library_get(library, id, false, &item, NULL), DOPPEL_OK);
        assert_false(doppel_item_has_file(&item));
        doppel_item_free(&item);
        assert_int_equal(doppel_library_get_metadata(library, id, &about, NULL), DOPPEL_OK);
        assert_int_equal(!about.external_id, !names[id - 1]);
        if (about.external_id)
            assert_string_equal(about.external_id, names[id - 1]);
        doppel_metadata_free(&about);
        assert_int_equal(doppel_library_each_log(library, &query, count_entry, &decisions, NULL),
                         DOPPEL_OK);
        assert_int_equal(decisions, id == 1 ? 4 : 1); /* three are of it */
    }
}

static void one_by_one(void **state)
{
    for (size_t i = 0; i < MAKERS; i++) {
        begin_kind(*state, makers[i]);
        open_decider(NULL);
        for (size_t j = 0; j < STEPS; j++)
            take_step(&steps[j]);
        assert_is_kept();
        end_kind(*state);
    }
}

static void in_one_batch(void **state)
{
    for (size_t i = 0; i < MAKERS; i++) {
        begin_kind(*state, makers[i]);
        open_decider(NULL);
        for (size_t j = 0; j < STEPS; j++)
            push_step(&steps[j]);
        for (size_t j = 0; j < STEPS; j++)
            (void)pull_step(&steps[j]);
        assert_is_kept();
        end_kind(*state);
    }
}

static void a_dry_run_remembers_nothing(void **state)
{
    static const struct step before = {FIRST, "a", DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0, 0};
    static const struct step again = {
        FIRST, "x", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 0};
    struct doppel_decide_options options = doppel_decide_options_default();
    options.dry_run = true;
    for (size_t i = 0; i < MAKERS; i++) {
        begin_kind(*state, makers[i]);
        open_decider(&options);
        take_step(&before);
        take_step(&before);
        open_decider(NULL);
        take_step(&steps[0]);
        open_decider(&options);
        take_step(&again);
        end_kind(*state);
    }
}

/* ---- ids ---- */

static void ids_that_came_before(void **state)
{
    static const struct step again = {
        FIRST, "a", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, 1, 1};
    static const struct step others[] = {
        [DOPPEL_SAME_ID_UPDATE] = {OTHER, "a", DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_SAME_ID, 0,
                                   3},
        [DOPPEL_SAME_ID_SKIP] = {OTHER, "a", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_ID, 1,
                                 0},
        [DOPPEL_SAME_ID_ERROR] = {OTHER, "a", DOPPEL_DECISION_CONFLICT, DOPPEL_BECAUSE_SAME_ID, 1,
                                  0},
    };
    static const struct step follows = {NEAR, "c", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR,
                                        1,    2};
    for (size_t i = 0; i < MAKERS; i++)
        for (int same = DOPPEL_SAME_ID_UPDATE; same <= DOPPEL_SAME_ID_ERROR; same++) {
            struct doppel_decide_options options = doppel_decide_options_default();
            uint64_t leader;
            options.on_same_id = (enum doppel_same_id)same;
            begin_kind(*state, makers[i]);
            open_decider(&options);
            take_step(&steps[0]);
            take_step(&follows);
            take_step(&again);
            push_step(&others[same]);
            struct doppel_decided decided = pull_step(&others[same]);
            assert_int_equal(decided.replaces, same == DOPPEL_SAME_ID_UPDATE ? 1 : 0);
            assert_int_equal(decided.same_id, same == DOPPEL_SAME_ID_UPDATE ? 0 : 1);
            assert_int_equal(doppel_library_leader(library, 2, &leader, NULL), DOPPEL_OK);
            assert_int_equal(leader, same == DOPPEL_SAME_ID_UPDATE ? 2 : 1);
            end_kind(*state);
        }
}

/* On the lists that all inputs come on it is the same item, too. */
static void with_a_list_for_all(void **state)
{
    char *lists[] = {"bad"};
    const struct doppel_metadata all = {.lists = lists, .list_count = 1};
    struct doppel_decide_options options = doppel_decide_options_default();
    options.metadata = &all;
    begin_kind(*state, make_image);
    open_decider(&options);
    take_step(&steps[0]);
    take_step(&steps[1]);
    end_kind(*state);
}

/* An id may be the path of a file: that one is another thing, and nobody reads it. */
static void an_id_is_no_path(void **state)
{
    static uint8_t bytes[IMAGE_BYTES];
    char path[256];
    struct doppel_decide_options options = doppel_decide_options_default(), by_pdq = options;
    struct doppel_record code = {.fingerprint.code_bits = 256};
    const struct doppel_scheme *pdq = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
    begin_kind(*state, make_image);
    by_pdq.search.compare.schemes[DOPPEL_KIND_IMAGE] = *pdq;
    open_decider(&by_pdq);
    assert_int_equal(doppel_fingerprint_make(pdq, 256, 1, &code.fingerprint, NULL), DOPPEL_OK);
    memset(code.fingerprint.codes, 0x5a, sizeof *code.fingerprint.codes);
    const struct doppel_decide_input other = {.id = "code", .record = &code};
    assert_int_equal(doppel_decider_push(decider, &other, NULL), DOPPEL_OK);
    assert_int_equal(pull().decision, DOPPEL_DECISION_NEW);
    doppel_fingerprint_free(&code.fingerprint);

    snprintf(path, sizeof path, "%s/image.bmp", (const char *)*state);
    draw_image(FIRST, bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, sizeof bytes, 1, file), 1);
    fclose(file);
    options.search.other_schemes = true;
    open_decider(&options);
    const struct doppel_decide_input input = {.id = path, .record = &records[FIRST]};
    assert_int_equal(doppel_decider_push(decider, &input, NULL), DOPPEL_OK);
    struct doppel_decided decided = pull();
    assert_int_equal(decided.decision, DOPPEL_DECISION_UNREADABLE);
    assert_int_equal(decided.not_compared[DOPPEL_SCHEME_PDQ], 1);
    end_kind(*state);
}

/* ---- what is refused, and how much waits ---- */

static void assert_refused(struct doppel_record record)
{
    const struct doppel_decide_input input = {.id = "x", .record = &record};
    struct doppel_error error = {0};
    assert_int_equal(doppel_decider_push(decider, &input, &error), DOPPEL_E_ARGUMENT);
    assert_true(error.message[0]);
}

static void what_is_not_whole_is_refused(void **state)
{
    for (size_t i = 0; i < MAKERS; i++) {
        begin_kind(*state, makers[i]);
        open_decider(NULL);
        const struct doppel_record whole = records[FIRST];
        struct doppel_record wrong = whole;
        wrong.error.status = DOPPEL_E_CORRUPT;
        assert_refused(wrong);
        wrong = whole;
        wrong.version++;
        wrong.fingerprint.version++;
        assert_refused(wrong);
        wrong = whole;
        wrong.scheme = DOPPEL_SCHEME_NONE;
        assert_refused(wrong);
        wrong = whole;
        wrong.quality = 101;
        assert_refused(wrong);
        wrong = whole;
        wrong.attachment_size = whole.attachment_size / 2;
        assert_refused(wrong);
        wrong = whole;
        wrong.fingerprint.count = !whole.fingerprint.count;
        assert_refused(wrong);
        take_step(&steps[0]); /* it goes on */
        end_kind(*state);
    }
}

static void as_many_as_may_wait(void **state)
{
    enum { HALF = DOPPEL_DECIDER_MOST / 2 };
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .quality = 100};
    begin_kind(*state, make_image);
    open_decider(NULL);
    assert_int_equal(doppel_fingerprint_make(scheme, 64, 1, &record.fingerprint, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < DOPPEL_DECIDER_MOST; i++) {
        const uint64_t content = i % HALF;
        const struct doppel_decide_input input = {.record = &record};
        record.digest = doppel_digest_bytes(&content, sizeof content);
        memcpy(record.fingerprint.codes, record.digest.bytes, 8);
        assert_int_equal(doppel_decider_push(decider, &input, NULL), DOPPEL_OK);
    }
    const struct doppel_decide_input one_more = {.record = &record};
    assert_int_equal(doppel_decider_push(decider, &one_more, NULL), DOPPEL_E_BUSY);
    for (uint64_t i = 0; i < DOPPEL_DECIDER_MOST; i++) {
        struct doppel_decided decided = pull();
        assert_int_equal(decided.reason, i < HALF ? DOPPEL_BECAUSE_NONE : DOPPEL_BECAUSE_IDENTICAL);
        assert_int_equal(decided.item, i % HALF + 1);
    }
    doppel_fingerprint_free(&record.fingerprint);
    end_kind(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_by_one),
        IN_FOLDER(in_one_batch),
        IN_FOLDER(a_dry_run_remembers_nothing),
        IN_FOLDER(ids_that_came_before),
        IN_FOLDER(with_a_list_for_all),
        IN_FOLDER(an_id_is_no_path),
        IN_FOLDER(what_is_not_whole_is_refused),
        IN_FOLDER(as_many_as_may_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
