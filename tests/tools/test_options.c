/* The tables hold together, and a command line becomes settings or a helpful sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/mistakes.h"

enum { MAX_WORDS = 16 };

/* Parse "scan --jobs 2 x"; words are split at blanks. */
static enum doppel_status parse(const char *line, struct settings *out, struct doppel_error *error)
{
    static char copy[512]; /* settings borrow from argv */
    char *argv[MAX_WORDS + 1] = {0}, *rest = copy;
    int argc = 0;
    strncpy(copy, line, sizeof copy - 1);
    for (char *word; argc < MAX_WORDS && (word = strsep(&rest, " "));)
        argv[argc++] = word;
    size_t used;
    const struct verb *verb = verb_by_words((const char *const *)argv, (size_t)argc, &used);
    assert_non_null(verb);
    return settings_parse(verb, argc - (int)used + 1, argv + used - 1, out, error);
}

static struct settings parsed(const char *line)
{
    struct settings settings;
    struct doppel_error error = {0};
    if (parse(line, &settings, &error))
        fail_msg("'%s': %s", line, error.message);
    return settings;
}

static void assert_refused(const char *line, const char *sentence)
{
    struct settings settings;
    struct doppel_error error = {0};
    assert_int_equal(parse(line, &settings, &error), DOPPEL_E_ARGUMENT);
    assert_string_equal(error.message, sentence);
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    struct settings settings = parsed("scan x");
    assert_int_equal(settings.operands.count, 1);
    assert_int_equal(settings.format, FORMAT_TABLE);
    assert_false(settings.format_given);
    assert_int_equal(settings.max_distance, -1);
    assert_true(settings.min_similarity == -1);
    assert_int_equal(settings.jobs, 0);
    assert_true(settings.max_pixels == 500000000);
    assert_true(settings_max_bytes(&settings, DOPPEL_KIND_IMAGE) == UINT64_C(1) << 30);
    assert_true(settings_max_bytes(&settings, DOPPEL_KIND_VIDEO) == UINT64_MAX);
    assert_false(settings.timeout_given);
    assert_true(settings.max_memory == UINT64_C(512) << 20);
    assert_int_equal(settings.timeout_ms, 60000);
    assert_int_equal(settings.views, VIEWS_ALL);
    assert_true(settings.orientations);
    assert_int_equal(settings.check, CHECK_DEFAULT);
    assert_string_equal(settings.scheme->name, "phash64");
    settings_free(&settings);
}

static void values_are_set(void **state)
{
    (void)state;
    struct settings settings =
        parsed("scan -j 3 --json --views=trim --no-orientations --check pixels --timeout 1.5 "
               "--exclude a --exclude=b -0vx y");
    assert_int_equal(settings.jobs, 3);
    assert_int_equal(settings.format, FORMAT_JSON);
    assert_true(settings.format_given);
    assert_int_equal(settings.views, VIEWS_TRIM);
    assert_false(settings.orientations);
    assert_int_equal(settings.check, CHECK_PIXELS);
    assert_int_equal(settings.timeout_ms, 1500);
    assert_int_equal(settings.exclude.count, 2);
    assert_string_equal(settings.exclude.items[1], "b");
    assert_true(settings.null_separated && settings.verbose && settings.one_file_system);
    settings_free(&settings);
}

static void options_and_paths_mix(void **state)
{
    (void)state;
    struct settings settings = parsed("scan a --hidden b -- --follow -j");
    assert_int_equal(settings.operands.count, 4);
    assert_string_equal(settings.operands.items[0], "a");
    assert_string_equal(settings.operands.items[2], "--follow");
    assert_true(settings.hidden);
    assert_false(settings.follow);
    settings_free(&settings);
}

static void the_last_of_opposites_counts(void **state)
{
    (void)state;
    struct settings settings =
        parsed("scan --json --format csv --no-orientations --orientations x");
    assert_int_equal(settings.format, FORMAT_CSV);
    assert_true(settings.orientations);
    settings_free(&settings);
}

