/* A decider by its calls: what is pushed comes back decided about, in order, and is kept. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <doppel/decide.h>

#include "tests/decide/sentences.h"

struct fixture {
    char folder[64];
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_decider *decider;
};

static int begin(void **state)
{
    static struct fixture fixture;
    char path[128];
    snprintf(fixture.folder, sizeof fixture.folder, "/tmp/doppel-decider-XXXXXX");
    assert_non_null(mkdtemp(fixture.folder));
    snprintf(path, sizeof path, "%s/library", fixture.folder);
    const struct doppel_library_options library = {.create = true};
    assert_int_equal(doppel_run_new(NULL, &fixture.run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_open(path, &library, &fixture.library, NULL), DOPPEL_OK);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    doppel_decider_free(fixture->decider);
    fixture->decider = NULL;
    doppel_library_close(fixture->library);
    doppel_run_free(fixture->run);
    snprintf(command, sizeof command, "rm -r '%s'", fixture->folder);
    return system(command);
}

static void open_decider(struct fixture *fixture, const struct doppel_decide_options *options)
{
    struct doppel_error error = {0};
    doppel_decider_free(fixture->decider);
    fixture->decider = NULL;
    if (doppel_decider_new(fixture->run, fixture->library, options, &fixture->decider, &error))
        fail_msg("%s", error.message);
}

static void push_text(struct fixture *fixture, const char *id, const char *text)
{
    const struct doppel_decide_input input = {.id = id, .text = text, .text_size = strlen(text)};
    assert_int_equal(doppel_decider_push(fixture->decider, &input, NULL), DOPPEL_OK);
}

static void push_file(struct fixture *fixture, const char *name, const char *content)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    if (content) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(content, file);
        fclose(file);
    }
    assert_int_equal(
        doppel_decider_push(fixture->decider, &(struct doppel_decide_input){.path = path}, NULL),
        DOPPEL_OK);
}

/* @param of an id in the library; 0: none */
static void assert_next(struct fixture *fixture, enum doppel_decision decision,
                        enum doppel_decision_reason reason, uint64_t of)
{
    struct doppel_decided decided;
    struct doppel_error error = {0};
    if (doppel_decider_pull(fixture->decider, &decided, &error))
        fail_msg("%s", error.message);
    if (decided.decision != decision || decided.reason != reason || decided.of != of)
        fail_msg("got %s, %s of %llu", doppel_decision_name(decided.decision),
                 decided.why ? decided.why : "-", (unsigned long long)decided.of);
}

static void assert_nothing_waits(struct fixture *fixture)
{
    struct doppel_decided decided;
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_E_NOT_FOUND);
}

static void texts_and_files_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_decide_options options = doppel_decide_options_default();
    open_decider(fixture, &options);
    assert_nothing_waits(fixture);
    push_text(fixture, "a", FOX "1");
    push_file(fixture, "kettle.txt", KETTLE);
    push_text(fixture, "b", FOX "2");
    push_file(fixture, "fox.txt", FOX "1");
    push_text(fixture, NULL, KETTLE);
    push_text(fixture, NULL, "too short");
    push_file(fixture, "none.txt", NULL);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 1);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 1);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 2);
    assert_next(fixture, DOPPEL_DECISION_TOO_SHORT, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_UNREADABLE, DOPPEL_BECAUSE_NONE, 0);
    assert_nothing_waits(fixture);
    push_file(fixture, "fox.txt", NULL); /* again, alone */
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_KNOWN, 1);
    assert_nothing_waits(fixture);
}

static void a_dry_run_remembers_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_decide_options options = doppel_decide_options_default();
    options.dry_run = true;
    open_decider(fixture, &options);
    for (int i = 0; i < 2; i++) {
        push_text(fixture, "a", FOX);
        push_file(fixture, "kettle.txt", KETTLE);
        assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
        assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    }
}

static void what_was_given_is_kept(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_decide_options options = doppel_decide_options_default();
    open_decider(fixture, &options);
    push_text(fixture, "a", FOX);
    push_text(fixture, "b", KETTLE);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_int_equal(doppel_decider_waiting(fixture->decider), 1); /* in one transaction */
    options.on_same_id = DOPPEL_SAME_ID_ERROR;
    open_decider(fixture, &options);
    push_text(fixture, "b", FOX);
    push_text(fixture, "c", KETTLE);
    assert_next(fixture, DOPPEL_DECISION_CONFLICT, DOPPEL_BECAUSE_SAME_ID, 2);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 2);
}

