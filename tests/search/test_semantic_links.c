/* Texts of a library that are linked by their meaning, against what is found of each; and what is
 * never linked. */
#include "tests/search/linked_library.h"

#include <math.h>

struct one_link {
    uint64_t item, of, group, of_group;
    struct doppel_semantic_link link;
};

/* What is visited. */
struct links {
    struct one_link items[MOST_TEXTS];
    size_t count;
    enum doppel_status returns;
};

/* ---- links ---- */

static enum doppel_status take_link(void *context, const struct doppel_semantic_pair *pair,
                                    struct doppel_error *error)
{
    struct links *links = context;
    char name[16];
    snprintf(name, sizeof name, "t%d", (int)pair->item - 1);
    assert_string_equal(pair->name->record_id, name);
    snprintf(name, sizeof name, "t%d", (int)pair->link.of_item - 1);
    assert_string_equal(pair->link.of, name);
    assert_true(links->count < MOST_TEXTS);
    links->items[links->count++] =
        (struct one_link){pair->item, pair->link.of_item, pair->group, pair->of_group, pair->link};
    if (links->returns)
        return doppel_fail(error, links->returns, "enough");
    return DOPPEL_OK;
}

static enum doppel_status find_links(struct linked_library *of, double rate, float cosine,
                                     struct doppel_semantic_links_options options,
                                     struct links *links)
{
    struct doppel_semantic *semantic = open_links(of, false, rate, cosine);
    struct doppel_error error = {0};
    links->count = 0;
    enum doppel_status status = doppel_semantic_links(semantic, &options, take_link, links, &error);
    assert_true(!status || error.message[0]);
    doppel_semantic_free(semantic);
    return status;
}

static const struct one_link *link_of(const struct links *links, uint64_t item)
{
    const struct one_link *found = NULL;
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].item == item) {
            assert_null(found); /* once */
            found = &links->items[i];
        }
    return found;
}

/* Of what is found of a text the one that it is to be linked to. NULL: none */
static const struct doppel_semantic_link *expected_link(
    const struct doppel_semantic_results *results, uint64_t item, const bool *settled)
{
    const struct doppel_semantic_link *best = NULL;
    int looked = 0;
    for (size_t i = 0; i < results->count && looked < 8; i++) {
        const struct doppel_semantic_link *link = &results->links[i];
        if (link->of_item >= item || settled[link->of_item])
            continue;
        looked++;
        if (!best || link->query_coverage >= 0.5)
            best = link;
        if (best->query_coverage >= 0.5)
            break;
    }
    return best;
}

static void assert_same_link(const struct doppel_semantic_link *a,
                             const struct doppel_semantic_link *b)
{
    assert_int_equal(a->of_item, b->of_item);
    assert_true(fabsf(a->cosine - b->cosine) < 1e-5F);
    assert_true(a->false_positive_rate <= b->false_positive_rate * 1.001);
    assert_true(b->false_positive_rate <= a->false_positive_rate * 1.001);
    assert_int_equal(a->tier, b->tier);
    assert_int_equal(a->extent, b->extent);
    assert_int_equal(a->segment_count, b->segment_count);
}

/* Each text as it is found by itself. @return how many are linked */
static size_t compare_with_searches(struct linked_library *of, double rate, float cosine,
                                    const struct links *links)
{
    struct doppel_semantic *semantic = open_links(of, true, rate, cosine);
    struct doppel_semantic_results results = {0};
    bool settled[MOST_TEXTS + 1] = {false};
    size_t linked = 0;
    for (uint64_t item = 1; item <= MOST_TEXTS; item++) {
        const char *text = of->texts[item - 1];
        const struct one_link *own = link_of(links, item);
        assert_int_equal(doppel_semantic_search(semantic, text, strlen(text), &results, NULL),
                         DOPPEL_OK);
        const struct doppel_semantic_link *expected = expected_link(&results, item, settled);
        assert_int_equal(own != NULL, expected != NULL);
        if (!expected)
            continue;
        assert_same_link(&own->link, expected);
        settled[item] = expected->query_coverage >= 0.5;
        linked++;
    }
    doppel_semantic_results_free(&results);
    doppel_semantic_free(semantic);
    return linked;
}

