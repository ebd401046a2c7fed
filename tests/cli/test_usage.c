/* The command before it reads a file: help, mistakes, schemes, the streams it writes to. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "tools/args/options.h"

static void alone_it_prints_a_short_help(void **state)
{
    (void)state;
    struct ran ran = doppel_with(NULL, NULL);
    assert_code(&ran, 2);
    assert_string_equal(ran.out, "");
    assert_has(ran.err, "Usage: doppel VERB");
    assert_has(ran.err, "doppel --help");
    ran_free(&ran);
}

/* Lines that begin so, or are so. */
static unsigned lines_with(const char *text, const char *beginning)
{
    unsigned count = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, beginning, strlen(beginning)) == 0;
    }
    return count;
}

/* Each once, under one of the headings. */
static void main_help_lists_the_verbs(void **state)
{
    (void)state;
    char *help = doppel_prints(0, "--help");
    char *same = doppel_prints(0, "help");
    assert_string_equal(help, same);
    for (size_t i = 0; i < verb_count; i++) {
        const struct verb *verb = &verb_table[i];
        char wide[128], narrow[128]; /* the summary beside it, or below */
        snprintf(wide, sizeof wide, "  %s %s  ", verb->name, verb->operands);
        snprintf(narrow, sizeof narrow, "  %s %s\n", verb->name, verb->operands);
        assert_int_equal(lines_with(help, wide) + lines_with(help, narrow), 1);
    }
    free(help);
    free(same);
}

/* An option's name as a whole word. */
static const char *find_option(const char *help, const char *name)
{
    const char *place = strstr(help, name);
    while (place && strchr("-abcdefghijklmnopqrstuvwxyz", place[strlen(name)]))
        place = strstr(place + 1, name);
    return place;
}

/* Whether a verb has an option of that name. */
static bool has_option(const struct verb *verb, const char *name)
{
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->verbs & verb->bit && strcmp(option_at(i)->name, name) == 0)
            return true;
    return false;
}

/* Every option that a verb accepts, with its default; and no other. */
static void assert_lists_options(const char *help, const struct verb *verb)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_info *option = option_at(i);
        char name[64];
        snprintf(name, sizeof name, " --%s%s", option->name, option->argument ? " " : "");
        const char *place = option->argument ? strstr(help, name) : find_option(help, name);
        if (!(option->verbs & verb->bit)) {
            if (place && !has_option(verb, option->name))
                fail_msg("'%s' tells of --%s", verb->name, option->name);
            continue;
        }
        assert_non_null(place);
        if (option->fallback && option->type != OPTION_SHORTHAND)
            assert_has(place, option->fallback);
    }
}

static void assert_has_examples(const char *help, const struct verb *verb)
{
    assert_has(help, verb->example);
    assert_has(help, verb->other_example);
}

static void whole_help_of_a_verb_lists_its_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < verb_count; i++) {
        char *help = doppel_prints(0, verb_table[i].name, "--help", "--all");
        char *same = doppel_prints(0, "help", verb_table[i].name, "--all");
        assert_string_equal(help, same);
        assert_lists_options(help, &verb_table[i]);
        assert_has_examples(help, &verb_table[i]);
        free(help);
        free(same);
    }
}

/* How many of the verb's options are listed; each with its default. */
static unsigned listed_options(const char *help, const struct verb *verb)
{
    unsigned listed = 0;
    const char *list = strstr(help, "\nCommon options:\n");
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_info *option = option_at(i);
        char label[64];
        snprintf(label, sizeof label, "\n  %s%c%s--%s ", option->letter ? "-" : " ",
                 option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name);
        if (!option->argument)
            label[strlen(label) - 1] = '\0';
        const char *place = option->argument ? strstr(list, label) : find_option(list, label);
        if (!place || !(option->verbs & verb->bit))
            continue;
        listed++;
        if (option->fallback && option->type != OPTION_SHORTHAND)
            assert_has(place, option->fallback);
    }
    return listed;
}

static unsigned words_in(const char *text)
{
    unsigned words = 0;
    for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
        words++;
    return words;
}

static void help_of_a_verb_is_a_screen(void **state)
{
    enum { SCREEN_LINES = 32 };
    (void)state;
    for (size_t i = 0; i < verb_count; i++) {
        const struct verb *verb = &verb_table[i];
        char *help = doppel_prints(0, verb->name, "--help");
        char *same = doppel_prints(0, "help", verb->name);
        assert_string_equal(help, same);
        assert_has_examples(help, verb);
        assert_int_equal(listed_options(help, verb), words_in(verb->common));
        assert_has(help, "--help --all");
        if (lines_with(help, "") > SCREEN_LINES)
            fail_msg("'%s' has %u lines of help", verb->name, lines_with(help, ""));
        free(help);
        free(same);
    }
}

