/* dedup: a corpus in, a decision for each line out, or the lines themselves. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "collection.h"
#include "writer.h"

/* Texts of a hundred words and more, what can be decided of them, and what is broken. */
static void make_corpus(const char *path)
{
    char *text = write_words(1, 120), *other = write_words(2, 200), *longer = write_words(1, 124);
    char *shouted = in_capitals(write_words(1, 120));
    for (char *texts[] = {text, other, longer, shouted}, **at = texts; at < texts + 4; at++)
        for (char *byte = *at; *byte; byte++)
            if (*byte == '\n')
                *byte = ' ';
    FILE *file = fopen(path, "w");
    fprintf(file, "{\"id\":\"a\",\"text\":\"%s\"}\n", text);
    fprintf(file, "{\"id\":\"b\", \"text\":\"%s!\" }\n", shouted);
    fprintf(file, "{\"id\":7,\"text\":\"%s\"}\n", longer);
    fprintf(file, "\n{\"text\":\"%s\",\"source\":\"s\",\"date\":\"2024-01-01\"}\n", other);
    fprintf(file,
            "{\"id\":\"newer\",\"text\":\"%s more\",\"source\":\"s\",\"date\":\"2024-02-01\"}\n",
            other);
    fprintf(file, "{\"id\":\"short\",\"text\":\"Hello, world\"}\n");
    fprintf(file, "{\"id\":\"again\",\"text\":\"hello WORLD\"}\n");
    fprintf(file, "{\"id\":\"short\",\"text\":\"Hello, moon\"}\n");
    fprintf(file, "{\"id\":\"broken\",\"text\":\"Hel\n");
    fprintf(file, "{\"id\":\"empty\"}\n");
    fclose(file);
    free(text);
    free(other);
    free(longer);
    free(shouted);
}

/* The decisions in few words: "1 new, 2 duplicate of 1 same-content, …". Each line is JSON. */
static char *in_words(const char *json_lines)
{
    size_t size, capacity = strlen(json_lines) + 1;
    char *out = calloc(capacity, 1);
    for (const char *line = json_lines; *line; line += size + 1) {
        size = strcspn(line, "\n");
        json_t *row = json_loadb(line, size, 0, NULL);
        assert_non_null(row);
        const char *decision = json_string_value(json_object_get(row, "decision"));
        const json_t *of = json_object_get(row, "of_line");
        assert_non_null(decision);
        size_t used = strlen(out);
        snprintf(out + used, capacity - used, "%s%lld %s", used ? ", " : "",
                 json_integer_value(json_object_get(row, "line")), decision);
        used = strlen(out);
        if (of)
            snprintf(out + used, capacity - used, " of %lld %s", json_integer_value(of),
                     json_string_value(json_object_get(row, "reason")));
        json_decref(row);
    }
    return out;
}

static void each_line_is_decided(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    struct ran ran = doppel("dedup", "a.jsonl");
    assert_code(&ran, 3);
    char *words = in_words(ran.out);
    assert_string_equal(words,
                        "1 new, 2 duplicate of 1 same-content, 3 duplicate of 1 near, 5 new, "
                        "6 revision of 5 newer, 7 too_short, 8 duplicate of 7 same-content, "
                        "9 revision of 7 same-id, 10 unreadable, 11 unreadable");
    assert_true(reported(ran.err, "a.jsonl:10"));
    assert_true(reported(ran.err, "a.jsonl:11"));
    assert_has(ran.out, "\"reason\":\"newer\",\"kind\":\"text\",\"scheme\":\"minhash128\"");
    assert_has(ran.out, "\"added\":0.00");
    assert_has(ran.out, "\"verified\":\"exact\"");
    free(words);
    ran_free(&ran);
    ran = doppel("dedup", "a.jsonl");
    assert_has(ran.err, "10 records, 2 new, 3 duplicate, 2 revision, 1 too_short, 2 unreadable; 3 "
                        "unique; ");
    assert_has(ran.err, " records/s, ");
    ran_free(&ran);
}

