/* The rule by which files and records are decided about: each stage, and which one comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "corpus/dedup/rule.h"

static void assert_answer(const struct rule_answer *answer, enum doppel_decision decision,
                          enum doppel_decision_reason reason, uint64_t of, bool follows)
{
    assert_int_equal(answer->decision, decision);
    assert_int_equal(answer->reason, reason);
    assert_int_equal(answer->of, of);
    assert_int_equal(answer->follows, follows);
}

/* ---- by bytes ---- */

static const struct {
    struct rule_bytes facts;
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t of, former;
    bool follows;
} by_bytes[] = {
    {{.unreadable = true, .here = 1, .here_same = true, .here_leader = 1, .same = 1},
     DOPPEL_DECISION_UNREADABLE,
     DOPPEL_BECAUSE_NONE,
     0,
     0,
     false},
    {{.here = 5, .here_same = true, .here_leader = 2, .same = 1, .same_leader = 1},
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_KNOWN,
     2,
     0,
     true},
    {{.here = 5, .here_leader = 2, .same = 1, .same_leader = 1, .gone = 1, .gone_leader = 1},
     DOPPEL_DECISION_REVISION,
     DOPPEL_BECAUSE_SAME_PATH,
     0,
     5,
     false},
    {{.same = 4, .same_leader = 3, .gone = 6, .gone_leader = 3},
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_MOVED,
     3,
     0,
     true},
    {{.same = 4, .same_leader = 3},
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_IDENTICAL,
     3,
     0,
     true},
    {{.same = 4, .same_leader = 3, .same_content = true},
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_SAME_CONTENT,
     3,
     0,
     true},
    {{.here = 7, .by_id = true, .same = 4, .same_leader = 3},
     DOPPEL_DECISION_REVISION,
     DOPPEL_BECAUSE_SAME_ID,
     0,
     7,
     false},
    {{.here = 4, .here_same = true, .by_id = true, .same = 4, .same_leader = 3},
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_IDENTICAL,
     3,
     0,
     true},
    {{.same = 4, .same_leader = 3, .same_is_benign = true},
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_BENIGN,
     4,
     0,
     false},
};

static void decides_by_bytes(void **state)
{
    (void)state;
    struct rule_answer answer;
    for (size_t i = 0; i < sizeof by_bytes / sizeof *by_bytes; i++) {
        assert_true(rule_by_bytes(&by_bytes[i].facts, &answer));
        assert_answer(&answer, by_bytes[i].decision, by_bytes[i].reason, by_bytes[i].of,
                      by_bytes[i].follows);
        assert_int_equal(answer.former, by_bytes[i].former);
        assert_true(answer.candidate == NO_CANDIDATE);
        assert_int_equal(answer.same_as, answer.of == 3 && !by_bytes[i].facts.gone ? 4 : 0);
    }
    assert_false(rule_by_bytes(&(struct rule_bytes){0}, &answer));
}

/* ---- by content ---- */

/* Candidates in short: what they are, and their list and word. */
enum what { NOBODY, CONTENT, NEAR, PART, HOLDS, SHARES, FOLLOWER, OTHER_KIND, OTHER_HOLDS };

struct brief {
    enum what what;
    enum doppel_list_state state;
    enum doppel_manual_label word;
};

#define IS(what)                                                                                   \
    {                                                                                              \
        what, DOPPEL_LIST_ACTIVE, DOPPEL_LABEL_NONE                                                \
    }