static void version_is_printed(void **state)
{
    (void)state;
    char *version = doppel_prints(0, "--version");
    char expected[64];
    snprintf(expected, sizeof expected, "doppel %s\n", doppel_version());
    assert_string_equal(version, expected);
    free(version);
}

static void assert_says(int code, const char *sentence, const char *const *words)
{
    struct ran ran = command_run(NULL, words);
    char line[256];
    snprintf(line, sizeof line, "doppel: %s\n", sentence);
    assert_code(&ran, code);
    assert_string_equal(ran.err, line);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

#define SAYS(code, sentence, ...)                                                                  \
    assert_says(code, sentence, (const char *const[]){__VA_ARGS__, NULL})

static void mistakes_are_answered(void **state)
{
    (void)state;
    SAYS(2, "unknown verb 'scna'; did you mean 'scan'?", "scna", "x");
    SAYS(2, "unknown verb 'scna'; did you mean 'scan'?", "help", "scna");
    SAYS(2, "unknown verb 'a\\nb'; see 'doppel --help'", "a\nb");
    SAYS(2, "unknown option '--jsno'; did you mean '--json'?", "scan", "--jsno", "x");
    SAYS(2, "the verb comes before '--json'; see 'doppel --help'", "--json", "scan");
    SAYS(2, "'--format' takes table, json or csv, not 'xml'", "schemes", "--format", "xml");
    SAYS(2, "'schemes' does not know what to do with 'x'; see 'doppel schemes --help'", "schemes",
         "x");
    SAYS(2, "'--max-distance' is at most 64 for scheme 'phash64', not 65", "scan", "--max-distance",
         "65", "x");
    SAYS(2,
         "'import' has no option '--scheme': '--format' says what FILE holds, as in '--format pdq'",
         "import", "--scheme", "pdq", "x");
    SAYS(2, "'scan' wants PATH...; see 'doppel scan --help'", "scan");
}

static void schemes_are_json_lines(void **state)
{
    (void)state;
    char *text = doppel_prints(0, "schemes", "--json");
    size_t count, seen = 0;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line; seen++) {
        json_t *scheme = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        if (seen == count) { /* vectors are of no fixed width */
            assert_string_equal(json_string_value(json_object_get(scheme, "scheme")), "vector");
            json_decref(scheme);
            continue;
        }
        assert_true(seen < count);
        assert_string_equal(json_string_value(json_object_get(scheme, "scheme")),
                            schemes[seen].name);
        assert_int_equal(json_integer_value(json_object_get(scheme, "bits")),
                         schemes[seen].code_bits);
        assert_int_equal(json_integer_value(json_object_get(scheme, "version")),
                         schemes[seen].version);
        const bool has_rate = schemes[seen].id == DOPPEL_SCHEME_PHASH64;
        assert_int_equal(json_integer_value(json_object_get(scheme, "max_distance")),
                         has_rate ? 0 : schemes[seen].max_distance);
        assert_true(!has_rate || json_object_get(scheme, "max_false_positive_rate"));
        json_decref(scheme);
    }
    assert_int_equal(seen, count + 1);
    free(text);
}

