/* Groups are acted on by calls, and come back byte for byte. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tools/tree.h"
#include <doppel/act.h>

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

enum { FILES = 4 };
static const char *const paths[FILES] = {"a", "b", "sub/c", "d"};

/* a, b and sub/c have the same bytes; d is near them. */
static void make_files(void)
{
    for (int i = 0; i < FILES; i++) {
        const struct timespec times[2] = {{900 + i, 5}, {1000 + i, 7}};
        tree_file(paths[i], i < 3 ? "the same text" : "another text");
        assert_int_equal(utimensat(AT_FDCWD, paths[i], times, 0), 0);
    }
    assert_int_equal(chmod("b", 0640), 0);
}

/* @param marks of each file '-', 'k'eep, 'r'emove or 'l'eave, '*' another shot of
 * a burst, and 'R' to remove */
static struct doppel_plan *marked_plan_of(const struct doppel_act_policy *policy, const char *marks)
{
    struct doppel_group_member members[FILES] = {0};
    const struct doppel_group group = {
        .number = 1, .keep = paths[0], .members = members, .count = FILES};
    struct doppel_plan *plan;
    for (size_t i = 0; i < FILES; i++) {
        struct stat status;
        assert_int_equal(stat(paths[i], &status), 0);
        struct doppel_file_stamp stamp = doppel_file_stamp_of(&status);
        members[i] = (struct doppel_group_member){
            .reason = i == 0   ? DOPPEL_REASON_KEPT
                      : i == 3 ? DOPPEL_REASON_NEAR
                               : DOPPEL_REASON_IDENTICAL,
            .mark = marks[i] == 'k'                      ? DOPPEL_FILE_KEEP
                    : marks[i] == 'r' || marks[i] == 'R' ? DOPPEL_FILE_REMOVE
                    : marks[i] == 'l'                    ? DOPPEL_FILE_LEAVE
                                                         : DOPPEL_FILE_UNMARKED,
            .burst = marks[i] == '*' || marks[i] == 'R',
            .is_file = true,
            .path = paths[i],
            .size_bytes = stamp.size,
            .mtime_ns = stamp.mtime_ns,
            .device = stamp.device,
            .inode = stamp.inode,
            .same_bytes = i == 3 ? 3 : 0,
        };
    }
    assert_int_equal(doppel_plan_new(policy, &plan, NULL), DOPPEL_OK);
    assert_int_equal(doppel_plan_add(plan, &group, NULL), DOPPEL_OK);
    assert_int_equal(doppel_plan_count(plan), FILES);
    return plan;
}

static struct doppel_plan *plan_of(const struct doppel_act_policy *policy)
{
    return marked_plan_of(policy, "----");
}