static const struct {
    struct brief candidates[3]; /* numbers 10, 20, 30; 20 with content follows 10 */
    uint64_t marked;
    bool too_short;
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t of;
    bool follows;
} by_content[] = {
    {{IS(NOBODY)}, 0, false, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0, false},
    {{IS(NOBODY)}, 0, true, DOPPEL_DECISION_TOO_SHORT, DOPPEL_BECAUSE_NONE, 0, false},
    {{IS(NEAR), IS(NEAR)}, 0, false, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 10, true},
    {{IS(SHARES), IS(NEAR)}, 0, false, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 20, true},
    {{IS(NEAR), IS(CONTENT)},
     0,
     false,
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_SAME_CONTENT,
     10,
     true},
    {{IS(SHARES), IS(HOLDS), IS(PART)},
     0,
     false,
     DOPPEL_DECISION_PART,
     DOPPEL_BECAUSE_PART,
     30,
     false},
    {{IS(SHARES), IS(HOLDS)},
     0,
     false,
     DOPPEL_DECISION_REVISION,
     DOPPEL_BECAUSE_CONTAINS,
     20,
     false},
    {{IS(SHARES)}, 0, false, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_OVERLAPS, 10, false},
    {{IS(SHARES)}, 0, true, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_OVERLAPS, 10, false},
    {{IS(OTHER_KIND)}, 0, false, DOPPEL_DECISION_PART, DOPPEL_BECAUSE_PART, 10, false},
    {{IS(OTHER_HOLDS)}, 0, false, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_CONTAINS, 10, false},
    /* no chains */
    {{IS(FOLLOWER)}, 0, false, DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_NONE, 0, false},
    {{IS(FOLLOWER), IS(NEAR)}, 0, false, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR, 20, true},
    /* people's words */
    {{IS(NEAR)}, 7, false, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_MARKED, 7, true},
    {{IS(CONTENT)}, 7, false, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_SAME_CONTENT, 10, true},
    {{IS(NOBODY)}, 7, true, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_MARKED, 7, true},
    {{{NEAR, DOPPEL_LIST_ACTIVE, DOPPEL_LABEL_DISTINCT}, IS(NEAR)},
     0,
     false,
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_NEAR,
     20,
     true},
    {{{PART, DOPPEL_LIST_ACTIVE, DOPPEL_LABEL_DISTINCT}},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_NONE,
     0,
     false},
    {{{CONTENT, DOPPEL_LIST_ACTIVE, DOPPEL_LABEL_DISTINCT}},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_NONE,
     0,
     false},
    /* lists */
    {{{NEAR, DOPPEL_LIST_DISABLED, DOPPEL_LABEL_NONE}, IS(NEAR)},
     0,
     false,
     DOPPEL_DECISION_DUPLICATE,
     DOPPEL_BECAUSE_NEAR,
     20,
     true},
    {{{CONTENT, DOPPEL_LIST_DISABLED, DOPPEL_LABEL_NONE}},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_NONE,
     0,
     false},
    {{IS(NEAR), {NEAR, DOPPEL_LIST_BENIGN, DOPPEL_LABEL_NONE}},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_BENIGN,
     20,
     false},
    {{{PART, DOPPEL_LIST_BENIGN, DOPPEL_LABEL_NONE}},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_BENIGN,
     10,
     false},
    {{{HOLDS, DOPPEL_LIST_BENIGN, DOPPEL_LABEL_NONE}, IS(SHARES)},
     0,
     false,
     DOPPEL_DECISION_NEW,
     DOPPEL_BECAUSE_OVERLAPS,
     20,
     false},
};

static enum doppel_relation relation_of(enum what what)
{
    switch (what) {
    case PART:
        return DOPPEL_RELATION_CONTAINED;
    case HOLDS:
    case OTHER_HOLDS:
        return DOPPEL_RELATION_CONTAINS;
    case SHARES:
        return DOPPEL_RELATION_OVERLAPS;
    default:
        return DOPPEL_RELATION_SAME;
    }
}

static size_t fill(const struct brief briefs[3], enum doppel_kind kind,
                   struct rule_candidate candidates[3], struct doppel_match matches[3])
{
    size_t count = 0;
    for (uint64_t i = 0; i < 3; i++) {
        enum what what = briefs[i].what;
        bool other = what == OTHER_KIND || what == OTHER_HOLDS;
        if (what == NOBODY)
            continue;
        matches[count] = (struct doppel_match){.relation = relation_of(what)};
        candidates[count] = (struct rule_candidate){
            .id = 10 * (i + 1),
            .leader = what == FOLLOWER           ? 1
                      : what == CONTENT && i > 0 ? 10
                                                 : 10 * (i + 1),
            .same_content = what == CONTENT,
            .word = briefs[i].word,
            .state = briefs[i].state,
            .match = &matches[count],
            .kind = other ? DOPPEL_KIND_VIDEO : kind,
        };
        count++;
    }
    return count;
}

/* The same whatever the order in which the candidates come. */
static void decides_by_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof by_content / sizeof *by_content; i++) {
        struct rule_candidate candidates[3], turned[3];
        struct doppel_match matches[3];
        size_t count = fill(by_content[i].candidates, DOPPEL_KIND_AUDIO, candidates, matches);
        for (size_t j = 0; j < count; j++)
            turned[count - 1 - j] = candidates[j];
        for (int turn = 0; turn < 2; turn++) {
            const struct rule_content facts = {.kind = DOPPEL_KIND_AUDIO,
                                               .too_short = by_content[i].too_short,
                                               .marked = by_content[i].marked,
                                               .candidates = turn ? turned : candidates,
                                               .count = count};
            struct rule_answer answer;
            rule_by_content(&facts, &answer);
            assert_answer(&answer, by_content[i].decision, by_content[i].reason, by_content[i].of,
                          by_content[i].follows);
        }
    }
}

