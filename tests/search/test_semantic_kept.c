/* The vectors of a library: what is lost of them is refused, named and forgotten, and taken along
 * into another library. The verbs: tests/cli/meaning_kept.py. */
#include "tests/search/linked_library.h"

#include <doppel/exchange.h>

/* ---- verifying ---- */

struct problems_seen {
    size_t sums, lost, repaired, most;
    bool ids[MOST_TEXTS + 1];
};

static bool note_vectors_problem(void *context, const struct doppel_problem *problem)
{
    struct problems_seen *seen = context;
    assert_string_equal(problem->problem, "vectors");
    assert_true(problem->detail && problem->path);
    seen->sums += !problem->id;
    seen->lost += problem->id != 0;
    seen->repaired += problem->repaired;
    assert_true(!problem->is_news || !problem->id);
    if (problem->id) {
        assert_in_range(problem->id, 1, MOST_TEXTS);
        assert_false(seen->ids[problem->id]);
        seen->ids[problem->id] = true;
    }
    return !seen->most || seen->lost < seen->most;
}

static enum doppel_status verify_kept(const struct linked_library *of, bool repair,
                                      struct problems_seen *seen)
{
    const struct doppel_semantic_check check = {of->library, of->directory, repair,
                                                note_vectors_problem, seen};
    struct doppel_error error;
    return doppel_semantic_verify(&check, &error);
}

/* @param sums what is told of the vectors as a whole: of lost ones how many, which is no problem
 * more */
static void expect_problems(const struct linked_library *of, bool repair, size_t sums, size_t lost)
{
    struct problems_seen seen = {0};
    assert_int_equal(verify_kept(of, repair, &seen), DOPPEL_OK);
    assert_int_equal(seen.sums, sums);
    assert_int_equal(seen.lost, lost);
    assert_int_equal(seen.repaired, repair ? sums + lost : 0);
}

static void lose_vectors(const struct linked_library *of)
{
    char former[128], now[128];
    snprintf(former, sizeof former, "%s/vectors", of->directory);
    snprintf(now, sizeof now, "%s/elsewhere", of->directory);
    assert_int_equal(rename(former, now), 0);
}

static uint64_t chunks_known(struct doppel_library *library)
{
    struct doppel_library_vectors_count count;
    assert_int_equal(doppel_library_count_vectors(library, &count, NULL), DOPPEL_OK);
    return count.chunks;
}

static bool lacks_some(struct doppel_semantic *semantic, uint64_t item)
{
    bool lacks = false;
    assert_int_equal(doppel_semantic_lacks(semantic, item, &lacks, NULL), DOPPEL_OK);
    return lacks;
}

static void what_is_lost_is_named_and_comes_again(void **state)
{
    struct linked_library *of = *state;
    const uint64_t chunks = chunks_known(of->library);
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_semantic *semantic = NULL;
    struct problems_seen ended = {.most = 3};
    struct doppel_error error = {0};
    uint64_t added = 0;
    options.embedder = of->embedder;
    options.directory = of->directory;
    expect_problems(of, false, 0, 0);
    lose_vectors(of);
    for (int turn = 0; turn < 2; turn++) {
        options.write = turn;
        assert_int_equal(doppel_semantic_new(of->run, of->library, &options, &semantic, &error),
                         DOPPEL_E_CORRUPT);
        assert_non_null(strstr(error.message, "156 texts"));
    }
    expect_problems(of, false, 1, MOST_TEXTS);
    assert_int_equal(verify_kept(of, false, &ended), DOPPEL_E_CANCELLED);
    expect_problems(of, true, 1, MOST_TEXTS);
    expect_problems(of, false, 0, 0);
    assert_int_equal(chunks_known(of->library), 0);
    semantic = open_links(of, true, 1e-5, 0);
    for (uint64_t item = 1; item <= MOST_TEXTS; item++) {
        const char *text = of->texts[item - 1];
        assert_true(lacks_some(semantic, item));
        assert_int_equal(doppel_semantic_search(semantic, text, strlen(text), NULL, &error),
                         DOPPEL_OK);
        assert_int_equal(doppel_semantic_add(semantic, item, &added, &error), DOPPEL_OK);
        assert_true(added >= 1 && !lacks_some(semantic, item));
    }
    doppel_semantic_free(semantic);
    assert_int_equal(chunks_known(of->library), chunks);
    expect_problems(of, false, 0, 0);
}