static void links_are_what_is_found(void **state)
{
    static const struct {
        double rate;
        float cosine;
        size_t least;
    } cases[] = {{1e-3, 0, 2}, {1e-5, 0.93F, 55}, {1e-5, 0.8F, 65}, {0.01, 0, 55}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_semantic_links_summary summary;
        struct links links = {0};
        const struct doppel_semantic_links_options options = {.summary = &summary};
        assert_int_equal(find_links(*state, cases[i].rate, cases[i].cosine, options, &links),
                         DOPPEL_OK);
        const size_t linked = compare_with_searches(*state, cases[i].rate, cases[i].cosine, &links);
        assert_int_equal(linked, links.count);
        assert_int_equal(summary.linked, links.count);
        assert_int_equal(summary.texts, MOST_TEXTS);
        assert_true(summary.vectors > MOST_TEXTS + 20);
        if (linked < cases[i].least)
            fail_msg("%zu of case %zu are linked", linked, i);
        for (size_t j = 1; j < links.count; j++)
            assert_true(links.items[j - 1].of <= links.items[j].of);
    }
}

/* Links are scored by both texts' levels, searches by the query's: each with rates of its own, also
 * where one follows the other. */
static void scores_find_more(void **state)
{
    struct linked_library *of = *state;
    struct doppel_semantic_links_summary plain, scored;
    struct links links = {0};
    struct doppel_semantic_results first = {0}, second = {0};
    const char *text = of->texts[FAMILIES + 3];
    find_links(of, 0.002, 0, (struct doppel_semantic_links_options){.summary = &plain}, &links);
    of->scores = true;
    struct doppel_semantic *semantic = open_links(of, true, 0.002, 0);
    assert_int_equal(doppel_semantic_search(semantic, text, strlen(text), &first, NULL), DOPPEL_OK);
    links.count = 0;
    const struct doppel_semantic_links_options options = {.summary = &scored};
    assert_int_equal(doppel_semantic_links(semantic, &options, take_link, &links, NULL), DOPPEL_OK);
    assert_int_equal(doppel_semantic_search(semantic, text, strlen(text), &second, NULL),
                     DOPPEL_OK);
    assert_true(!plain.scored && scored.scored);
    print_message("%zu linked by cosines, %zu by scores\n", (size_t)plain.linked, links.count);
    assert_true(links.count > plain.linked);
    for (size_t i = 0; i < links.count; i++) {
        const struct doppel_semantic_link *link = &links.items[i].link;
        assert_true(link->has_score && link->score < link->cosine && link->tier);
        assert_true(link->false_positive_rate <= 0.002);
        assert_true(link->segment_count || link->score >= scored.min_cosine);
    }
    assert_true(first.count && first.count == second.count);
    for (size_t i = 0; i < first.count; i++) {
        assert_int_equal(first.links[i].of_item, second.links[i].of_item);
        assert_true(first.links[i].score == second.links[i].score);
        assert_true(first.links[i].false_positive_rate == second.links[i].false_positive_rate);
    }
    doppel_semantic_results_free(&first);
    doppel_semantic_results_free(&second);
    doppel_semantic_free(semantic);
}

/* Two files are as rare as what is found of the one, if the other is in the library. */
static void files_have_the_rate_of_what_is_found(void **state)
{
    struct linked_library *of = *state;
    for (int turn = 0; turn < 2; turn++) {
        of->scores = turn;
        struct doppel_semantic *semantic = open_links(of, true, 0.05, 0);
        struct doppel_semantic_results results = {0};
        const char *text = of->texts[turn ? FAMILIES + 3 : TEXTS + 1];
        char query[128], other[128];
        double rate = 7;
        snprintf(query, sizeof query, "%s/query.txt", of->folder.path);
        snprintf(other, sizeof other, "%s/other.txt", of->folder.path);
        made_file(query, text, strlen(text));
        assert_int_equal(doppel_semantic_search(semantic, text, strlen(text), &results, NULL),
                         DOPPEL_OK);
        assert_true(results.count > 1);
        for (size_t i = 0; i < results.count; i++) {
            const char *found = of->texts[results.links[i].of_item - 1];
            const double wanted = results.links[i].false_positive_rate;
            made_file(other, found, strlen(found));
            assert_int_equal(doppel_semantic_rate_files(semantic, query, other, &rate, NULL),
                             DOPPEL_OK);
            assert_true(fabs(rate - wanted) <= 0.01 * wanted);
        }
        made_file(other, "?", 1);
        assert_int_equal(doppel_semantic_rate_files(semantic, query, other, &rate, NULL),
                         DOPPEL_OK);
        assert_true(rate == 1);
        assert_int_equal(doppel_semantic_rate_files(semantic, query, "/absent", &rate, NULL),
                         DOPPEL_E_NOT_FOUND);
        doppel_semantic_results_free(&results);
        doppel_semantic_free(semantic);
    }
}

