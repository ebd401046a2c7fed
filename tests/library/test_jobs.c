/* Jobs as rows: accepted, worked on in order, ended once, called about, and forgotten. */
#include "tests/library/fixture.h"
#include "tests/library/list_codes.h"

static const char *const three[] = {"{\"text\":\"a\"}", "{\"text\":\"b\"}", "{\"text\":\"c\"}"};

static uint64_t add_job(struct doppel_library *library, const char *webhook, size_t count)
{
    const struct doppel_job job = {.client = "uploads", .webhook = (char *)webhook, .bytes = 100};
    uint64_t id = 0;
    assert_int_equal(doppel_library_add_job(library, &job, three, count, &id, NULL), DOPPEL_OK);
    commit(library);
    return id;
}

/* Given (doppel_job_free). */
static struct doppel_job get_job(struct doppel_library *library, uint64_t id)
{
    struct doppel_job job = {0};
    assert_int_equal(doppel_library_get_job(library, id, &job, NULL), DOPPEL_OK);
    return job;
}

/* The same without its strings. */
static struct doppel_job numbers_of_job(struct doppel_library *library, uint64_t id)
{
    struct doppel_job job = get_job(library, id);
    doppel_job_free(&job);
    return job;
}

static void decide(struct doppel_library *library, uint64_t id, uint64_t number, bool unreadable)
{
    assert_int_equal(doppel_library_put_job_decision(library, id, number, "{\"decision\":\"new\"}",
                                                     unreadable, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_complete_job(library, id, NULL), DOPPEL_OK);
}

/* How many of them there are; and that they come in order. */
struct seen {
    uint64_t first, count, decided;
};

static bool see_input(void *context, const struct doppel_job_input *input)
{
    struct seen *seen = context;
    assert_int_equal(input->number, seen->first + seen->count++);
    assert_true(!input->input != !input->decision);
    seen->decided += input->decision != NULL;
    return true;
}

static struct seen see_inputs(struct doppel_library *library, uint64_t id, uint64_t first)
{
    struct seen seen = {.first = first};
    assert_int_equal(doppel_library_each_job_input(library, id, first, see_input, &seen, NULL),
                     DOPPEL_OK);
    return seen;
}

static void it_is_done_with_its_last_input(void **state)
{
    struct doppel_library *library = open_library(*state);
    const uint64_t id = add_job(library, NULL, 3);
    struct doppel_job job = get_job(library, id);
    assert_int_equal(job.state, DOPPEL_JOB_WAITING);
    assert_string_equal(job.client, "uploads");
    doppel_job_free(&job);
    assert_int_equal(doppel_library_begin_job(library, id, NULL), DOPPEL_OK);
    decide(library, id, 0, false);
    decide(library, id, 1, true);
    job = numbers_of_job(library, id);
    assert_int_equal(job.state, DOPPEL_JOB_RUNNING);
    assert_true(job.begun_ns >= job.added_ns && !job.ended_ns);
    assert_int_equal(see_inputs(library, id, 0).decided, 2);
    assert_int_equal(see_inputs(library, id, 1).count, 2);
    decide(library, id, 2, false);
    assert_int_equal(doppel_library_correct_job_decision(library, id, 0, "{}", true, NULL),
                     DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    library = open_library(*state);
    job = numbers_of_job(library, id);
    assert_int_equal(job.state, DOPPEL_JOB_DONE);
    assert_int_equal(job.decided, 3);
    assert_int_equal(job.unreadable, 2);
    assert_true(job.ended_ns >= job.begun_ns && !job.next_call_ns);
    assert_whole(library);
    doppel_library_close(library);
}

static void what_is_taken_back_was_never_decided(void **state)
{
    struct doppel_library *library = open_library(*state);
    const uint64_t id = add_job(library, NULL, 1);
    decide(library, id, 0, false);
    assert_int_equal(numbers_of_job(library, id).state, DOPPEL_JOB_DONE);
    doppel_library_rollback(library);
    assert_int_equal(numbers_of_job(library, id).state, DOPPEL_JOB_WAITING);
    assert_int_equal(see_inputs(library, id, 0).decided, 0);
    doppel_library_close(library);
}

static void it_ends_once(void **state)
{
    struct doppel_library *library = open_library(*state);
    const uint64_t id = add_job(library, NULL, 3);
    decide(library, id, 0, false);
    assert_int_equal(doppel_library_end_job(library, id, DOPPEL_JOB_CANCELLED, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(see_inputs(library, id, 0).count, 1); /* what was not decided is forgotten */
    assert_int_equal(doppel_library_end_job(library, id, DOPPEL_JOB_FAILED, "why", NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_end_job(library, 77, DOPPEL_JOB_FAILED, "why", NULL),
                     DOPPEL_E_NOT_FOUND);
    struct doppel_job job = get_job(library, id);
    assert_int_equal(job.state, DOPPEL_JOB_CANCELLED);
    assert_null(job.problem);
    doppel_job_free(&job);
    commit(library);
    assert_whole(library);
    doppel_library_close(library);
}

static bool count_job(void *context, const struct doppel_job *job)
{
    uint64_t *ids = context;
    ids[++ids[0]] = job->id;
    return ids[0] < 3;
}

static void they_are_found_by_state_and_age(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_job_counts counts;
    uint64_t ids[4] = {0};
    for (int i = 0; i < 4; i++)
        add_job(library, NULL, 2);
    decide(library, 1, 0, false);
    decide(library, 1, 1, false);
    assert_int_equal(doppel_library_begin_job(library, 2, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_end_job(library, 3, DOPPEL_JOB_FAILED, "why", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_count_jobs(library, &counts, NULL), DOPPEL_OK);
    assert_int_equal(counts.waiting, 1);
    assert_int_equal(counts.running, 1);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.bytes, 200);
    assert_int_equal(doppel_library_each_open_job(library, 0, count_job, ids, NULL), DOPPEL_OK);
    assert_true(ids[0] == 2 && ids[1] == 2 && ids[2] == 4);
    ids[0] = 0;
    assert_int_equal(doppel_library_each_job(library, 0, count_job, ids, NULL), DOPPEL_E_CANCELLED);
    assert_true(ids[1] == 4 && ids[2] == 3 && ids[3] == 2);
    ids[0] = 0;
    assert_int_equal(doppel_library_each_job(library, 2, count_job, ids, NULL), DOPPEL_OK);
    assert_true(ids[0] == 2 && ids[1] == 2 && ids[2] == 1);
    doppel_library_close(library);
}

static void whom_to_call_is_called_again(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_job job;
    const uint64_t id = add_job(library, "https://there.example/", 1);
    assert_int_equal(doppel_library_next_job_call(library, &job, NULL), DOPPEL_E_NOT_FOUND);
    decide(library, id, 0, false);
    assert_int_equal(doppel_library_next_job_call(library, &job, NULL), DOPPEL_OK);
    assert_int_equal(job.id, id);
    doppel_job_free(&job);
    assert_int_equal(doppel_library_job_called(library, id, "it says 500", 7, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_next_job_call(library, &job, NULL), DOPPEL_OK);
    assert_true(job.calls == 1 && job.next_call_ns == 7);
    assert_string_equal(job.call_problem, "it says 500");
    doppel_job_free(&job);
    assert_int_equal(doppel_library_job_called(library, id, NULL, 0, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_next_job_call(library, &job, NULL), DOPPEL_E_NOT_FOUND);
    job = get_job(library, id);
    assert_true(job.calls == 2 && !job.call_problem);
    doppel_job_free(&job);
    commit(library);
    assert_whole(library);
    doppel_library_close(library);
}

static void old_ones_are_forgotten(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_job_age age = {.newest = 3, .most = 10};
    uint64_t forgotten = 0;
    for (uint64_t id = 1; id <= 8; id++) {
        add_job(library, id == 2 ? "https://there.example/" : NULL, 1);
        if (id != 4)
            decide(library, id, 0, false);
    }
    assert_int_equal(doppel_library_forget_jobs(library, &age, &forgotten, NULL), DOPPEL_OK);
    assert_int_equal(forgotten, 3); /* 1, 3 and 5: 2 is to be called about, 4 has not ended */
    assert_int_equal(doppel_library_get_job(library, 3, &(struct doppel_job){0}, NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(see_inputs(library, 3, 0).count, 0);
    age.ended_before_ns = INT64_MAX;
    age.most = 2;
    assert_int_equal(doppel_library_forget_jobs(library, &age, &forgotten, NULL), DOPPEL_OK);
    assert_int_equal(forgotten, 2);
    assert_int_equal(numbers_of_job(library, 8).id, 8);
    commit(library);
    assert_int_equal(add_job(library, NULL, 1), 9);
    doppel_library_close(library);
}

static void a_damaged_row_is_reported(void **state)
{
    struct doppel_library *library = open_library(*state);
    const uint64_t id = add_job(library, NULL, 3);
    struct doppel_job job;
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            "UPDATE job SET decided = 2; UPDATE job_input SET input = 'x' WHERE number = 1");
    library = open_library(*state);
    assert_int_equal(doppel_library_get_job(library, id, &job, NULL), DOPPEL_E_CORRUPT);
    struct seen seen = {.first = 2};
    assert_int_equal(doppel_library_each_job_input(library, id, 1, see_input, &seen, NULL),
                     DOPPEL_E_CORRUPT);
    assert_int_equal(seen.count, 1);
    doppel_library_close(library);
}

static void a_damaged_row_keeps_nobody_from_being_called(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_job job;
    for (uint64_t id = 1; id <= 2; id++) {
        add_job(library, "https://there.example/", 1);
        decide(library, id, 0, false);
    }
    commit(library);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            "UPDATE job SET webhook = 'https://elsewhere.example/' WHERE id = 1");
    library = open_library(*state);
    assert_int_equal(doppel_library_next_job_call(library, &job, NULL), DOPPEL_OK);
    assert_int_equal(job.id, 2);
    doppel_job_free(&job);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(it_is_done_with_its_last_input),
        IN_FOLDER(what_is_taken_back_was_never_decided),
        IN_FOLDER(it_ends_once),
        IN_FOLDER(they_are_found_by_state_and_age),
        IN_FOLDER(whom_to_call_is_called_again),
        IN_FOLDER(old_ones_are_forgotten),
        IN_FOLDER(a_damaged_row_is_reported),
        IN_FOLDER(a_damaged_row_keeps_nobody_from_being_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