/* Names, times, modes and bytes. Given (free). */
static char *listing(void)
{
    static char text[4096];
    FILE *stream = popen("find a b sub d away -printf '%P %y %m %l' \\( -type d -printf '\\n' -o "
                         "-printf ' %T@\\n' \\) 2>&1 | LC_ALL=C sort; cksum a b sub/c d 2>&1",
                         "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    pclose(stream);
    return strdup(text);
}

/* What was visited. */
struct visited {
    struct doppel_run *cancel; /* after the first file; NULL: not */
    unsigned counts[DOPPEL_ACT_REFUSED + 1];
    char reason[128]; /* of the last that was not done */
};

static void visit(void *context, const struct doppel_act_step *step)
{
    struct visited *visited = context;
    visited->counts[step->result]++;
    if (step->reason)
        snprintf(visited->reason, sizeof visited->reason, "%s", step->reason);
    if (visited->cancel)
        doppel_run_cancel(visited->cancel);
}

static struct doppel_run *new_run(void)
{
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    return run;
}

static struct doppel_act_policy policy_of(enum doppel_action action)
{
    struct doppel_act_policy policy = doppel_act_policy_default();
    policy.action = action;
    policy.move_to = "away";
    policy.journal = "journal";
    policy.dry_run = false;
    return policy;
}

static enum doppel_status undo(struct doppel_run *run, uint64_t number, struct visited *visited,
                               struct doppel_act_summary *summary)
{
    const struct doppel_undo_options options = {"journal", number, false};
    const struct doppel_act_visitor visitor = {visit, visited};
    return doppel_undo(run, &options, &visitor, summary, NULL);
}

static void acts_and_brings_back(void **state)
{
    (void)state;
    static const enum doppel_action actions[] = {DOPPEL_ACTION_HARDLINK, DOPPEL_ACTION_SYMLINK,
                                                 DOPPEL_ACTION_TRASH, DOPPEL_ACTION_MOVE_TO};
    char trash[128];
    snprintf(trash, sizeof trash, "%s/home/Trash", tree_root);
    make_files();
    char *before = listing();
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct doppel_run *run = new_run();
        struct doppel_act_policy policy = policy_of(actions[i]);
        struct doppel_act_summary summary;
        struct visited acted = {0}, undone = {0};
        const struct doppel_act_visitor visitor = {visit, &acted};
        policy.trash = trash;
        struct doppel_plan *plan = plan_of(&policy);
        assert_int_equal(doppel_plan_run(run, plan, &visitor, &summary, NULL), DOPPEL_OK);
        assert_int_equal(summary.files, 2);
        assert_int_equal(summary.left, 1);
        assert_int_equal(summary.run, i + 1);
        assert_int_equal(summary.bytes, 2 * strlen("the same text"));
        assert_int_equal(acted.counts[DOPPEL_ACT_DONE], 2);
        assert_int_equal(acted.counts[DOPPEL_ACT_LEFT], 1);
        char *now = listing();
        assert_string_not_equal(now, before);
        free(now);
        assert_int_equal(undo(run, 0, &undone, &summary), DOPPEL_OK);
        assert_int_equal(summary.run, i + 1);
        assert_int_equal(undone.counts[DOPPEL_ACT_DONE], 2);
        assert_int_equal(doppel_run_failures(run), 0);
        assert_int_equal(system("rm -rf away"), 0);
        now = listing();
        assert_string_equal(now, before);
        free(now);
        doppel_plan_free(plan);
        doppel_run_free(run);
    }
    free(before);
}

/* Of each file: goes 'x', stays '.', or is refused '!'. */
static void marks_outrank_reasons(void **state)
{
    (void)state;
    static const struct {
        enum doppel_action action;
        const char *marks, *wanted;
    } cases[] = {
        {DOPPEL_ACTION_TRASH, "----", ".xx."},    {DOPPEL_ACTION_TRASH, "k-r-", ".xx."},
        {DOPPEL_ACTION_TRASH, "---r", ".xxx"},    {DOPPEL_ACTION_TRASH, "-k--", "..x."},
        {DOPPEL_ACTION_TRASH, "kk-r", "..xx"},    {DOPPEL_ACTION_TRASH, "llll", "...."},
        {DOPPEL_ACTION_TRASH, "rrrr", "!xxx"},    {DOPPEL_ACTION_HARDLINK, "---r", ".xx!"},
        {DOPPEL_ACTION_HARDLINK, "-krr", "..x!"}, {DOPPEL_ACTION_MOVE_TO, "k-kr", ".x.x"},
        {DOPPEL_ACTION_TRASH, "--**", ".x.."},    {DOPPEL_ACTION_TRASH, "--*R", ".x.x"},
    };
    make_files();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_act_policy policy = policy_of(cases[i].action);
        struct doppel_plan *plan = marked_plan_of(&policy, cases[i].marks);
        char found[FILES + 1] = "";
        for (size_t k = 0; k < FILES; k++) {
            const struct doppel_plan_file *file = doppel_plan_get(plan, k);
            bool goes = file->duplicate_of != k && !file->left;
            found[k] = file->refused ? '!' : goes ? 'x' : '.';
        }
        assert_string_equal(found, cases[i].wanted);
        doppel_plan_free(plan);
    }
}