static void a_rate_that_cannot_be_told_links_nothing(void **state)
{
    struct doppel_semantic_links_summary summary;
    struct links links = {0};
    const struct doppel_semantic_links_options options = {.summary = &summary};
    assert_int_equal(find_links(*state, 1e-7, 0, options, &links), DOPPEL_OK);
    assert_int_equal(links.count, 0);
    assert_true(summary.min_cosine > 1);
    assert_int_equal(summary.texts, MOST_TEXTS);
}

/* ---- what is not linked ---- */

static void texts_of_one_group_are_not_linked(void **state)
{
    struct links links = {0};
    assert_int_equal(
        find_links(*state, 1e-5, 0.93F, (struct doppel_semantic_links_options){0}, &links),
        DOPPEL_OK);
    const struct one_link first = links.items[0], last = links.items[links.count - 1];
    const struct doppel_semantic_grouped grouped[] = {
        {first.of, 7}, {first.item, 7}, {last.item, 9}};
    assert_true(first.item < last.item && first.of < first.item);
    const struct doppel_semantic_links_options options = {.grouped = grouped, .grouped_count = 3};
    assert_int_equal(find_links(*state, 1e-5, 0.93F, options, &links), DOPPEL_OK);
    const struct one_link *other = link_of(&links, first.item);
    assert_true(!other || other->of != first.of);
    assert_int_equal(link_of(&links, last.item)->group, 9);
    assert_int_equal(link_of(&links, last.item)->of_group, 0);
}

static void only_the_wanted_are_linked(void **state)
{
    struct links all = {0}, links = {0};
    assert_int_equal(
        find_links(*state, 1e-5, 0.93F, (struct doppel_semantic_links_options){0}, &all),
        DOPPEL_OK);
    uint64_t ids[] = {all.items[0].of, all.items[0].item, all.items[all.count - 1].item};
    const struct doppel_item_set wanted = {true, ids, 3, 3};
    const struct doppel_semantic_links_options options = {.wanted = &wanted};
    assert_int_equal(find_links(*state, 1e-5, 0.93F, options, &links), DOPPEL_OK);
    assert_int_equal(links.count, 1);
    assert_int_equal(links.items[0].item, ids[1]);
    assert_int_equal(links.items[0].of, ids[0]);
}

static struct doppel_digest content_of(struct linked_library *of, uint64_t item)
{
    struct doppel_name name;
    assert_int_equal(doppel_library_name(of->library, item, &name, NULL), DOPPEL_OK);
    const struct doppel_digest content = name.content;
    doppel_name_free(&name);
    return content;
}

