/* What people said of a library is honoured by ingest: words, lists, sources, policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/decide/ingest_case.h"
#include "tests/decide/sentences.h"

struct teller {
    struct bytes out; /* of each record: decision, reason, of, replaces */
    bool check;
    const char *source;
    const struct doppel_metadata *about;
    uint64_t last_item;
};

static bool take_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct teller *teller = context;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s%s%s\n", doppel_decision_name(decision->decision),
             decision->reason ? decision->reason : "-", decision->of ? decision->of : "-",
             decision->replaces ? " replaces " : "", decision->replaces ? decision->replaces : "");
    bytes_add_text(&teller->out, line);
    teller->last_item = decision->item;
    return true;
}

static void run(struct ingest_case *made, struct doppel_library *library, struct teller *teller,
                const char *lines)
{
    struct doppel_error error;
    case_write_text(made, lines);
    struct doppel_ingest_options options = ingest_options(&made->options);
    options.check = teller->check;
    options.source = teller->source;
    options.about = teller->about;
    if (doppel_ingest(library, &options, take_decision, teller, &error))
        fail_msg("%s", error.message);
}

/* Asked first, then ingested: both say this. @return the item of the last record */
static uint64_t says(struct ingest_case *made, struct doppel_library *library, const char *line,
                     const char *wanted)
{
    struct teller asked = {.check = true}, told = {0};
    run(made, library, &asked, line);
    run(made, library, &told, line);
    bytes_add(&asked.out, "", 1);
    bytes_add(&told.out, "", 1);
    assert_string_equal(asked.out.data, wanted);
    assert_string_equal(told.out.data, wanted);
    bytes_free(&asked.out);
    bytes_free(&told.out);
    return told.last_item;
}

#define LINE(id, text) "{\"id\":\"" id "\",\"text\":\"" text "\"}\n"