/* What is written beside each decision: a job for each, whose client is what was decided. */
struct written {
    struct fixture *fixture;
    size_t count, fails_at; /* 0: never */
};

static enum doppel_status write_beside(void *context, const struct doppel_decided *decided,
                                       struct doppel_error *error)
{
    static const char *const inputs[] = {"{}"};
    struct written *written = context;
    uint64_t id;
    char name[64];
    snprintf(name, sizeof name, "%s %llu", doppel_decision_name(decided->decision),
             (unsigned long long)decided->of);
    const struct doppel_job job = {.client = name};
    if (++written->count == written->fails_at)
        return doppel_fail(error, DOPPEL_E_IO, "no more");
    return doppel_library_add_job(written->fixture->library, &job, inputs, 1, &id, error);
}

static void assert_written(struct fixture *fixture, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct doppel_job job = {0};
        assert_int_equal(doppel_library_get_job(fixture->library, i + 1, &job, NULL), DOPPEL_OK);
        assert_string_equal(job.client, names[i]);
        doppel_job_free(&job);
    }
    struct doppel_job job = {0};
    assert_int_equal(doppel_library_get_job(fixture->library, count + 1, &job, NULL),
                     DOPPEL_E_NOT_FOUND);
}

static void push_mixed(struct fixture *fixture)
{
    push_text(fixture, "a", FOX);
    push_file(fixture, "kettle.txt", KETTLE);
    push_file(fixture, "none.txt", NULL);
    push_text(fixture, "b", FOX);
    push_file(fixture, "fox.txt", FOX);
}

static void more_is_kept_with_each_decision(void **state)
{
    static const char *const names[] = {"new 0", "new 0", "unreadable 0", "duplicate 1",
                                        "duplicate 1"};
    struct fixture *fixture = *state;
    struct written written = {.fixture = fixture};
    struct doppel_decided decided;
    struct doppel_decide_options options = doppel_decide_options_default();
    options.on_keep = write_beside;
    options.on_keep_context = &written;
    open_decider(fixture, &options);
    push_mixed(fixture);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_OK);
        assert_true(written.count > i);
    }
    assert_nothing_waits(fixture);
    assert_written(fixture, names, 5);
}

/* Of each group of inputs both are there, or neither. */
static void what_more_fails_is_not_decided(void **state)
{
    static const char *const names[] = {"new 0", "new 0", "unreadable 0"};
    struct fixture *fixture = *state;
    struct doppel_library_stats stats;
    struct doppel_decided decided;
    struct doppel_error error;
    enum doppel_status status;
    size_t told = 0;
    struct written written = {.fixture = fixture, .fails_at = 4};
    struct doppel_decide_options options = doppel_decide_options_default();
    options.on_keep = write_beside;
    options.on_keep_context = &written;
    open_decider(fixture, &options);
    push_mixed(fixture);
    while (!(status = doppel_decider_pull(fixture->decider, &decided, &error)))
        told++;
    assert_int_equal(status, DOPPEL_E_IO);
    assert_string_equal(error.message, "no more");
    assert_int_equal(told, 3);
    assert_written(fixture, names, 3);
    assert_int_equal(doppel_library_stats(fixture->library, &stats, NULL), DOPPEL_OK);
    assert_int_equal(stats.texts, 1);
    assert_int_equal(stats.items, 1);
}

/* What is pushed before all is pulled comes behind it, and knows it. */
static void pushes_between_pulls(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_decide_options options = doppel_decide_options_default();
    open_decider(fixture, &options);
    push_text(fixture, "a", FOX);
    push_file(fixture, "kettle.txt", KETTLE);
    push_text(fixture, "b", FOX);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    push_text(fixture, "c", KETTLE);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    push_file(fixture, "fox.txt", FOX);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 1);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 2);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 1);
    assert_nothing_waits(fixture);
}