static void known_texts_get_theirs_by_a_decider(void **state)
{
    struct linked_library *of = *state;
    struct doppel_decide_options options = doppel_decide_options_default();
    const struct doppel_decide_input input = {
        .text = of->texts[40], .text_size = strlen(of->texts[40]), .id = "t40"};
    struct doppel_decider *decider = NULL;
    struct doppel_decided decided;
    lose_vectors(of);
    expect_problems(of, true, 1, MOST_TEXTS);
    for (int turn = 0; turn < 2; turn++) {
        options.semantic = open_links(of, true, 1e-5, 0);
        options.dry_run = !turn;
        assert_int_equal(doppel_decider_new(of->run, of->library, &options, &decider, NULL),
                         DOPPEL_OK);
        assert_int_equal(doppel_decider_push(decider, &input, NULL), DOPPEL_OK);
        assert_int_equal(doppel_decider_pull(decider, &decided, NULL), DOPPEL_OK);
        assert_int_equal(lacks_some(options.semantic, 41), !turn);
        doppel_decider_free(decider);
        doppel_semantic_free(options.semantic);
    }
}

/* Of one of two inputs, by a decider that does not do it by itself. */
static void some_inputs_alone_are_looked_at_by_their_meaning(void **state)
{
    struct linked_library *of = *state;
    const struct doppel_decide_options options = doppel_decide_options_default();
    struct doppel_semantic *semantic = open_links(of, true, 1e-5, 0.5F);
    const struct doppel_decide_meaning as_known = {.semantic = semantic};
    const struct doppel_decide_meaning as_sent = {semantic, of->texts[7], strlen(of->texts[7])};
    const char *words = "nothing that the model has a word for, and long enough to be compared";
    struct doppel_decider *decider;
    assert_int_equal(doppel_decider_new(of->run, of->library, &options, &decider, NULL), DOPPEL_OK);
    for (int turn = 0; turn < 2; turn++) {
        const char *id = turn ? "looked-at" : "not";
        const struct doppel_decide_input input = {
            .text = words + turn, .text_size = strlen(words + turn), .id = id};
        struct doppel_decided decided;
        assert_int_equal(doppel_decider_push(decider, &input, NULL), DOPPEL_OK);
        assert_int_equal(doppel_decider_pull(decider, &decided, NULL), DOPPEL_OK);
        assert_null(decided.semantic);
        if (!turn)
            continue;
        decided.decision = DOPPEL_DECISION_NEW; /* by its words it is like the first */
        decided.has_match = false;
        assert_int_equal(doppel_decider_search_meaning(decider, &as_known, &decided, NULL),
                         DOPPEL_OK);
        assert_null(decided.semantic);
        assert_int_equal(doppel_decider_search_meaning(decider, &as_sent, &decided, NULL),
                         DOPPEL_OK);
        assert_int_equal(decided.semantic->of_item, 8);
        doppel_semantic_set_thresholds(semantic, 0, 1);
        decided.semantic = NULL;
        assert_int_equal(doppel_decider_search_meaning(decider, &as_sent, &decided, NULL),
                         DOPPEL_OK);
        assert_true(!decided.semantic || decided.semantic->cosine >= 1);
    }
    doppel_decider_free(decider);
    doppel_semantic_free(semantic);
}

/* ---- merging ---- */

struct items_moved {
    struct doppel_semantic_moved items[MOST_TEXTS];
    size_t count;
};

static bool note_moved(void *context, uint64_t from, uint64_t to)
{
    struct items_moved *moved = context;
    moved->items[moved->count++] = (struct doppel_semantic_moved){from, to};
    return moved->count <= MOST_TEXTS;
}

static void vectors_are_taken_into_another_library(void **state)
{
    struct linked_library *of = *state, other = *of;
    const struct doppel_library_options make = {.create = true};
    struct items_moved moved = {0};
    const struct doppel_import_options import = {.on_item = note_moved, .on_item_context = &moved};
    struct doppel_error error = {0};
    uint64_t texts = 0;
    snprintf(other.directory, sizeof other.directory, "%s/other", of->folder.path);
    assert_int_equal(doppel_library_remove(of->library, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(of->library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_open(other.directory, &make, &other.library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_merge(of->run, other.library, of->library, &import, NULL, &error),
                     DOPPEL_OK);
    const struct doppel_semantic_merge merge = {other.library, of->library, other.directory,
                                                of->directory, moved.items, moved.count,
                                                false};
    assert_int_equal(doppel_semantic_merge(&merge, &texts, &error), DOPPEL_OK);
    assert_int_equal(texts, MOST_TEXTS - 1);
    assert_int_equal(doppel_semantic_merge(&merge, &texts, &error), DOPPEL_OK);
    assert_int_equal(texts, 0);
    assert_int_equal(chunks_known(other.library), chunks_known(of->library));
    expect_problems(&other, false, 0, 0);
    struct doppel_semantic *semantic = open_links(&other, false, 1e-5, 0);
    assert_int_equal(moved.items[1].from, 3);
    assert_false(lacks_some(semantic, moved.items[1].to));
    doppel_semantic_free(semantic);
    doppel_library_close(other.library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_LIBRARY(what_is_lost_is_named_and_comes_again),
        ON_A_LIBRARY(known_texts_get_theirs_by_a_decider),
        ON_A_LIBRARY(some_inputs_alone_are_looked_at_by_their_meaning),
        ON_A_LIBRARY(vectors_are_taken_into_another_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