static void mistakes_are_answered(void **state)
{
    (void)state;
    assert_refused("scan --jsno x", "unknown option '--jsno'; did you mean '--json'?");
    assert_refused("scan --folow=3 x", "unknown option '--folow'; did you mean '--follow'?");
    assert_refused("scan --zebra x", "unknown option '--zebra'; see 'doppel scan --help'");
    assert_refused("scan -Z x", "unknown option '-Z'; see 'doppel scan --help'");
    assert_refused("schemes --follow", "'schemes' has no option '--follow'; see 'doppel schemes "
                                       "--help'");
    assert_refused("schemes -j 2", "'schemes' has no option '-j'; see 'doppel schemes --help'");
    assert_refused("scan --no x",
                   "option '--no' could be '--no-orientations', '--not-within', '--no-audio', "
                   "'--no-video', '--no-cache', '--no-progress'");
    assert_refused("scan --jobs", "'--jobs' needs a value: --jobs N");
    assert_refused("scan -j", "'--jobs' needs a value: --jobs N");
    assert_refused("scan --hidden=1 x", "'--hidden' takes no value");
    assert_refused("scan --jobs 0 x", "'--jobs' takes a whole number from 1 to 1024, not '0'");
    assert_refused("scan --format jsn x",
                   "'--format' takes table, json or csv, not 'jsn'; did you mean 'json'?");
    assert_refused("scan --scheme phash65 x", "'--scheme' takes phash64, phash256, imagehash, pdq, "
                                              "local, "
                                              "minhash128, minhash256, simhash64, winnow32, "
                                              "datasketch, peaks32, chromaprint, frames64, "
                                              "vpdq or frames128, "
                                              "not 'phash65'; did you mean 'phash64'?");
    assert_refused("scan --timeout soon x",
                   "'--timeout' takes a time such as 90, 500ms or 2m, not 'soon'");
    assert_refused(
        "scan --min-similarity 2 x",
        "'--min-similarity' takes a number from 0 to 1, or a percentage such as 90%, not '2'");
    assert_refused("scan", "'scan' wants PATH...; see 'doppel scan --help'");
    assert_refused("compare a", "'compare' wants A B; see 'doppel compare --help'");
    assert_refused("compare a b c",
                   "'compare' does not know what to do with 'c'; see 'doppel compare --help'");
    assert_refused("scan x --max-distance 3 --min-similarity 0.5",
                   "give '--max-distance' or '--min-similarity', not both");
    assert_refused("find --code 0123456789abcdef x", "give '--code' or FILE..., not both");
    assert_refused("find --code 123",
                   "'--code' takes 16 hex digits for scheme 'phash64', not '123'");
}

static void unknown_verbs_are_answered(void **state)
{
    (void)state;
    struct doppel_error error;
    assert_int_equal(unknown_verb("scna", &error), DOPPEL_E_ARGUMENT);
    assert_string_equal(error.message, "unknown verb 'scna'; did you mean 'scan'?");
    unknown_verb("bake", &error);
    assert_string_equal(error.message, "unknown verb 'bake'; see 'doppel --help'");
}

static void verbs_may_have_two_words(void **state)
{
    (void)state;
    struct settings settings = parsed("index search x.index --radius 3 q");
    assert_string_equal(settings.verb->name, "index search");
    assert_true(verb_is_of(settings.verb, "index"));
    assert_false(verb_is_of(verb_by_name("scan"), "index"));
    assert_int_equal(settings.operands.count, 2);
    assert_int_equal(settings.radius, 3);
    settings_free(&settings);
    assert_null(verb_by_name("index"));
    settings = parsed("index search x.index q"); /* it may be one of vectors */
    assert_int_equal(settings.radius, -1);
    settings_free(&settings);
    assert_refused("index build x", "'index build' wants '-o INDEX'");
    assert_refused("index join --recall 0.4 x",
                   "'--recall' is from 0.5 to 0.999; '--exact' finds all");
    assert_refused("index knn -k 0 x y",
                   "'--nearest' takes a whole number from 1 to 4294967295, not '0'");
}

static void paths_may_come_from_elsewhere(void **state)
{
    (void)state;
    struct settings settings = parsed("scan --files-from -");
    assert_string_equal(settings.files_from, "-");
    settings_free(&settings);
    settings = parsed("find --code 0123456789abcdef");
    assert_int_equal(settings.operands.count, 0);
    settings_free(&settings);
    settings = parsed("scan --help");
    assert_true(settings.help);
    settings_free(&settings);
}

/* Each default is a right value, names are used once a verb, letters for one name, sentences have
 * no full stop. */
static void assert_example(const struct verb *verb, const char *example)
{
    assert_memory_equal(example, "doppel ", 7);
    assert_memory_equal(example + 7, verb->name, strlen(verb->name));
}