static void lines_are_kept_dropped_or_annotated(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    char *unique = doppel_prints(3, "dedup", "-q", "a.jsonl", "--emit", "unique");
    char *duplicates = doppel_prints(3, "dedup", "a.jsonl", "--emit", "duplicates");
    char *unreadable = doppel_prints(3, "dedup", "a.jsonl", "--emit=unreadable");
    char *annotated = doppel_prints(3, "dedup", "a.jsonl", "--emit=annotated");
    assert_int_equal(count_lines(unique, ""), 3); /* a, the newer one, and the other "short" */
    assert_has(unique, "{\"id\":\"newer\"");
    assert_has(unique, "moon");
    assert_int_equal(count_lines(duplicates, ""), 5);
    assert_has(duplicates, "{\"id\":7,");
    assert_int_equal(count_lines(unreadable, ""), 2);
    assert_int_equal(count_lines(annotated, "\"doppel\":{"), 10);
    for (const char *line = annotated; *line; line += strcspn(line, "\n") + 1) {
        json_t *row = json_loadb(line, strcspn(line, "\n"), 0, NULL);
        assert_non_null(json_object_get(json_object_get(row, "doppel"), "decision"));
        if (!strstr(line, "\"unreadable\""))
            assert_non_null(json_object_get(row, "text"));
        json_decref(row);
    }
    free(unreadable);
    free(unique);
    free(duplicates);
    free(annotated);
}

/* A corpus that is split has all its lines in one of the parts, whatever they are. */
static void a_split_loses_no_line(void **state)
{
    static const char *const parts[] = {"unique", "duplicates", "unreadable"};
    static const char corpus[] = "{\"id\":1,\"text\":\"one two three four five six seven eight\"}\n"
                                 "{\"id\":2,\"body\":\"elsewhere\"}\n"
                                 "no JSON \"at all\"\n"
                                 "{\"id\":3,\"text\":5}\n"
                                 "{\"id\":4,\"text\":\"one two three four five six seven eight\"}\n"
                                 "{\"id\":5,\"text\":\"it does not end\n";
    size_t lines = 0, bytes = 0;
    (void)state;
    write_file("corpus.jsonl", corpus, strlen(corpus));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *part = doppel_prints(3, "dedup", "corpus.jsonl", "--emit", parts[i]);
        lines += count_lines(part, "");
        bytes += strlen(part);
        free(part);
    }
    assert_int_equal(lines, 6);
    assert_int_equal(bytes, strlen(corpus));
    struct ran ran =
        doppel("ingest", "-L", "library", "--jsonl", "corpus.jsonl", "--emit", "unreadable");
    assert_has(ran.out, "no JSON \"at all\"\n");
    assert_has(ran.out, "\"body\":\"elsewhere\"}\n");
    assert_int_equal(count_lines(ran.out, ""), 4);
    ran_free(&ran);
}

/* What is wrong with each line is said of the first ones. */
static void a_reason_is_not_repeated_for_ever(void **state)
{
    (void)state;
    FILE *file = fopen("many.jsonl", "w");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "{\"id\":%d,\"body\":\"some words\"}\n", i);
    fprintf(file, "no JSON\n{\"id\":\"last\",\"text\":\"has one\"}\n");
    fclose(file);
    struct ran ran = doppel("dedup", "many.jsonl");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, ""), 1002);
    assert_int_equal(count_lines(ran.err, ""), 13);
    assert_has(ran.err,
               "many.jsonl:10: the record has neither \"text\" nor \"path\", but \"body\"");
    assert_has(ran.err, "many.jsonl: 990 more records like these: ");
    assert_has(ran.err, "many.jsonl:1001: not a JSON object");
    ran_free(&ran);
    const struct setting shell = {.program = "/bin/sh"};
    ran = doppel_with(&shell, "-c",
                      "mkdir in; for i in $(seq 20); do cp many.jsonl in/$i.jsonl; done; "
                      "exec " DOPPEL_PROGRAM " dedup in");
    assert_int_equal(count_lines(ran.err, "doppel: in/"), 20); /* of two kinds, ten each */
    assert_has(ran.err, "doppel: in 20 files: 19990 more records like these: the record has ");
    assert_has(ran.err, "doppel: in 10 files: 10 more records like these: not a JSON object");
    ran_free(&ran);
    ran = doppel("dedup", "-v", "many.jsonl");
    assert_true(count_lines(ran.err, "") > 1000);
    ran_free(&ran);
}

/* So many lines, with the text in another field. */
static void records_with(const char *name, int count)
{
    FILE *file = fopen("records.jsonl", "w");
    for (int i = 0; i < count; i++)
        fprintf(file, "{\"id\":%d,\"%s\":\"words of record %d\"}\n", i, name, i);
    fclose(file);
}