/* All of a group cannot go: one stays, and that is reported. */
static void one_of_a_group_stays(void **state)
{
    (void)state;
    make_files();
    struct doppel_run *run = new_run();
    struct doppel_act_policy policy = policy_of(DOPPEL_ACTION_MOVE_TO);
    struct doppel_act_summary summary;
    struct visited acted = {0};
    const struct doppel_act_visitor visitor = {visit, &acted};
    struct doppel_plan *plan = marked_plan_of(&policy, "rrrr");
    assert_int_equal(doppel_plan_run(run, plan, &visitor, &summary, NULL), DOPPEL_OK);
    assert_int_equal(acted.counts[DOPPEL_ACT_DONE], 3);
    assert_int_equal(acted.counts[DOPPEL_ACT_REFUSED], 1);
    assert_int_equal(doppel_run_failures(run), 1);
    assert_int_equal(access("a", F_OK), 0);
    doppel_plan_free(plan);
    doppel_run_free(run);
}

static void a_dry_run_does_nothing(void **state)
{
    (void)state;
    make_files();
    char *before = listing();
    struct doppel_run *run = new_run();
    struct doppel_act_policy policy = policy_of(DOPPEL_ACTION_HARDLINK);
    struct doppel_act_summary summary;
    struct visited acted = {0};
    const struct doppel_act_visitor visitor = {visit, &acted};
    policy.dry_run = true;
    struct doppel_plan *plan = plan_of(&policy);
    assert_int_equal(doppel_plan_run(run, plan, &visitor, &summary, NULL), DOPPEL_OK);
    assert_int_equal(acted.counts[DOPPEL_ACT_WOULD], 2);
    assert_int_equal(summary.run, 0);
    char *now = listing();
    assert_string_equal(now, before);
    assert_int_not_equal(access("journal", F_OK), 0);
    doppel_plan_free(plan);
    doppel_run_free(run);
    free(now);
    free(before);
}

static void refuses_what_has_changed(void **state)
{
    (void)state;
    make_files();
    struct doppel_run *run = new_run();
    struct doppel_act_policy policy = policy_of(DOPPEL_ACTION_SYMLINK);
    struct doppel_act_summary summary;
    struct visited acted = {0};
    const struct doppel_act_visitor visitor = {visit, &acted};
    policy.reasons |= 1u << DOPPEL_REASON_NEAR; /* no link is made for it */
    struct doppel_plan *plan = plan_of(&policy);
    tree_file("b", "the same tale");
    assert_true(doppel_plan_get(plan, 3)->refused);
    assert_int_equal(doppel_plan_run(run, plan, &visitor, &summary, NULL), DOPPEL_OK);
    assert_int_equal(acted.counts[DOPPEL_ACT_DONE], 1);
    assert_int_equal(acted.counts[DOPPEL_ACT_REFUSED], 2);
    assert_int_equal(doppel_run_failures(run), 2);
    assert_non_null(strstr(acted.reason, "is not identical"));
    doppel_plan_free(plan);
    doppel_run_free(run);
}

static void ends_after_the_step_in_hand(void **state)
{
    (void)state;
    make_files();
    char *before = listing();
    struct doppel_run *run = new_run(), *later = new_run();
    struct doppel_act_policy policy = policy_of(DOPPEL_ACTION_MOVE_TO);
    struct doppel_act_summary summary;
    struct visited acted = {.cancel = run}, undone = {0};
    const struct doppel_act_visitor visitor = {visit, &acted};
    struct doppel_plan *plan = plan_of(&policy);
    assert_int_equal(doppel_plan_run(run, plan, &visitor, &summary, NULL), DOPPEL_E_CANCELLED);
    assert_int_equal(summary.files, 1);
    assert_int_equal(acted.counts[DOPPEL_ACT_DONE], 1);
    assert_int_not_equal(access("b", F_OK), 0);
    assert_int_equal(access("sub/c", F_OK), 0);
    assert_int_equal(undo(later, summary.run, &undone, &summary), DOPPEL_OK);
    assert_int_equal(undone.counts[DOPPEL_ACT_DONE], 1);
    assert_int_equal(undo(later, 7, &undone, &summary), DOPPEL_E_NOT_FOUND);
    assert_int_equal(system("rm -rf away"), 0);
    char *now = listing();
    assert_string_equal(now, before);
    doppel_plan_free(plan);
    doppel_run_free(run);
    doppel_run_free(later);
    free(now);
    free(before);
}