static void the_tables_hold_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_info *option = option_at(i);
        for (size_t j = 0; j < i; j++)
            assert_false(strcmp(option->name, option_at(j)->name) == 0 &&
                         option->verbs & option_at(j)->verbs);
        assert_true(option->verbs != 0);
        assert_int_not_equal(option->help[strlen(option->help) - 1], '.');
        for (size_t j = 0; j < i; j++)
            assert_false(option->letter && option->letter == option_at(j)->letter &&
                         strcmp(option->name, option_at(j)->name) != 0);
        bool flag = option->type == OPTION_FLAG || option->type == OPTION_FLAG_OFF ||
                    option->type == OPTION_SHORTHAND;
        assert_int_equal(flag, option->argument == NULL);
    }
    for (size_t i = 0; i < verb_count; i++) {
        const struct verb *verb = &verb_table[i];
        assert_ptr_equal(verb_by_name(verb->name), verb);
        assert_non_null(verb->run);
        assert_example(verb, verb->example);
        assert_example(verb, verb->other_example);
        assert_int_not_equal(verb->summary[strlen(verb->summary) - 1], '.');
    }
}

static void videos_have_options(void **state)
{
    (void)state;
    struct settings settings = parsed("scan --fast --no-audio --max-bytes 3G --timeout 9 x");
    assert_true(settings.fast && settings.no_audio && settings.timeout_given);
    assert_true(settings_max_bytes(&settings, DOPPEL_KIND_VIDEO) == UINT64_C(3) << 30);
    assert_int_equal(settings_scheme(&settings, DOPPEL_KIND_VIDEO)->id, DOPPEL_SCHEME_FRAMES64);
    settings_free(&settings);
    settings = parsed("hash --no-video x");
    assert_null(settings_scheme(&settings, DOPPEL_KIND_VIDEO));
    assert_non_null(settings_scheme(&settings, DOPPEL_KIND_AUDIO));
    assert_non_null(settings_scheme(&settings, DOPPEL_KIND_IMAGE));
    settings_free(&settings);
    settings = parsed("tune x");
    assert_null(settings_scheme(&settings, DOPPEL_KIND_VIDEO));
    settings_free(&settings);
    assert_refused("scan --no-audio --no-video x",
                   "give '--no-audio' or '--no-video', not both: nothing of a video would be left");
    assert_refused("hash --kind video --no-video x",
                   "'--no-video' reads videos as recordings, which '--kind video' leaves out");
    assert_refused("hash --scheme frames64 --no-video x",
                   "'--no-video' reads videos as recordings, which '--scheme frames64' leaves out");
    assert_refused("scan --fast --no-video x",
                   "'--fast' is for the pictures of videos, which '--no-video' leaves out");
    assert_refused("hash --kind audio --fast x", "'--fast' is for videos");
    assert_refused("hash --pcm u8:8000:1 --no-audio x", "'--no-audio' is for videos");
    assert_refused("compare --thumbnails a b", "'--thumbnails' wants '--chart FILE'");
    assert_refused("find --scheme frames64 --code 00",
                   "scheme 'frames64' has no one code to be found by");
    assert_refused("find --kind video --max-distance 3 x",
                   "videos have no distance: their limits are '--max-fp-rate' and "
                   "'--min-similarity'");
    assert_refused("find --check pixels --min-similarity 0.9 x",
                   "'--check pixels' does not go with a least similarity, which is of codes "
                   "alone: leave out one of both");
    assert_refused("scan --check none --kind text x",
                   "'--check' is for images by 'phash64', not for scheme 'minhash128'");
    assert_refused("find --max-fp-rate .1 --scheme pdq x",
                   "'--max-fp-rate' is for images, audio and videos; scheme 'pdq' has no such "
                   "rate, but '--min-similarity'");
    assert_refused("scan --scheme vpdq x",
                   "scheme 'vpdq' is for hash and compare; 'frames64' does more");
}

static void assert_parsed(const char *example)
{
    char line[256];
    strncpy(line, example + strlen("doppel "), sizeof line - 1);
    line[sizeof line - 1] = 0;
    line[strcspn(line, "<>")] = 0;
    for (char *end = line + strlen(line); end > line && end[-1] == ' ';)
        *--end = 0;
    struct settings settings = parsed(line);
    settings_free(&settings);
}

/* What would do nothing for the kind that is asked for, by its name, a scheme, or another option.
 */
