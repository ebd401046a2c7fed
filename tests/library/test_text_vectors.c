/* Which texts of a library have vectors: noted, handed on, and who lacks some. */
#include "tests/library/fixture.h"

enum { LANES = 128 };

static uint64_t add_text_like(struct doppel_library *library, uint8_t content, uint64_t leader)
{
    static const uint16_t lanes[LANES];
    const struct doppel_library_text text = {.content = {.bytes = {content, 1}},
                                             .words = 20,
                                             .too_short = content == 9,
                                             .leads = !leader,
                                             .leader = leader,
                                             .lanes = lanes,
                                             .lane_count = LANES};
    struct doppel_error error;
    uint64_t id = 0;
    if (doppel_library_add_text(library, &text, &id, &error))
        fail_msg("%s", error.message);
    return id;
}

static struct doppel_library *open_with_texts(const char *folder)
{
    const struct doppel_text_options options = doppel_text_options_default();
    const struct doppel_text_limits limits = {0.7, 0.9};
    struct doppel_library *library = open_library(folder);
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    return library;
}

static void note(struct doppel_library *library, uint64_t item, uint64_t chunks)
{
    const struct doppel_library_vectors vectors = {item, item, chunks, "words"};
    assert_int_equal(doppel_library_note_vectors(library, &vectors, NULL), DOPPEL_OK);
}

static uint64_t owner_of(struct doppel_library *library, uint64_t number)
{
    uint64_t item = 77;
    assert_int_equal(doppel_library_vectors_of(library, number, &item, NULL), DOPPEL_OK);
    return item;
}

static bool lacks(struct doppel_library *library, uint64_t item)
{
    bool lacks = false;
    assert_int_equal(doppel_library_lacks_vectors(library, item, 10, &lacks, NULL), DOPPEL_OK);
    return lacks;
}

static void expect_count(struct doppel_library *library, uint64_t texts, uint64_t chunks)
{
    struct doppel_library_vectors_count count;
    assert_int_equal(doppel_library_count_vectors(library, &count, NULL), DOPPEL_OK);
    assert_int_equal(count.texts, texts);
    assert_int_equal(count.chunks, chunks);
    assert_string_equal(count.model, texts ? "words" : "");
}

static bool sum_numbers(void *context, const struct doppel_library_vectors *vectors)
{
    uint64_t *sum = context;
    *sum = *sum * 10 + vectors->number;
    return vectors->number != 3;
}

static void what_is_noted_is_counted_and_forgotten(void **state)
{
    struct doppel_library *library = open_with_texts(*state);
    uint64_t sum = 0;
    for (uint8_t i = 1; i <= 4; i++)
        assert_int_equal(add_text_like(library, i, 0), i);
    expect_count(library, 0, 0);
    for (uint64_t i = 4; i > 0; i--)
        note(library, i, 10 * i);
    note(library, 2, 1); /* in place of 20 */
    commit(library);
    expect_count(library, 4, 81);
    assert_int_equal(doppel_library_each_vectors(library, sum_numbers, &sum, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(sum, 123);
    assert_int_equal(doppel_library_forget_vectors(library, 4, NULL), DOPPEL_OK);
    expect_count(library, 3, 41);
    assert_int_equal(doppel_library_forget_vectors(library, 0, NULL), DOPPEL_OK);
    expect_count(library, 0, 0);
    assert_int_equal(owner_of(library, 3), 3); /* what is not known */
    doppel_library_close(library);
}

static void equal_texts_have_them_one_after_the_other(void **state)
{
    struct doppel_library *library = open_with_texts(*state);
    uint64_t number = 0;
    add_text_like(library, 1, 0);
    add_text_like(library, 2, 1); /* near it, not equal */
    add_text_like(library, 1, 1);
    add_text_like(library, 1, 1);
    add_text_like(library, 1, 0); /* equal, and of nobody's group */
    note(library, 1, 5);
    const uint64_t heirs[] = {1, 3, 4, 0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(owner_of(library, 1), heirs[i]);
        assert_int_equal(doppel_library_next_lost_vectors(library, &number, NULL),
                         DOPPEL_E_NOT_FOUND);
        expect_count(library, 1, 5);
        assert_int_equal(doppel_library_remove(library, heirs[i], NULL), DOPPEL_OK);
    }
    assert_int_equal(owner_of(library, 1), 0);
    assert_int_equal(doppel_library_next_lost_vectors(library, &number, NULL), DOPPEL_OK);
    assert_int_equal(number, 1);
    expect_count(library, 0, 0);
    doppel_library_close(library);
}

static void who_lacks_them(void **state)
{
    struct doppel_library *library = open_with_texts(*state);
    const uint64_t first = add_text_like(library, 1, 0);
    const uint64_t follower = add_text_like(library, 1, first);
    const uint64_t brief = add_text_like(library, 9, 0);
    assert_true(lacks(library, first) && lacks(library, follower));
    assert_false(lacks(library, brief) || lacks(library, 99));
    note(library, first, 1);
    assert_false(lacks(library, first) || lacks(library, follower));
    assert_int_equal(doppel_library_forget_vectors(library, first, NULL), DOPPEL_OK);
    note(library, follower, 1);
    assert_false(lacks(library, follower));
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_noted_is_counted_and_forgotten),
        IN_FOLDER(equal_texts_have_them_one_after_the_other),
        IN_FOLDER(who_lacks_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