static void closed_pipes_end_it_quietly(void **state)
{
    (void)state;
    const struct setting setting = {.closed_pipe = true};
    struct ran ran = doppel_with(&setting, "schemes", "--json");
    assert_code(&ran, 141);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
    ran = doppel_with(&setting, "--help");
    assert_code(&ran, 141);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

static void assert_cannot_write(const char *command)
{
    const struct setting setting = {.program = "/bin/sh"};
    struct ran ran = doppel_with(&setting, "-c", command);
    assert_code(&ran, 2);
    assert_has(ran.err, "doppel: standard output: ");
    ran_free(&ran);
}

static void full_disks_are_said(void **state)
{
    (void)state;
    assert_cannot_write(DOPPEL_PROGRAM " schemes > /dev/full");
    assert_cannot_write(DOPPEL_PROGRAM " schemes --json > /dev/full");
    assert_cannot_write(DOPPEL_PROGRAM " schemes --help > /dev/full");
    assert_cannot_write(DOPPEL_PROGRAM " scan --help --all > /dev/full"); /* longer than a buffer */
    assert_cannot_write(DOPPEL_PROGRAM " --version > /dev/full");
    assert_cannot_write(DOPPEL_PROGRAM " schemes >&-");
}

static void nothing_is_coloured_in_a_pipe(void **state)
{
    (void)state;
    char *plain = doppel_prints(0, "schemes");
    assert_lacks(plain, "\033");
    char *colored = doppel_prints(0, "schemes", "--color", "always");
    assert_has(colored, "\033[1m");
    free(plain);
    free(colored);
}

#define USAGE_TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_enter, sandbox_leave)

static void configure(const char *text)
{
    make_folder("config");
    make_folder("config/doppel");
    write_file("config/doppel/config", text, strlen(text));
}

static struct ran run_configured(const char *const *words)
{
    const struct setting setting = {.environment = {"XDG_CONFIG_HOME=config"}};
    char here[4096], variable[4200];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(variable, sizeof variable, "XDG_CONFIG_HOME=%s/config", here);
    struct setting absolute = setting;
    absolute.environment[0] = variable;
    return command_run(&absolute, words);
}

/* Once in a file instead of each time. */
static void options_can_be_configured(void **state)
{
    (void)state;
    static const char *const scan[] = {"scan", "texts", NULL},
                             *const hash[] = {"hash", "texts", NULL},
                             *const table[] = {"scan", "--format", "table", "texts", NULL},
                             *const config[] = {"config", "--json", NULL};
    make_folder("texts");
    write_file("texts/a.txt", "some words", 10);
    write_file("texts/b.txt", "some words", 10);
    configure(
        "# mine\nexclude = \"c*\" # not these\n hidden = no # nor these\n\n[scan]\nformat=json\n"
        "library = ~/mine\n");
    struct ran ran = run_configured(scan);
    assert_code(&ran, 0);
    assert_has(ran.out, "{\"group\":1,");
    ran_free(&ran);
    ran = run_configured(hash);
    assert_code(&ran, 0);
    assert_lacks(ran.out, "{");
    ran_free(&ran);
    ran = run_configured(table); /* the command line outranks it */
    assert_has(ran.out, "1 duplicate in 1 group");
    ran_free(&ran);
    ran = run_configured(config);
    assert_code(&ran, 0);
    assert_has(ran.out, "{\"option\":\"exclude\",\"value\":\"c*\",\"from\":\"");
    assert_has(ran.out, "/config/doppel/config:2\"}\n");
    assert_has(ran.out, "{\"verb\":\"scan\",\"option\":\"format\",\"value\":\"json\"");
    assert_lacks(ran.out, "\"~/mine\"");
    assert_has(ran.out, "/mine\"");
    ran_free(&ran);
}

/* Also to verbs that print JSON unless they are told otherwise, but not to what is always JSON. */
static void a_format_reaches_every_verb(void **state)
{
    (void)state;
    static const struct {
        const char *config, *words[6], *has, *lacks;
    } cases[] = {
        {"format = table\n", {"dedup", "r.jsonl"}, "decision", "{"},
        {"format = csv\n", {"dedup", "r.jsonl"}, "id,path,path_base64,line", "{"},
        {"[dedup]\nformat = table\n", {"dedup", "r.jsonl"}, "decision", "{"},
        {"format = table\n", {"dedup", "--json", "r.jsonl"}, "{\"id\":\"a\"", "  "},
        {"format = table\n", {"dedup", "--emit", "unique", "r.jsonl"}, "{\"id\"", "decision"},
        {"format = table\n", {"check", "-L", "kept", "--jsonl", "r.jsonl"}, "decision", "{"},
        {"format = table\n", {"index", "join", "r.jsonl"}, "cosine", "{"},
        {"format = json\n", {"index", "join", "r.jsonl"}, "{\"", "  "},
        {"", {"index", "join", "r.jsonl"}, "{\"", "  "},
        {"format = json\n", {"export", "-L", "kept", "--format", "csv"}, "id,", "{"},
    };
    static const char records[] = "{\"id\":\"a\",\"text\":\"some words\",\"vector\":[1,0]}\n"
                                  "{\"id\":\"b\",\"text\":\"others\",\"vector\":[1,0.1]}\n";
    write_file("r.jsonl", records, sizeof records - 1);
    configure("");
    struct ran ran =
        run_configured((const char *const[]){"ingest", "-L", "kept", "--jsonl", "r.jsonl", NULL});
    assert_code(&ran, 0);
    ran_free(&ran);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        configure(cases[i].config);
        ran = run_configured(cases[i].words);
        assert_has(ran.out, cases[i].has);
        assert_lacks(ran.out, cases[i].lacks);
        ran_free(&ran);
    }
}

static void a_wrong_configuration_is_told_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"\nnope = 1\n", "config:2: nope: there is no such option"},
        {"[nope]\n", "config:1: there is no verb 'nope'"},
        {"yes = yes\n", "config:1: yes: it is to be given each time"},
        {"hidden = maybe\n", "config:1: hidden: it takes yes or no"},
        {"kind = pixel\n", "config:1: kind: '--kind' takes image"},
        {"[scan]\nlist = x\n", "config:2: list: there is no such option"},
        {"words\n", "config:1: neither 'option = value' nor '[verb]': words"},
    };
    static const struct {
        const char *text, *sentence;
    } others[] = {
        {"\n[dedup]\njobs = many\n", "config:3: jobs: "},
        {"[monitor]\nhop = x\n", "config:2: hop: "},
        {"jobs = many\n", "config:1: jobs: "},
        {"max-pixels = -\n", "config:1: max-pixels: "},
    };
    static const char *const scan[] = {"scan", ".", NULL}, *const config[] = {"config", NULL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) { /* of verbs that are not run */
        configure(others[i].text);
        struct ran ran = run_configured(config);
        assert_code(&ran, 2);
        assert_has(ran.err, others[i].sentence);
        ran_free(&ran);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        configure(cases[i].text);
        struct ran ran = run_configured(scan);
        assert_code(&ran, 2);
        assert_has(ran.err, cases[i].sentence);
        ran_free(&ran);
    }
}