static void count_run(void *context, const struct doppel_act_run *run)
{
    unsigned *count = context;
    ++*count;
    assert_int_equal(run->number, *count);
    assert_int_equal(run->action, DOPPEL_ACTION_HARDLINK);
    assert_int_equal(run->files, 2);
    assert_int_equal(run->undone, 2);
    assert_int_equal(run->unfinished, 0);
}

/* A beginning, a step and its end for each of two files, and that they were undone. */
static void writes_what_others_can_read(void **state)
{
    (void)state;
    static const char *const keys[][3] = {{"run", "action", "time"}, {"run", "step", "path"},
                                          {"run", "step", "end"},    {"run", "step", "path"},
                                          {"run", "step", "end"},    {"run", "step", "end"},
                                          {"run", "step", "end"}};
    char line[4096];
    size_t lines = 0;
    unsigned runs = 0;
    make_files();
    struct doppel_run *run = new_run();
    struct doppel_act_policy policy = policy_of(DOPPEL_ACTION_HARDLINK);
    struct doppel_act_summary summary;
    struct visited undone = {0};
    struct doppel_plan *plan = plan_of(&policy);
    assert_int_equal(doppel_plan_run(run, plan, NULL, &summary, NULL), DOPPEL_OK);
    assert_int_equal(undo(run, 1, &undone, &summary), DOPPEL_OK);
    FILE *stream = fopen("journal", "r");
    assert_non_null(stream);
    for (; fgets(line, sizeof line, stream); lines++) {
        json_t *object = json_loads(line, 0, NULL);
        assert_in_range(lines, 0, 6);
        for (int i = 0; i < 3; i++)
            assert_non_null(json_object_get(object, keys[lines][i]));
        json_decref(object);
    }
    assert_int_equal(lines, 7);
    fclose(stream);
    assert_int_equal(doppel_act_runs(run, "journal", count_run, &runs, NULL), DOPPEL_OK);
    assert_int_equal(runs, 1);
    doppel_plan_free(plan);
    doppel_run_free(run);
}

static void careless_calls(void **state)
{
    (void)state;
    struct doppel_group_member members[] = {
        {.reason = DOPPEL_REASON_KEPT},
        {.reason = DOPPEL_REASON_NEAR, .same_bytes = 1000}, /* there is no such member */
        {.reason = DOPPEL_REASON_NEAR, .path = "b", .same_bytes = 2},
    };
    const struct doppel_group group = {.number = 1, .members = members, .count = 3};
    const struct doppel_undo_options no_journal = {.number = 1};
    struct doppel_run *run = new_run();
    struct doppel_act_summary summary;
    struct doppel_plan *plan;
    assert_int_equal(doppel_plan_new(NULL, &plan, NULL), DOPPEL_OK); /* a dry run */
    assert_null(doppel_plan_get(plan, 0));
    assert_int_equal(doppel_plan_add(plan, &group, NULL), DOPPEL_OK);
    assert_non_null(doppel_plan_get(plan, 2));
    assert_null(doppel_plan_get(plan, 3));
    assert_int_equal(doppel_plan_run(run, plan, NULL, &summary, NULL), DOPPEL_OK);
    assert_int_equal(summary.files, 0);
    assert_int_equal(doppel_undo(run, NULL, NULL, &summary, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_undo(run, &no_journal, NULL, &summary, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_act_runs(run, NULL, count_run, NULL, NULL), DOPPEL_E_ARGUMENT);
    assert_string_equal(doppel_action_name((enum doppel_action)99), "unknown");
    doppel_plan_free(plan);
    doppel_plan_free(NULL);
    doppel_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(acts_and_brings_back),        IN_FOLDER(marks_outrank_reasons),
        IN_FOLDER(one_of_a_group_stays),        IN_FOLDER(a_dry_run_does_nothing),
        IN_FOLDER(refuses_what_has_changed),    IN_FOLDER(ends_after_the_step_in_hand),
        IN_FOLDER(writes_what_others_can_read), IN_FOLDER(careless_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
