/* Files that are linked by their meaning, against what they are to each other. */
#include "tests/search/linked_library.h"

#include <math.h>

struct file_links {
    struct doppel_semantic_file files[TEXTS];
    char paths[TEXTS][128];
    uint64_t foreseen, begun;
    enum doppel_status begins;
    size_t items[TEXTS], of[TEXTS], count;
    float cosines[TEXTS];
};

static size_t number_of_path(const struct file_links *links, const char *path)
{
    for (size_t i = 0; i < TEXTS; i++)
        if (strcmp(links->paths[i], path) == 0)
            return i;
    fail_msg("%s is no file of the test", path);
    return 0;
}

static enum doppel_status take_file_link(void *context, const struct doppel_semantic_pair *pair,
                                         struct doppel_error *error)
{
    struct file_links *links = context;
    (void)error;
    assert_int_equal(pair->item, 0);
    assert_int_equal(pair->link.of_item, 0);
    links->items[links->count] = number_of_path(links, pair->name->path);
    links->of[links->count] = number_of_path(links, pair->link.of_path);
    assert_int_equal(pair->group, links->files[links->items[links->count]].group);
    assert_int_equal(pair->of_group, links->files[links->of[links->count]].group);
    links->cosines[links->count++] = pair->link.cosine;
    return DOPPEL_OK;
}

static enum doppel_status foresee_files(void *context, const struct doppel_model_texts *texts,
                                        struct doppel_error *error)
{
    struct file_links *links = context;
    (void)error;
    assert_int_equal(links->begun, 0);
    links->foreseen += texts->count;
    return DOPPEL_OK;
}

static enum doppel_status begin_files(void *context, struct doppel_error *error)
{
    struct file_links *links = context;
    links->begun++;
    return links->begins ? doppel_fail(error, links->begins, "too dear") : DOPPEL_OK;
}

static struct file_links *write_files(const struct linked_library *of)
{
    struct file_links *links = calloc(1, sizeof *links);
    for (int i = 0; i < TEXTS; i++) {
        snprintf(links->paths[i], sizeof links->paths[i], "%s/f%03d.txt", of->folder.path, i);
        made_file(links->paths[i], of->texts[i], strlen(of->texts[i]));
        links->files[i].path = links->paths[i];
    }
    return links;
}

static enum doppel_status link_files(struct linked_library *of, struct file_links *links,
                                     float cosine, struct doppel_semantic_links_summary *summary)
{
    const struct doppel_semantic_files files = {links->files, TEXTS, foresee_files,
                                                begin_files,  links, summary};
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_semantic *semantic = NULL;
    options.embedder = of->embedder;
    options.min_cosine = cosine;
    options.max_fp_rate = 0.01;
    links->count = links->foreseen = links->begun = 0;
    assert_int_equal(doppel_semantic_new(of->run, NULL, &options, &semantic, NULL), DOPPEL_OK);
    enum doppel_status status =
        doppel_semantic_link_files(semantic, &files, take_file_link, links, NULL);
    doppel_semantic_free(semantic);
    return status;
}

/* The nearest earlier file that is not linked itself; its own number: none is near. */
static size_t nearest_earlier(struct doppel_semantic *semantic, const struct file_links *links,
                              size_t number, const bool *linked, float *out_cosine)
{
    size_t nearest = number;
    *out_cosine = 0.93F;
    for (size_t i = 0; i < number; i++) {
        float cosine;
        assert_int_equal(doppel_semantic_compare_files(semantic, links->paths[number],
                                                       links->paths[i], &cosine, NULL),
                         DOPPEL_OK);
        if (linked[i] || cosine < *out_cosine ||
            (links->files[i].reference && links->files[number].reference) ||
            (links->files[i].group && links->files[i].group == links->files[number].group))
            continue;
        nearest = i;
        *out_cosine = cosine;
    }
    return nearest;
}

static void compare_with_pairs(struct linked_library *of, const struct file_links *links)
{
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_semantic *semantic = NULL;
    bool linked[TEXTS] = {false};
    size_t expected = 0;
    options.embedder = of->embedder;
    assert_int_equal(doppel_semantic_new(of->run, NULL, &options, &semantic, NULL), DOPPEL_OK);
    for (size_t i = 0; i < TEXTS; i++) {
        float cosine;
        const size_t nearest = nearest_earlier(semantic, links, i, linked, &cosine);
        size_t at = 0;
        while (at < links->count && links->items[at] != i)
            at++;
        assert_int_equal(at < links->count, nearest < i);
        if (nearest == i)
            continue;
        assert_int_equal(links->of[at], nearest);
        assert_true(fabsf(links->cosines[at] - cosine) < 1e-5F);
        linked[i] = true;
        expected++;
    }
    assert_int_equal(expected, links->count);
    doppel_semantic_free(semantic);
}