static void removed_and_distinct_texts_are_not_linked(void **state)
{
    struct linked_library *of = *state;
    struct links before = {0}, links = {0};
    const struct doppel_semantic_links_options options = {0};
    assert_int_equal(find_links(of, 1e-5, 0.93F, options, &before), DOPPEL_OK);
    const struct one_link first = before.items[0], last = before.items[before.count - 1];
    const struct doppel_digest a = content_of(of, first.item), b = content_of(of, first.of);
    assert_int_equal(doppel_library_begin(of->library, NULL, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_library_mark(of->library, &a, &b, NULL, DOPPEL_LABEL_DISTINCT, NULL, NULL),
        DOPPEL_OK);
    assert_int_equal(doppel_library_remove(of->library, last.of, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(of->library, NULL), DOPPEL_OK);
    open_linked_library(of, false);
    assert_int_equal(find_links(of, 1e-5, 0.93F, options, &links), DOPPEL_OK);
    const struct one_link *other = link_of(&links, first.item);
    assert_true(!other || other->of != first.of);
    for (size_t i = 0; i < links.count; i++)
        assert_true(links.items[i].of != last.of && links.items[i].item != last.of);
    assert_true(links.count + 3 >= before.count && links.count < before.count);
}

/* ---- what goes wrong ---- */

static void a_failure_ends_it(void **state)
{
    struct linked_library *of = *state;
    struct links links = {.returns = DOPPEL_E_NO_SPACE};
    const struct doppel_semantic_links_options options = {0};
    assert_int_equal(find_links(of, 1e-5, 0.93F, options, &links), DOPPEL_E_NO_SPACE);
    assert_int_equal(links.count, 1);
    struct doppel_semantic *semantic = open_links(of, false, 1e-5, 0.9F);
    struct doppel_semantic_results results = {0};
    assert_int_equal(doppel_semantic_search(semantic, "ma", 2, &results, NULL), DOPPEL_E_ARGUMENT);
    doppel_semantic_free(semantic);
    const struct doppel_semantic_options alone = {.text = doppel_text_options_default()};
    assert_int_equal(doppel_semantic_new(of->run, NULL, &alone, &semantic, NULL), DOPPEL_OK);
    assert_int_equal(doppel_semantic_links(semantic, &options, take_link, &links, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_semantic_free(semantic);
    doppel_run_cancel(of->run);
    links.returns = DOPPEL_OK;
    assert_int_equal(find_links(of, 1e-5, 0.8F, options, &links), DOPPEL_E_CANCELLED);
    assert_int_equal(links.count, 0);
}

static void a_link_is_written(void **state)
{
    static const struct doppel_semantic_segment segment = {0, 90, 10, 99, 0.93F};
    const struct doppel_name name = {
        .path = (char *)"a.jsonl", .record_id = (char *)"x", .line = 3};
    struct doppel_semantic_pair pair = {.item = 9,
                                        .name = &name,
                                        .of_group = 2,
                                        .link = {.of = "y",
                                                 .of_path = "a.jsonl",
                                                 .of_line = 1,
                                                 .of_item = 4,
                                                 .cosine = 0.95F,
                                                 .tier = DOPPEL_SEMANTIC_RELATED,
                                                 .false_positive_rate = 2e-5,
                                                 .expected = 0.25,
                                                 .query_coverage = 0.5,
                                                 .item_coverage = 0.25,
                                                 .extent = DOPPEL_RELATION_CONTAINED,
                                                 .segments = &segment,
                                                 .segment_count = 1}};
    struct doppel_json json = {0};
    (void)state;
    doppel_semantic_pair_to_json(&json, &pair);
    assert_int_equal(doppel_json_status(&json, NULL), DOPPEL_OK);
    static const char expected[] =
        "{\"kind\":\"text\",\"id\":9,\"path\":\"a.jsonl\",\"record\":\"x\",\"line\":3,\"semantic\":"
        "{\"item\":4,\"of\":\"y\",\"of_line\":1,\"of_group\":2,\"relation\":\"semantic\",\"tier\":"
        "\"related\",\"cosine\":0.95,\"false_positive_rate\":2e-5,\"expected\":0.25,\"extent\":"
        "\"contained\",\"query_coverage\":0.5,\"item_coverage\":0.25,\"segments\":[{\"a_start\":0,"
        "\"a_end\":90,\"b_start\":10,\"b_end\":99,\"cosine\":0.93}]}}";
    assert_int_equal(json.size, sizeof expected - 1);
    assert_memory_equal(json.bytes, expected, json.size);
    doppel_json_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_written),
        ON_A_LIBRARY(links_are_what_is_found),
        ON_A_LIBRARY(scores_find_more),
        ON_A_LIBRARY(files_have_the_rate_of_what_is_found),
        ON_A_LIBRARY(a_rate_that_cannot_be_told_links_nothing),
        ON_A_LIBRARY(texts_of_one_group_are_not_linked),
        ON_A_LIBRARY(only_the_wanted_are_linked),
        ON_A_LIBRARY(removed_and_distinct_texts_are_not_linked),
        ON_A_LIBRARY(a_failure_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