static void assert_names_the_fields(struct ran ran, unsigned answered)
{
    assert_code(&ran, 2);
    assert_int_equal(count_lines(ran.out, ""), answered);
    assert_has(ran.err, "has a text: the record has neither \"text\" nor \"path\", but \"body\"; "
                        "name the field that has its text, or its path\n");
    ran_free(&ran);
}

/* Of a file nothing is decided, of a pipe what its writer waits for. */
static void a_field_that_no_record_has_ends_the_run(void **state)
{
    (void)state;
    records_with("body", 3);
    assert_names_the_fields(doppel("dedup", "records.jsonl"), 0);
    assert_names_the_fields(doppel("dedup", "--unit", "paragraph", "records.jsonl"), 0);
    assert_names_the_fields(doppel("ingest", "-L", "l", "--jsonl", "records.jsonl"), 0);
    records_with("body", 30000);
    assert_names_the_fields(doppel("dedup", "records.jsonl"), 0);
    records_with("body", 1500);
    const struct setting shell = {.program = "/bin/sh"};
    static const char piped[] = "cat records.jsonl | " DOPPEL_PROGRAM " ingest -L l -";
    struct ran ran = doppel_with(&shell, "-c", piped);
    assert_true(count_lines(ran.out, "unreadable") < 1000);
    assert_names_the_fields(ran, count_lines(ran.out, ""));
    records_with("body", 3); /* these may be what a stream begins with */
    ran = doppel_with(&shell, "-c", piped);
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, "unreadable"), 3);
    ran_free(&ran);
    free(doppel_prints(0, "dedup", "--text-field", "body", "records.jsonl"));
}

static void an_annotated_corpus_is_annotated_anew(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    char *once = doppel_prints(3, "dedup", "a.jsonl", "--emit", "annotated");
    write_file("once.jsonl", once, strlen(once));
    char *twice = doppel_prints(3, "dedup", "once.jsonl", "--emit", "annotated");
    assert_int_equal(count_lines(once, ""), count_lines(twice, ""));
    for (const char *line = twice; *line; line += strcspn(line, "\n") + 1) {
        json_t *row = json_loadb(line, strcspn(line, "\n"), JSON_REJECT_DUPLICATES, NULL);
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(row, "doppel"), "path")),
            "once.jsonl");
        json_decref(row);
    }
    free(once);
    free(twice);
}

static void standard_input_and_limits_change_nothing(void **state)
{
    (void)state;
    size_t size;
    make_corpus("a.jsonl");
    char *corpus = read_file("a.jsonl", &size);
    char *plain = doppel_prints(3, "dedup", "a.jsonl", "--emit", "unique");
    char *small = doppel_prints(3, "dedup", "a.jsonl", "--emit", "unique", "--memory", "1K", "-j",
                                "3", "--temporary", ".");
    assert_string_equal(plain, small);
    const struct setting input = {.input = corpus, .input_size = size};
    struct ran ran = doppel_with(&input, "dedup", "-", "--emit", "unique", "--keep-shingles");
    assert_code(&ran, 3);
    assert_string_equal(ran.out, plain);
    assert_true(reported(ran.err, "-:10"));
    ran_free(&ran);
    free(corpus);
    free(plain);
    free(small);
}

static void same_ids_and_limits_are_settable(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    char *skip = doppel_prints(3, "dedup", "a.jsonl", "--on-same-id", "skip");
    assert_has(skip, "\"line\":9,\"decision\":\"duplicate\",\"of\":\"short\"");
    char *conflict = doppel_prints(3, "dedup", "a.jsonl", "--on-same-id", "error");
    assert_has(conflict, "\"line\":9,\"decision\":\"conflict\"");
    char *strict = doppel_prints(3, "dedup", "a.jsonl", "--min-similarity", "0.99", "--lanes",
                                 "256", "--min-containment", "1");
    assert_has(strict, "\"line\":3,\"decision\":\"revision\"");
    assert_has(strict, "\"scheme\":\"minhash256\",\"relation\":\"contains\"");
    free(skip);
    free(conflict);
    free(strict);
}