static void files_are_linked_as_they_compare(void **state)
{
    struct file_links *links = write_files(*state);
    struct doppel_semantic_links_summary summary;
    assert_int_equal(link_files(*state, links, 0.93F, &summary), DOPPEL_OK);
    compare_with_pairs(*state, links);
    const size_t plain = links->count;
    assert_true(plain >= 45);
    assert_int_equal(summary.linked, plain);
    assert_int_equal(summary.texts, TEXTS);
    assert_int_equal(summary.vectors, TEXTS);
    assert_int_equal(links->foreseen, TEXTS);
    assert_int_equal(links->begun, 1);
    for (size_t i = 0; i < 100; i++) {
        links->files[i].reference = i < 95;
        links->files[i].group = i >= 80 ? i / 2 : 0;
    }
    links->files[105].group = links->files[links->of[0]].group = 7;
    assert_int_equal(link_files(*state, links, 0.93F, &summary), DOPPEL_OK);
    compare_with_pairs(*state, links);
    assert_true(links->count < plain);
    free(links);
}

/* Whitened, and by a rate: more of the right ones than without. */
static void files_are_linked_by_rate(void **state)
{
    struct file_links *links = write_files(*state);
    struct doppel_semantic_links_summary summary;
    size_t right = 0;
    assert_int_equal(link_files(*state, links, 0, &summary), DOPPEL_OK);
    assert_true(summary.min_cosine < 0.93F);
    for (size_t i = 0; i < links->count; i++)
        right += links->items[i] >= FAMILIES &&
                 links->of[i] == (links->items[i] - FAMILIES) * 7 % FAMILIES;
    if (right < 40 || links->count - right > 45)
        fail_msg("%zu of %zu are right", right, links->count);
    free(links);
}

/* ---- many of one meaning ---- */

enum { FAMILY = 1500 }; /* 1.1 million pairs */

struct family {
    struct doppel_semantic_file files[FAMILY];
    char paths[FAMILY][128];
    size_t linked;
};

/* The same meanings, each in one of three words. */
static void write_family(const struct linked_library *of, struct family *family)
{
    uint64_t seed = 5;
    for (int i = 0; i < FAMILY; i++) {
        char text[WORDS * 5 + 1] = "";
        for (int word = 0; word < WORDS; word++)
            sprintf(text + strlen(text), "m%c%c%c ", 'a' + (int)((made_random(&seed) + 1) * 1.5F),
                    'a' + word % 7, 'a' + word % 8);
        snprintf(family->paths[i], sizeof family->paths[i], "%s/m%04d.txt", of->folder.path, i);
        made_file(family->paths[i], text, strlen(text));
        family->files[i].path = family->paths[i];
    }
}

static enum doppel_status take_family_link(void *context, const struct doppel_semantic_pair *pair,
                                           struct doppel_error *error)
{
    struct family *family = context;
    (void)error;
    assert_string_equal(pair->link.of_path, family->paths[0]);
    family->linked++;
    return DOPPEL_OK;
}

/* All are linked to the first, though to none it is the nearest. */
static void many_of_one_meaning_have_one_representative(void **state)
{
    struct linked_library *of = *state;
    struct family *family = calloc(1, sizeof *family);
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_semantic *semantic = NULL;
    write_family(of, family);
    const struct doppel_semantic_files files = {.files = family->files, .count = FAMILY};
    options.embedder = of->embedder;
    options.min_cosine = 0.7F;
    assert_int_equal(doppel_semantic_new(of->run, NULL, &options, &semantic, NULL), DOPPEL_OK);
    assert_int_equal(doppel_semantic_link_files(semantic, &files, take_family_link, family, NULL),
                     DOPPEL_OK);
    assert_int_equal(family->linked, FAMILY - 1);
    doppel_semantic_free(semantic);
    free(family);
}

static void count_unreadable(void *context, const char *path, const struct doppel_error *reason)
{
    (void)reason;
    assert_non_null(strstr(path, "f010.txt"));
    ++*(int *)context;
}

static void a_file_that_is_gone_is_reported(void **state)
{
    struct linked_library *of = *state;
    struct file_links *links = write_files(of);
    struct doppel_semantic_links_summary summary;
    struct doppel_run_options options = doppel_run_options_default();
    struct doppel_run *run = of->run;
    int failed = 0;
    options.on_failed = count_unreadable;
    options.context = &failed;
    assert_int_equal(doppel_run_new(&options, &of->run, NULL), DOPPEL_OK);
    assert_int_equal(remove(links->paths[10]), 0);
    assert_int_equal(link_files(of, links, 0.93F, &summary), DOPPEL_OK);
    assert_int_equal(failed, 1);
    assert_int_equal(summary.texts, TEXTS - 1);
    assert_true(links->count > 40);
    links->begins = DOPPEL_E_LIMIT;
    assert_int_equal(link_files(of, links, 0.93F, NULL), DOPPEL_E_LIMIT);
    assert_int_equal(links->count, 0);
    doppel_run_cancel(of->run);
    links->begins = DOPPEL_OK;
    assert_int_equal(link_files(of, links, 0.93F, NULL), DOPPEL_E_CANCELLED);
    doppel_run_free(of->run);
    of->run = run;
    free(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_LIBRARY(files_are_linked_as_they_compare),
        ON_A_LIBRARY(files_are_linked_by_rate),
        ON_A_LIBRARY(many_of_one_meaning_have_one_representative),
        ON_A_LIBRARY(a_file_that_is_gone_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