static void options_are_of_kinds(void **state)
{
    (void)state;
    assert_refused("scan --kind text --views full x", "'--views' is for images");
    assert_refused("groups --kind audio --no-orientations", "'--no-orientations' is for images");
    assert_refused("scan --kind video --bursts x", "'--bursts' is for images");
    assert_refused("scan --scheme minhash128 --companions join x", "'--companions' is for images");
    assert_refused("scan --kind image --text-format html x", "'--text-format' is for texts");
    assert_refused("hash --scheme pdq --ocr x", "'--ocr' is for texts");
    assert_refused("groups --kind video --preset news", "'--preset' is for texts");
    assert_refused("find --code 0123456789abcdef --unit words", "'--unit' is for texts");
    assert_refused("find --playlist --shingle 3 x", "'--shingle' is for texts");
    assert_refused("check --kind audio --min-words 3 x", "'--min-words' is for texts");
    assert_refused("scan --kind image --same-speed x",
                   "'--same-speed' is for recordings and videos");
    assert_refused("scan --kind text --max-seconds 5 x",
                   "'--max-seconds' is for recordings and videos");
    assert_refused("find --kind text --near-misses 3 x",
                   "'--near-misses' is for images, recordings and videos");
    assert_parsed("doppel find --kind image --views full --near-misses 3 x");
    assert_parsed("doppel find --scheme simhash64 --code 0123456789abcdef --unit characters");
    assert_parsed("doppel scan --views full --shingle 3 --same-speed --fast x");
}

/* The options of an example are ones that its verb has. */
static void the_examples_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < verb_count; i++) {
        assert_parsed(verb_table[i].example);
        assert_parsed(verb_table[i].other_example);
    }
}

static void audio_have_options(void **state)
{
    (void)state;
    struct settings settings = parsed("hash --pcm s16le:44100:2 --max-seconds 1.5m -");
    assert_int_equal(settings.pcm.format, 2);
    assert_int_equal(settings.pcm.rate, 44100);
    assert_int_equal(settings.pcm.channels, 2);
    assert_int_equal(settings.max_ms, 90000);
    assert_string_equal(settings.scheme->name, "peaks32");
    settings_free(&settings);
    settings = parsed("find --repeats --max-fp-rate 2.5e-6 x");
    assert_int_equal(settings.kind, DOPPEL_KIND_AUDIO);
    assert_true(settings.max_false_positives > 2.49e-6 && settings.max_false_positives < 2.51e-6);
    settings_free(&settings);
    settings = parsed("find --max-fp-rate 1 --near-misses 3 x");
    assert_true(settings.max_false_positives == 1);
    assert_int_equal(settings.near_misses, 3);
    assert_string_equal(settings.scheme->name, "phash64");
    settings_free(&settings);
    static const char *const wrong[] = {"s16le",       "s16le:44100",   "s16le:44100:", "s16le::2",
                                        "s16le:0:2",   "s16le:44100:0", "s16be:8000:1", ":8000:1",
                                        "u8:8000:1:2", "u8:8000:65",    "u8:1e3:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[128];
        struct settings unused;
        snprintf(line, sizeof line, "hash --pcm %s x", wrong[i]);
        assert_int_equal(parse(line, &unused, NULL), DOPPEL_E_ARGUMENT);
    }
    static const char *const rates[] = {"0", "1.01", "-1e-3", "1e3", "1e", "e-3", "1e-", "1e-400"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char line[128];
        struct settings unused;
        snprintf(line, sizeof line, "find --max-fp-rate=%s x", rates[i]);
        assert_int_equal(parse(line, &unused, NULL), DOPPEL_E_ARGUMENT);
    }
    assert_refused("hash --kind text --pcm u8:8000:1 x", "'--pcm' is for recordings");
    assert_refused("hash --pcm u8:8000:65 x",
                   "'--pcm' takes FORMAT:RATE:CHANNELS, such as s16le:44100:2, with a rate of "
                   "1 to 768000 and 1 to 64 channels, not 'u8:8000:65'");
    assert_refused("find --kind audio --max-distance 3 x",
                   "recordings have no distance: their limits are '--max-fp-rate' and "
                   "'--min-similarity'");
    assert_refused("find --code 00 --scheme peaks32",
                   "scheme 'peaks32' has no one code to be found by");
}