/* A later text of the same source revises; and so does one that holds more. */
static void revises_by_source_and_date(void **state)
{
    (void)state;
    const struct doppel_match near = {.relation = DOPPEL_RELATION_SAME},
                              held = {.relation = DOPPEL_RELATION_CONTAINED,
                                      .has_coverage = true,
                                      .query_coverage = 1,
                                      .item_coverage = 0.4},
                              most = {.relation = DOPPEL_RELATION_CONTAINED,
                                      .has_coverage = true,
                                      .query_coverage = 1,
                                      .item_coverage = 0.8};
    const struct {
        const struct doppel_match *match;
        const char *source, *date;
        enum doppel_decision decision;
        enum doppel_decision_reason reason;
    } cases[] = {
        {&near, "a", "2024-02-02", DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_NEWER},
        {&near, "a", "2024-01-01", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR},
        {&near, "b", "2024-02-02", DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_NEAR},
        {&held, "a", "2024-02-02", DOPPEL_DECISION_PART, DOPPEL_BECAUSE_PART},
        {&most, "a", "2024-02-02", DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_CONTAINED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rule_candidate candidate = {.id = 3,
                                                 .leader = 3,
                                                 .origin = {"a", "2024-01-15"},
                                                 .match = cases[i].match,
                                                 .kind = DOPPEL_KIND_TEXT};
        const struct rule_content facts = {.kind = DOPPEL_KIND_TEXT,
                                           .origin = {cases[i].source, cases[i].date},
                                           .candidates = &candidate,
                                           .count = 1};
        struct rule_answer answer;
        rule_by_content(&facts, &answer);
        assert_answer(&answer, cases[i].decision, cases[i].reason, 3, cases[i].match == &near);
    }
}

/* ---- ids ---- */

static void decides_by_id(void **state)
{
    (void)state;
    static const struct {
        enum doppel_same_id on_same_id;
        bool decides;
        enum doppel_decision decision;
    } cases[] = {
        {DOPPEL_SAME_ID_UPDATE, false, DOPPEL_DECISION_NEW},
        {DOPPEL_SAME_ID_SKIP, true, DOPPEL_DECISION_DUPLICATE},
        {DOPPEL_SAME_ID_ERROR, true, DOPPEL_DECISION_CONFLICT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_answer answer;
        assert_int_equal(rule_by_id(cases[i].on_same_id, 7, &answer), cases[i].decides);
        if (cases[i].decides)
            assert_answer(&answer, cases[i].decision, DOPPEL_BECAUSE_SAME_ID, 7, false);
    }
}

/* What it follows, its text says. */
static void an_update_is_a_revision(void **state)
{
    (void)state;
    for (int follows = 0; follows < 2; follows++) {
        struct rule_answer answer = {
            .decision = DOPPEL_DECISION_DUPLICATE, .of = 3, .follows = follows};
        rule_update(7, &answer);
        assert_answer(&answer, DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_SAME_ID, 7, follows);
        assert_int_equal(answer.former, 7);
        assert_true(answer.candidate == NO_CANDIDATE);
    }
}

/* ---- candidates that come one by one ---- */

/* Of records, what shares a part counts by its place; of files, by how much it shares. */
static void prefers_the_better_or_the_first(void **state)
{
    (void)state;
    static const struct {
        struct brief candidates[3];
        bool in_order;
        size_t best; /* its number in the order of ids */
    } cases[] = {
        {{IS(SHARES), IS(HOLDS), IS(PART)}, false, 2},
        {{IS(SHARES), IS(HOLDS), IS(PART)}, true, 0},
        {{IS(HOLDS), IS(NEAR), IS(NEAR)}, false, 1},
        {{IS(HOLDS), IS(NEAR), IS(NEAR)}, true, 1},
        {{{HOLDS, DOPPEL_LIST_BENIGN, DOPPEL_LABEL_NONE}, IS(SHARES), IS(PART)}, true, 1},
        {{{NEAR, DOPPEL_LIST_ACTIVE, DOPPEL_LABEL_DISTINCT}, IS(PART), IS(HOLDS)}, true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_candidate candidates[3];
        struct doppel_match matches[3];
        const struct rule_candidate *best = NULL;
        const struct rule_content facts = {.kind = DOPPEL_KIND_TEXT, .in_order = cases[i].in_order};
        size_t count = fill(cases[i].candidates, DOPPEL_KIND_TEXT, candidates, matches);
        for (size_t j = 0; j < count; j++)
            if (rule_may_count(&candidates[j]) && rule_prefers(&facts, &candidates[j], best))
                best = &candidates[j];
        assert_non_null(best);
        assert_int_equal(best - candidates, cases[i].best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_by_bytes),
        cmocka_unit_test(decides_by_content),
        cmocka_unit_test(revises_by_source_and_date),
        cmocka_unit_test(decides_by_id),
        cmocka_unit_test(an_update_is_a_revision),
        cmocka_unit_test(prefers_the_better_or_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