/* The objects that tell progress; without time there is one at the end of each phase. */
static void assert_progress_of(const char *err, double done, bool with_total)
{
    unsigned objects = 0;
    double last = -1, total = 0;
    for (const char *line = err; *line; line += strcspn(line, "\n") + 1) {
        json_t *object = json_loadb(line, strcspn(line, "\n"), 0, NULL);
        if (!json_object_get(object, "done")) {
            json_decref(object);
            continue;
        }
        last = json_number_value(json_object_get(object, "done"));
        assert_true(json_is_string(json_object_get(object, "unit")) &&
                    json_is_number(json_object_get(object, "rate")) &&
                    json_is_integer(json_object_get(object, "errors")));
        total = json_number_value(json_object_get(object, "total"));
        objects++;
        json_decref(object);
    }
    assert_true(objects > 0 && last == done);
    assert_true(total == (with_total ? done : 0));
}

static void progress_is_for_programs_too(void **state)
{
    static const struct {
        const char *words[8];
        double done;
        bool with_total;
    } runs[] = {
        {{"scan", "texts"}, 2, true},
        {{"add", "-L", "a", "texts"}, 2, false},
        {{"ingest", "-L", "b", "texts"}, 2, false},
        {{"ingest", "-L", "b", "--jsonl", "c.jsonl"}, 33, true},
        {{"dedup", "c.jsonl"}, 1, true},
        {{"dedup", "c.jsonl", "-q"}, 1, true},
        {{"export", "-L", "a", "-o", "a.jsonl"}, 4, false}, /* twice: who they follow, too */
        {{"import", "-L", "d", "c.hashes"}, 68, true},
        {{"index", "build", "c.hex", "-o", "x"}, 2, true},
    };
    static const char record[] = "{\"id\":1,\"text\":\"some words....\"}\n";
    static const char hashes[] = "1111111111111111111111111111111111111111111111111111111111111111"
                                 "  x\n";
    (void)state;
    make_folder("texts");
    write_file("texts/a.txt", "some words of a", 15);
    write_file("texts/b.txt", "other words, of b", 17);
    write_file("c.jsonl", record, strlen(record));
    write_file("c.hashes", hashes, strlen(hashes));
    write_file("c.hex", "0000000000000001\n0000000000000002\n", 34);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const char *words[12] = {0};
        size_t count = 0;
        for (; runs[i].words[count]; count++)
            words[count] = runs[i].words[count];
        words[count++] = "--progress";
        words[count] = "json";
        struct ran ran = command_run(NULL, words);
        assert_code(&ran, 0);
        assert_progress_of(ran.err, runs[i].done, runs[i].with_total);
        ran_free(&ran);
        words[count] = "line"; /* which is for terminals */
        ran = command_run(NULL, words);
        assert_lacks(ran.err, "\"done\"");
        ran_free(&ran);
    }
    struct ran ran = doppel("dedup", "c.jsonl", "--progress", "json");
    const char *last = strstr(ran.err, "{\"summary\":{\"records\":1,\"new\":0,");
    assert_non_null(last);
    json_t *summary = json_loads(last, 0, NULL);
    assert_non_null(json_object_get(json_object_get(summary, "summary"), "records_per_second"));
    json_decref(summary);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        USAGE_TEST(alone_it_prints_a_short_help),
        USAGE_TEST(main_help_lists_the_verbs),
        USAGE_TEST(whole_help_of_a_verb_lists_its_options),
        USAGE_TEST(help_of_a_verb_is_a_screen),
        USAGE_TEST(version_is_printed),
        USAGE_TEST(mistakes_are_answered),
        USAGE_TEST(schemes_are_json_lines),
        USAGE_TEST(closed_pipes_end_it_quietly),
        USAGE_TEST(full_disks_are_said),
        USAGE_TEST(nothing_is_coloured_in_a_pipe),
        USAGE_TEST(options_can_be_configured),
        USAGE_TEST(a_format_reaches_every_verb),
        USAGE_TEST(a_wrong_configuration_is_told_by_its_line),
        IN_SANDBOX(progress_is_for_programs_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