static void metadata_is_remembered(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_decide_options options = doppel_decide_options_default();
    char *labels[] = {"urgent"};
    const struct doppel_metadata own = {.external_id = "x", .labels = labels, .label_count = 1};
    const struct doppel_metadata all = {.source = "desk", .meta = "{\"place\":\"Pune\"}"};
    struct doppel_metadata found;
    options.metadata = &all;
    open_decider(fixture, &options);
    const struct doppel_decide_input input = {
        .id = "a", .text = FOX, .text_size = strlen(FOX), .metadata = &own};
    assert_int_equal(doppel_decider_push(fixture->decider, &input, NULL), DOPPEL_OK);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_int_equal(doppel_library_get_metadata(fixture->library, 1, &found, NULL), DOPPEL_OK);
    assert_string_equal(found.source, "desk");
    assert_string_equal(found.external_id, "x");
    assert_string_equal(found.meta, "{\"place\":\"Pune\"}");
    assert_int_equal(found.label_count, 1);
    doppel_metadata_free(&found);
}

static void push_code(struct fixture *fixture, const char *id, uint64_t bits)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_fingerprint code;
    assert_int_equal(doppel_fingerprint_make(scheme, 64, 1, &code, NULL), DOPPEL_OK);
    code.codes[0].word[0] = bits;
    code.version = scheme->version;
    const struct doppel_record record = {.fingerprint = code};
    const struct doppel_decide_input input = {.id = id, .record = &record};
    assert_int_equal(doppel_decider_push(fixture->decider, &input, NULL), DOPPEL_OK);
    doppel_fingerprint_free(&code);
}

static void codes_among_others(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_decide_options options = doppel_decide_options_default();
    const uint64_t bits = UINT64_C(0x9d3b4c71e8a2f605);
    struct doppel_decided decided;
    open_decider(fixture, &options);
    push_code(fixture, "first", bits);
    push_file(fixture, "kettle.txt", KETTLE);
    push_code(fixture, "second", bits ^ 3);
    push_code(fixture, "third", ~bits);
    push_text(fixture, NULL, KETTLE);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 1);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_next(fixture, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 2);
    push_code(fixture, "second", bits ^ 3); /* again: it stays one item */
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_OK);
    assert_int_equal(decided.item, 3);
    assert_null(decided.path);
}

static void there_is_a_bound(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_error error;
    const struct doppel_decide_options options = doppel_decide_options_default();
    const struct doppel_decide_input input = {.text = "a", .text_size = 1};
    open_decider(fixture, &options);
    for (int i = 0; i < DOPPEL_DECIDER_MOST; i++)
        assert_int_equal(doppel_decider_push(fixture->decider, &input, &error), DOPPEL_OK);
    assert_int_equal(doppel_decider_push(fixture->decider, &input, &error), DOPPEL_E_BUSY);
    assert_next(fixture, DOPPEL_DECISION_TOO_SHORT, DOPPEL_BECAUSE_NONE, 0);
    assert_int_equal(doppel_decider_push(fixture->decider, &input, &error), DOPPEL_OK);
    assert_int_equal(
        doppel_decider_push(fixture->decider, &(struct doppel_decide_input){.id = "a"}, &error),
        DOPPEL_E_ARGUMENT);
}

static void a_decision_is_json(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_decide_options options = doppel_decide_options_default();
    struct doppel_json json = {0};
    struct doppel_decided decided;
    open_decider(fixture, &options);
    push_text(fixture, "a", FOX);
    push_text(fixture, "b", FOX);
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_OK);
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_OK);
    doppel_decision_to_json(&json, &decided);
    assert_string_equal(json.bytes,
                        "{\"id\":\"b\",\"path\":\"-\",\"line\":2,\"decision\":\"duplicate\","
                        "\"of\":\"a\",\"of_item\":1,\"of_line\":1,\"reason\":\"same-content\","
                        "\"kind\":\"text\",\"scheme\":\"minhash128\",\"relation\":\"same\","
                        "\"distance\":0,\"bits\":128,\"similarity\":1.0,\"verified\":\"exact\","
                        "\"query_coverage\":1.0,\"item_coverage\":1.0,\"item\":2}");
    doppel_json_free(&json);
}

static void a_decision_without_a_path_is_json(void **state)
{
    const struct doppel_decided decided = {
        .decision = DOPPEL_DECISION_DUPLICATE, .of = 1, .of_path = "a.jsonl"};
    struct doppel_json json = {0};
    doppel_decision_to_json(&json, &decided);
    assert_string_equal(json.bytes, "{\"decision\":\"duplicate\",\"of\":1,\"of_item\":1,"
                                    "\"of_path\":\"a.jsonl\"}");
    doppel_json_free(&json);
    (void)state;
}