static struct doppel_digest content_of(const struct ingest_case *made, const char *words)
{
    struct doppel_text *text;
    struct doppel_text_result result;
    assert_int_equal(doppel_text_new(&made->options.text, &text, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_text_read(text, words, strlen(words), DOPPEL_TEXT_DIGEST, &result, NULL), DOPPEL_OK);
    doppel_text_free(text);
    return result.digest;
}

static void mark(const struct ingest_case *made, struct doppel_library *library, const char *a,
                 const char *b, enum doppel_manual_label word)
{
    struct doppel_digest one = content_of(made, a), other = content_of(made, b);
    assert_int_equal(doppel_library_mark(library, &one, &other, NULL, word, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
}

static void words(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made), *other = case_open(&made);
    says(&made, library, LINE("a", FOX "1"), "new - -\n");
    says(&made, library, LINE("b", FOX "2"), "duplicate near a\n");
    mark(&made, other, FOX "3", FOX "1", DOPPEL_LABEL_DISTINCT); /* by another process */
    struct teller told = {0};                                    /* a check may know of it later */
    run(&made, library, &told, LINE("c", FOX "3"));
    says(&made, library, LINE("d", FOX "3"), "duplicate same-content c\n");
    says(&made, library, LINE("e", FOX "4"), "duplicate near a\n");
    mark(&made, library, KETTLE, FOX "2", DOPPEL_LABEL_SAME); /* which follows a */
    says(&made, library, LINE("f", KETTLE), "duplicate marked a\n");
    says(&made, library, LINE("g", KETTLE), "duplicate same-content a\n");
    mark(&made, library, "hi", KETTLE, DOPPEL_LABEL_SAME); /* too short to be near anything */
    says(&made, library, LINE("h", "hi"), "duplicate marked a\n");
    mark(&made, library, "ho", "nowhere", DOPPEL_LABEL_SAME); /* what is not there */
    says(&made, library, LINE("i", "ho"), "too_short - -\n");
    bytes_add(&told.out, "", 1);
    assert_string_equal(told.out.data, "new - -\n");
    bytes_free(&told.out);
    doppel_library_close(other);
    doppel_library_close(library);
    library = case_open(&made); /* from the tables, the same */
    says(&made, library, LINE("j", KETTLE), "duplicate same-content a\n");
    says(&made, library, LINE("k", FOX "5"), "duplicate near a\n");
    mark(&made, library, FOX "6", FOX "2", DOPPEL_LABEL_DISTINCT); /* which follows a */
    says(&made, library, LINE("l", FOX "6"), "duplicate near c\n");
    says(&made, library, LINE("m", FOX "7"), "duplicate near a\n");
    doppel_library_close(library);
    case_end(&made);
}

static void put_on(struct doppel_library *library, uint64_t item, const char *list,
                   enum doppel_list_state list_state)
{
    char *lists[] = {(char *)(uintptr_t)list};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1};
    assert_int_equal(doppel_library_set_list(library, list, list_state, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(library, item, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
}

static void disabled_lists(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    uint64_t a = says(&made, library, LINE("a", FOX "1"), "new - -\n");
    put_on(library, a, "old", DOPPEL_LIST_DISABLED);
    says(&made, library, LINE("b", FOX "1"), "new - -\n");
    says(&made, library, LINE("c", FOX "1"), "duplicate same-content b\n");
    says(&made, library, LINE("d", FOX "2"), "duplicate near b\n");
    put_on(library, a, "current", DOPPEL_LIST_ACTIVE); /* one of its lists is active */
    says(&made, library, LINE("e", FOX "3"), "duplicate near a\n");
    doppel_library_close(library);
    library = case_open(&made);
    says(&made, library, LINE("f", FOX "4"), "duplicate near a\n");
    assert_int_equal(doppel_library_set_list(library, "current", DOPPEL_LIST_DISABLED, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    says(&made, library, LINE("g", FOX "5"), "duplicate near b\n");
    doppel_library_close(library);
    library = case_open(&made);
    says(&made, library, LINE("h", FOX "1"), "duplicate same-content b\n");
    doppel_library_close(library);
    case_end(&made);
}

static void benign_lists(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    uint64_t a = says(&made, library, LINE("a", FOX "1"), "new - -\n");
    put_on(library, a, "notices", DOPPEL_LIST_BENIGN);
    says(&made, library, LINE("b", FOX "1"), "new benign a\n");
    says(&made, library, LINE("c", FOX "2"), "new benign a\n");
    says(&made, library, LINE("d", FOX "2"), "new benign c\n"); /* which is near a, too */
    says(&made, library, LINE("e", KETTLE), "new - -\n");
    says(&made, library, LINE("f", KETTLE " " FOX "1"), "revision contains e\n");
    says(&made, library,
         LINE("g", "the old fox lives in the deep wood behind the long hill where the brown bear"),
         "new benign a\n");
    doppel_library_close(library);
    library = case_open(&made);
    says(&made, library, LINE("h", FOX "3"), "new benign a\n");
    doppel_library_close(library);
    case_end(&made);
}

/* ---- which one is kept ---- */

#define FROM(id, source, date, text)                                                               \
    "{\"id\":\"" id "\",\"source\":\"" source "\",\"date\":\"" date "\",\"text\":\"" text "\"}\n"

static uint64_t canonical_of(struct doppel_library *library, uint64_t leader)
{
    uint64_t id = 0;
    assert_int_equal(doppel_library_canonical(library, leader, &id, NULL), DOPPEL_OK);
    return id;
}

struct lines {
    uint64_t item, former, of;
    char reason[32];
    unsigned count;
};

static bool take_canonical(void *context, const struct doppel_log_entry *entry,
                           const struct doppel_error *error)
{
    struct lines *lines = context;
    assert_int_equal(error->status, DOPPEL_OK);
    if (entry->action != DOPPEL_LOG_CANONICAL)
        return true;
    lines->item = entry->item;
    lines->former = entry->former;
    lines->of = entry->of;
    lines->count++;
    snprintf(lines->reason, sizeof lines->reason, "%s", entry->reason);
    return true;
}

static void better_sources(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    uint64_t a = says(&made, library, FROM("a", "blog", "2024", FOX "1"), "new - -\n");
    /* nothing was said: a longer, older one of another source is no better */
    says(&made, library, FROM("b", "pib.gov.in", "2001", FOX "2 and more"), "duplicate near a\n");
    assert_int_equal(canonical_of(library, a), a);
    assert_int_equal(doppel_library_set_source(library, "*.gov.in", 100, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    says(&made, library, FROM("c", "other blog", "2001", FOX "3 and more"), "duplicate near a\n");
    uint64_t d = says(&made, library, FROM("d", "pib.gov.in", "2024", FOX "4"),
                      "duplicate near a replaces a\n");
    assert_int_equal(canonical_of(library, a), d);
    says(&made, library, FROM("e", "x.gov.in", "2001", FOX "5"), "duplicate near a\n");
    says(&made, library, FROM("f", "x.gov.in", "2001", FOX "1"), "duplicate same-content a\n");
    struct lines lines = {0};
    const struct doppel_log_query all = {0};
    assert_int_equal(doppel_library_each_log(library, &all, take_canonical, &lines, NULL),
                     DOPPEL_OK);
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.item, d);
    assert_int_equal(lines.former, a);
    assert_int_equal(lines.of, a);
    assert_string_equal(lines.reason, "authority");
    doppel_library_close(library);
    case_end(&made);
}

/* `replaces` and the library say the same: the newer one is the one to keep. */
static void newer_ones(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    uint64_t a = says(&made, library, FROM("a", "s", "2020", FOX "1"), "new - -\n");
    uint64_t b =
        says(&made, library, FROM("b", "s", "2021", FOX "2"), "revision newer a replaces a\n");
    assert_int_equal(canonical_of(library, a), b);
    says(&made, library, FROM("c", "t", "2022", FOX "3"), "duplicate near a\n");
    assert_int_equal(canonical_of(library, a), b);
    uint64_t d =
        says(&made, library, FROM("b", "s", "2022", FOX "4"), "revision same-id b replaces b\n");
    assert_int_equal(canonical_of(library, a), d);
    struct lines lines = {0};
    const struct doppel_log_query all = {0};
    assert_int_equal(doppel_library_each_log(library, &all, take_canonical, &lines, NULL),
                     DOPPEL_OK);
    assert_int_equal(lines.count, 2);
    assert_int_equal(lines.item, d);
    assert_int_equal(lines.former, b);
    assert_string_equal(lines.reason, "same-id");
    doppel_library_close(library);
    case_end(&made);
}

static void policies(void **state)
{
    (void)state;
    struct ingest_case made;
    struct doppel_keep_policy policy;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    assert_int_equal(doppel_keep_policy_parse("size,date,name", &policy, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_policy(library, &policy, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    says(&made, library, FROM("aaaa", "s", "2020", FOX "1"), "new - -\n");
    says(&made, library, FROM("b", "t", "2020", FOX "2"), "duplicate near aaaa\n"); /* by name */
    says(&made, library, FROM("c", "t", "2024", FOX "3 4"),
         "duplicate near aaaa replaces aaaa\n"); /* more words */
    says(&made, library, FROM("d", "t", "2021", FOX "3  4!"),
         "duplicate same-content aaaa replaces c\n"); /* as many, older */
    says(&made, library, FROM("e", "t", "2021", FOX "5 6"), "duplicate near aaaa\n");
    says(&made, library,
         "{\"id\":\"f\",\"text\":\"" FOX "5 7"
         "\"}\n",
         "duplicate near aaaa\n");
    doppel_library_close(library);
    case_end(&made);
}

/* A file of text that a record is a duplicate of: by authority alone. */
static void files_and_sources(void **state)
{
    (void)state;
    struct ingest_case made;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    says(&made, library, LINE("a", KETTLE), "new - -\n");
    uint64_t file = case_add_file(&made, library, "fox.txt", FOX "1");
    assert_int_equal(doppel_library_set_source(library, "good", 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    says(&made, library, FROM("b", "bad", "2020", FOX "2"), "duplicate near -\n");
    assert_int_equal(canonical_of(library, file), file);
    uint64_t c = says(&made, library, FROM("c", "good", "2020", FOX "3"), "duplicate near -\n");
    assert_int_equal(canonical_of(library, file), c);
    doppel_library_close(library);
    case_end(&made);
}

/* ---- what is said of what comes in ---- */

static void said_of_all(void **state)
{
    (void)state;
    struct ingest_case made;
    char *lists[] = {"web"}, *labels[] = {"new", "unread"};
    const struct doppel_metadata said = {
        .lists = lists, .list_count = 1, .labels = labels, .label_count = 2, .meta = "{\"run\":7}"};
    struct doppel_metadata about;
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    struct teller told = {.source = "crawl", .about = &said};
    run(&made, library, &told, LINE("a", FOX "1"));
    assert_int_equal(doppel_library_get_metadata(library, told.last_item, &about, NULL), DOPPEL_OK);
    assert_string_equal(about.source, "crawl");
    assert_int_equal(about.list_count, 1);
    assert_string_equal(about.lists[0], "web");
    assert_int_equal(about.label_count, 2);
    assert_string_equal(about.meta, "{\"run\":7}");
    doppel_metadata_free(&about);
    run(&made, library, &told, FROM("b", "own", "2024", FOX "1"));
    assert_int_equal(doppel_library_get_metadata(library, told.last_item, &about, NULL), DOPPEL_OK);
    assert_string_equal(about.source, "own");
    assert_int_equal(about.list_count, 1);
    doppel_metadata_free(&about);
    bytes_free(&told.out);
    /* the source decides as the record's own */
    struct teller later = {.source = "crawl"};
    run(&made, library, &later,
        "{\"id\":\"c\",\"date\":\"2023\",\"text\":\"" KETTLE "\"}\n"
        "{\"id\":\"d\",\"date\":\"2024\",\"text\":\"" KETTLE " and all\"}\n");
    bytes_add(&later.out, "", 1);
    assert_string_equal(later.out.data, "new - -\nrevision newer c replaces c\n");
    bytes_free(&later.out);
    doppel_library_close(library);
    case_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(disabled_lists),
        cmocka_unit_test(benign_lists),
        cmocka_unit_test(better_sources),
        cmocka_unit_test(newer_ones),
        cmocka_unit_test(policies),
        cmocka_unit_test(files_and_sources),
        cmocka_unit_test(said_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
