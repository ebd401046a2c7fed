/* Scheme chromaprint: AcoustID's fingerprints, made, read, written, compared, found. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "audio.h"

static bool is_built_with_it(void)
{
    keep_wav("probe.wav", audio_music(5, 1));
    struct ran ran = doppel("hash", "--scheme", "chromaprint", "probe.wav");
    bool built = strstr(ran.err, "libchromaprint was not there") == NULL;
    ran_free(&ran);
    return built;
}

static void keep_printed(const char *wav, const char *path)
{
    char *printed = doppel_prints(0, "hash", "--fpcalc", wav);
    assert_int_equal(strncmp(printed, "DURATION=", 9), 0);
    assert_has(printed, "\nFINGERPRINT=");
    write_file(path, printed, strlen(printed));
    free(printed);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    if (!is_built_with_it())
        skip();
    keep_wav("a.wav", audio_music(40, 1));
    keep_printed("a.wav", "a.txt");
    char *again = doppel_prints(0, "hash", "--fpcalc", "a.txt"),
         *first = doppel_prints(0, "hash", "--fpcalc", "a.wav");
    assert_string_equal(first, again);
    assert_has(first, "DURATION=40\n");
    free(again);
    free(first);
    char *json = doppel_prints(0, "hash", "--json", "--scheme", "chromaprint", "a.txt");
    assert_has(json, "\"kind\":\"audio\",\"scheme\":\"chromaprint\",\"version\":1,\"codes\":");
    assert_has(json, "\"duration\":40.0");
    free(json);
    json = doppel_prints(0, "compare", "--json", "--scheme", "chromaprint", "a.txt", "a.wav");
    assert_has(json, "\"match\":true");
    assert_has(json, "\"relation\":\"same\",\"distance\":0,\"bits\":32,\"similarity\":1.0");
    free(json);
}

static void a_part_is_found_and_another_is_not(void **state)
{
    (void)state;
    if (!is_built_with_it())
        skip();
    struct recording whole = audio_music(60, 1), part = audio_cut(&whole, 20, 25);
    keep_wav("whole.wav", whole);
    keep_wav("part.wav", part);
    keep_wav("other.wav", audio_music(60, 2));
    keep_printed("part.wav", "part.txt");
    free(doppel_prints(0, "add", "-q", "-L", "library", "--scheme", "chromaprint", "whole.wav",
                       "other.wav"));
    char *json =
        doppel_prints(0, "find", "--json", "-L", "library", "--scheme", "chromaprint", "part.txt");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "whole.wav\"");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"segments\":[{\"a_start\":0.");
    free(json);
    free(doppel_prints(1, "compare", "--scheme", "chromaprint", "whole.wav", "other.wav"));
    /* no recording of peaks32 is held: by the only scheme that is */
    free(doppel_prints(0, "find", "-L", "library", "part.wav"));
}

static void what_it_cannot_do_is_said(void **state)
{
    (void)state;
    struct ran ran = doppel("scan", "--scheme", "chromaprint", ".");
    assert_code(&ran, 2);
    assert_has(ran.err, "is for hash, compare, add and find FILE");
    ran_free(&ran);
    ran = doppel("hash", "--fpcalc", "--scheme", "peaks32", "x");
    assert_code(&ran, 2);
    assert_has(ran.err, "'--fpcalc' is for scheme 'chromaprint'");
    ran_free(&ran);
    write_file("bad.txt", "FINGERPRINT=1,2,x", 17);
    ran = doppel("hash", "--scheme", "chromaprint", "bad.txt");
    assert_code(&ran, 3);
    assert_has(ran.err, "bad.txt: no list of numbers as fpcalc -raw has it");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(what_is_written_is_read),
        IN_SANDBOX(a_part_is_found_and_another_is_not),
        IN_SANDBOX(what_it_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