static void a_library_comes_first(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    char *ingested = doppel_prints(3, "ingest", "-L", "lib", "--jsonl", "a.jsonl");
    char *words = write_words(1, 122);
    for (char *byte = words; *byte; byte++)
        if (*byte == '\n')
            *byte = ' ';
    FILE *file = fopen("b.jsonl", "w");
    fprintf(file, "{\"id\":\"late\",\"text\":\"%s\"}\n", words);
    fclose(file);
    char *late = doppel_prints(0, "dedup", "--against", "lib", "b.jsonl");
    assert_has(late, "\"decision\":\"duplicate\",\"of\":\"a\",\"of_item\":1,");
    assert_has(late, "\"verified\":\"exact\"");
    struct ran ran = doppel("dedup", "--against", "lib", "--shingle", "3", "b.jsonl");
    assert_code(&ran, 2);
    ran_free(&ran);
    ran = doppel("dedup", "--against", "nowhere", "b.jsonl");
    assert_code(&ran, 2);
    ran_free(&ran);
    free(late);
    free(words);
    free(ingested);
}

static void what_cannot_be_done_is_said(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    static const char *const wrong[][5] = {
        {"dedup"},
        {"dedup", "a.jsonl", "--scheme", "simhash64"},
        {"dedup", "a.jsonl", "--bands", "40", "--rows=4"},
        {"dedup", "a.jsonl", "--emit", "unique", "--format=csv"},
        {"dedup", "a.jsonl", "--memory=1", "--temporary", "/nowhere"},
        {"dedup", "a.jsonl", "--on-same-id", "maybe"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = doppel(wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3], wrong[i][4]);
        assert_code(&ran, 2);
        assert_true(ran.err_size > 10);
        ran_free(&ran);
    }
    const struct setting closed = {.closed_pipe = true};
    struct ran ran = doppel_with(&closed, "dedup", "-q", "a.jsonl");
    assert_code(&ran, 141);
    ran_free(&ran);
    ran = doppel("dedup", "nothing.jsonl");
    assert_code(&ran, 3);
    assert_has(ran.out, "\"path\":\"nothing.jsonl\",\"decision\":\"unreadable\"");
    ran_free(&ran);
}

static void a_missing_file_is_no_record(void **state)
{
    (void)state;
    make_corpus("a.jsonl");
    struct ran ran = doppel("dedup", "-q", "nothing.jsonl", "a.jsonl", "--progress", "json");
    assert_code(&ran, 3);
    assert_has(ran.err, "\"summary\":{\"records\":10,");
    assert_has(ran.err, "\"unreadable\":2,");
    assert_has(ran.err, "\"unread_files\":1,");
    assert_has(ran.err, "\"sources\":[{\"source\":\"a.jsonl\",\"records\":8,\"unique\":2},");
    ran_free(&ran);
    ran = doppel("dedup", "nothing.jsonl", "nor.jsonl");
    assert_code(&ran, 3);
    assert_has(ran.err, "doppel: 0 records; 0 unique; 2 files not read; ");
    ran_free(&ran);
}

/* What was read until then is decided. */
static void an_interrupt_ends_the_reading(void **state)
{
    (void)state;
    FILE *file = fopen("many.jsonl", "w");
    char *text = write_words(1, 400);
    for (char *byte = text; *byte; byte++)
        if (*byte == '\n')
            *byte = ' ';
    for (int i = 0; i < 100000; i++)
        fprintf(file, "{\"id\":%d,\"text\":\"number %d %s\"}\n", i, i, text);
    fclose(file);
    free(text);
    struct running running =
        command_start(NULL, (const char *const[]){"dedup", "-j1", "many.jsonl", NULL});
    pause_ms(60);
    kill(running.pid, SIGINT);
    struct ran ran = command_end(&running);
    assert_code(&ran, 130);
    size_t lines = count_lines(ran.out, "");
    assert_true(lines < 100000);
    assert_int_equal(count_lines(ran.out, "\"decision\":"), lines);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_missing_file_is_no_record),
        IN_SANDBOX(each_line_is_decided),
        IN_SANDBOX(lines_are_kept_dropped_or_annotated),
        IN_SANDBOX(a_split_loses_no_line),
        IN_SANDBOX(a_reason_is_not_repeated_for_ever),
        IN_SANDBOX(a_field_that_no_record_has_ends_the_run),
        IN_SANDBOX(an_annotated_corpus_is_annotated_anew),
        IN_SANDBOX(standard_input_and_limits_change_nothing),
        IN_SANDBOX(same_ids_and_limits_are_settable),
        IN_SANDBOX(a_library_comes_first),
        IN_SANDBOX(what_cannot_be_done_is_said),
        IN_SANDBOX(an_interrupt_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