static void careless_calls(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_decided decided;
    struct doppel_error error = {0};
    assert_int_equal(
        doppel_decider_new(fixture->run, fixture->library, NULL, &fixture->decider, &error),
        DOPPEL_OK);
    assert_int_equal(error.status, DOPPEL_OK); /* that the library has no texts yet is no error */
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, &error), DOPPEL_E_NOT_FOUND);
    assert_string_equal(error.message, "no input waits for a decision");
    push_text(fixture, "a", FOX);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    assert_nothing_waits(fixture);
}

/* A code that cannot be compared is told at once, and ends nothing. */
static void codes_of_other_schemes_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct doppel_code codes[2] = {{{5}}, {{6}}};
    uint32_t positions[2] = {0, 1};
    const uint16_t version = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64)->version;
    const struct doppel_fingerprint refused[] = {
        {.scheme = DOPPEL_SCHEME_NONE, .code_bits = 64, .count = 1},
        {.scheme = DOPPEL_SCHEME_PHASH64, .version = version, .code_bits = 64},
        {.scheme = DOPPEL_SCHEME_PHASH64, .code_bits = 64, .count = 1},
        {.scheme = DOPPEL_SCHEME_PHASH64, .version = version, .code_bits = 13, .count = 1},
        {.scheme = DOPPEL_SCHEME_PDQ, .version = 1, .code_bits = 256, .count = 1},
        {.scheme = DOPPEL_SCHEME_MINHASH128, .version = 1, .code_bits = 64, .count = 2},
        {.scheme = DOPPEL_SCHEME_SIMHASH64, .version = 1, .code_bits = 64, .count = 1},
        {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 1, .code_bits = 32, .count = 1},
    };
    open_decider(fixture, NULL);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct doppel_record code = {.fingerprint = refused[i]};
        code.fingerprint.codes = codes;
        code.fingerprint.positions = positions;
        const struct doppel_decide_input input = {.id = "code", .record = &code};
        assert_int_equal(doppel_decider_push(fixture->decider, &input, NULL), DOPPEL_E_ARGUMENT);
    }
    push_code(fixture, "code", 5);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
}

/* Not even once there is room again. */
static void what_cannot_be_kept_is_not_told(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_decide_input input = {.text = FOX, .text_size = strlen(FOX)};
    struct doppel_decided decided;
    struct doppel_error error = {0};
    struct rlimit before;
    open_decider(fixture, NULL);
    push_text(fixture, "a", FOX);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit no_room = {0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &no_room), 0);
    push_text(fixture, "b", KETTLE);
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, NULL), DOPPEL_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(doppel_decider_pull(fixture->decider, &decided, &error), DOPPEL_E_IO);
    assert_true(error.message[0]);
    assert_int_equal(doppel_decider_push(fixture->decider, &input, NULL), DOPPEL_E_IO);
    assert_int_equal(doppel_decider_waiting(fixture->decider), 0);
    open_decider(fixture, NULL);
    push_text(fixture, "c", KETTLE);
    assert_next(fixture, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0);
}

/* No defaults: they are refused, with a sentence. */
static void options_of_zeros_are_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct doppel_decide_options zeros = {0};
    struct doppel_decider *decider = NULL;
    struct doppel_error error = {0};
    assert_int_not_equal(
        doppel_decider_new(fixture->run, fixture->library, &zeros, &decider, &error), DOPPEL_OK);
    assert_true(error.message[0]);
    assert_null(decider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_and_files_in_order, begin, end),
        cmocka_unit_test_setup_teardown(a_dry_run_remembers_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_was_given_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(more_is_kept_with_each_decision, begin, end),
        cmocka_unit_test_setup_teardown(what_more_fails_is_not_decided, begin, end),
        cmocka_unit_test_setup_teardown(pushes_between_pulls, begin, end),
        cmocka_unit_test_setup_teardown(metadata_is_remembered, begin, end),
        cmocka_unit_test_setup_teardown(codes_among_others, begin, end),
        cmocka_unit_test_setup_teardown(there_is_a_bound, begin, end),
        cmocka_unit_test_setup_teardown(a_decision_is_json, begin, end),
        cmocka_unit_test(a_decision_without_a_path_is_json),
        cmocka_unit_test_setup_teardown(careless_calls, begin, end),
        cmocka_unit_test_setup_teardown(codes_of_other_schemes_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_kept_is_not_told, begin, end),
        cmocka_unit_test_setup_teardown(options_of_zeros_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