static void former_names_work(void **state)
{
    (void)state;
    struct settings settings = parsed("tune --max-false 0.25 x");
    assert_true(settings.max_fp_share == 0.25);
    settings_free(&settings);
    settings = parsed("tune --max-fp-share 0.5 --max-f 0.25 x");
    assert_true(settings.max_fp_share == 0.25);
    settings_free(&settings);
    settings = parsed("compare --max-false-positives=1e-6 a b");
    assert_true(settings.max_false_positives == 1e-6);
    settings_free(&settings);
    settings = parsed("monitor --max-false-alarms 0.5 -");
    assert_true(settings.max_false_alarms == 0.5);
    settings_free(&settings);
    settings = parsed("scan --across x y");
    assert_true(settings.cross_folder);
    settings_free(&settings);
    settings = parsed("find --all x");
    assert_true(settings.include_allowed);
    settings_free(&settings);
    settings = parsed("ingest --plain-records -");
    assert_true(settings.ignore_metadata);
    settings_free(&settings);
    for (size_t i = 0; i < former_option_count; i++) {
        assert_null(option_by_name(former_options[i].former));
        assert_non_null(option_by_name(former_options[i].name));
    }
    assert_refused(
        "tune --max-false 2 x",
        "'--max-fp-share' takes a number from 0 to 1, or a percentage such as 90%, not '2'");
    assert_refused("list --all", "'--all' goes with '--help'");
}

static void words_of_others_work(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum doppel_kind kind;
    } kinds[] = {{"scan --kind picture x", DOPPEL_KIND_IMAGE},
                 {"scan --kind photo x", DOPPEL_KIND_IMAGE},
                 {"scan --kind movie x", DOPPEL_KIND_VIDEO}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct settings settings = parsed(kinds[i].line);
        assert_int_equal(settings.kind, kinds[i].kind);
        settings_free(&settings);
    }
    struct settings settings = parsed("scan --threshold 90% --keep biggest,oldest x");
    assert_true(settings.min_similarity == 0.9);
    assert_int_equal(settings.keep.criteria[0], DOPPEL_KEEP_SIZE);
    assert_int_equal(settings.keep.criteria[1], DOPPEL_KEEP_DATE);
    settings_free(&settings);
    settings = parsed("dedup --num-perm 256 --ngram 3 x");
    assert_int_equal(settings.lanes, LANES_256);
    assert_int_equal(settings.shingle, 3);
    settings_free(&settings);
    settings = parsed("scan --action delete x");
    assert_int_equal(settings.action, DOPPEL_ACTION_TRASH);
    assert_true(settings.deletes);
    settings_free(&settings);
    settings = parsed("search x");
    assert_string_equal(settings.verb->name, "find");
    settings_free(&settings);
    settings = parsed("delete x");
    assert_string_equal(settings.verb->name, "remove");
    settings_free(&settings);
    for (size_t i = 0; i < other_value_count; i++)
        assert_non_null(option_by_name(other_values[i].option));
}

static void options_that_are_not_needed_are_answered(void **state)
{
    (void)state;
    assert_refused("scan --recursive x",
                   "'--recursive' is not needed: folders are walked with all that is in them");
    assert_refused("scan --recrusive x",
                   "'--recrusive' is not needed: folders are walked with all that is in them");
    assert_refused("scan -r x", "'-r' is not needed: folders are walked with all that is in them");
    assert_refused("scan --refrence y x",
                   "unknown option '--refrence'; did you mean '--reference'?");
    assert_refused("scan --min-similarity 101% x",
                   "'--min-similarity' takes a number from 0 to 1, or a percentage such as 90%, "
                   "not '101%'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(values_are_set),
        cmocka_unit_test(options_and_paths_mix),
        cmocka_unit_test(the_last_of_opposites_counts),
        cmocka_unit_test(mistakes_are_answered),
        cmocka_unit_test(unknown_verbs_are_answered),
        cmocka_unit_test(verbs_may_have_two_words),
        cmocka_unit_test(paths_may_come_from_elsewhere),
        cmocka_unit_test(the_tables_hold_together),
        cmocka_unit_test(options_are_of_kinds),
        cmocka_unit_test(audio_have_options),
        cmocka_unit_test(videos_have_options),
        cmocka_unit_test(the_examples_work),
        cmocka_unit_test(former_names_work),
        cmocka_unit_test(words_of_others_work),
        cmocka_unit_test(options_that_are_not_needed_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
