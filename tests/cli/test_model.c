/* doppel model: models come in, are listed, and go. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char list[] = "the 0.1 0.2 0.3\ncat -1 0 1\n";

static void models_come_and_go(void **state)
{
    (void)state;
    write_file("pets.vec", list, sizeof list - 1);
    char *printed = doppel_prints(0, "model", "add", "pets.vec", "--json");
    assert_has(printed, "{\"name\":\"pets\",\"revision\":\"");
    assert_has(printed, "\"dimension\":3,\"tokens\":\"word-list\",\"vocabulary\":2,\"rows\":2,");
    assert_lacks(printed, "prefix");
    assert_int_equal(access("../home/.local/share/doppel/models/pets.model", R_OK), 0);
    char *listed = doppel_prints(0, "model", "list", "--json");
    assert_string_equal(listed, printed);
    free(listed);
    free(printed);
    printed =
        doppel_prints(0, "model", "add", "pets.vec", "--name", "q", "--prefix", "the: ", "--json");
    assert_has(printed, "{\"name\":\"q\",");
    assert_has(printed, "\"prefix\":\"the: \"");
    free(printed);
    printed = doppel_prints(0, "model", "list", "--format", "csv");
    assert_int_equal(count_lines(printed, ""), 3);
    free(printed);
    struct ran ran = doppel("model", "remove", "pets", "none", "q");
    assert_code(&ran, 3);
    assert_string_equal(ran.err, "doppel: none: there is no such model\n");
    ran_free(&ran);
    free(doppel_prints(0, "model", "list"));
}

static void the_environment_names_the_folder(void **state)
{
    (void)state;
    const struct setting named = {.environment = {"DOPPEL_MODELS=by-name"}};
    write_file("pets.vec", list, sizeof list - 1);
    struct ran ran = doppel_with(&named, "model", "add", "pets.vec");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(access("by-name/pets.model", R_OK), 0);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    const struct setting named = {.environment = {"DOPPEL_MODELS=m"}};
    write_file("pets.vec", list, sizeof list - 1);
    write_file("bad.vec", "the 1 2\ncat 1\n", 14);
    write_file("other.vec", "the 1 2\n", 8);
    static const char *const runs[][4] = {
        {"bad.vec", "--name", "bad", "bad.vec: line 2 is no word with 2 finite numbers"},
        {"none", "--name", "none", "none: No such file"},
        {"pets.vec", "--name", "a/b", "'a/b' is no name of a model"},
        {"other.vec", "--name", "pets", "there is another model 'pets'"},
    };
    struct ran first = doppel_with(&named, "model", "add", "pets.vec");
    assert_code(&first, 0);
    ran_free(&first);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct ran ran = doppel_with(&named, "model", "add", runs[i][0], runs[i][1], runs[i][2]);
        assert_code(&ran, strcmp(runs[i][0], "none") == 0 ? 3 : 2);
        assert_has(ran.err, runs[i][3]);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
}

static void a_damaged_model_is_reported(void **state)
{
    (void)state;
    const struct setting named = {.environment = {"DOPPEL_MODELS=m"}};
    make_folder("m");
    write_file("m/bad.model", "This is none.", 13);
    write_file("m/other.txt", "This neither.", 13);
    struct ran ran = doppel_with(&named, "model", "list");
    assert_code(&ran, 3);
    assert_has(ran.err, "doppel: bad: m/bad.model: no model of doppel");
    assert_lacks(ran.err, "other");
    ran_free(&ran);
}

static void a_library_may_lie_around_the_models(void **state)
{
    (void)state;
    write_file("pets.vec", list, sizeof list - 1);
    write_file("a.txt", "a text of more than ten words so that it is no short one at all", 63);
    free(doppel_prints(0, "model", "add", "pets.vec"));
    free(doppel_prints(0, "add", "a.txt"));
    free(doppel_prints(0, "verify"));
    free(doppel_prints(0, "model", "list"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(models_come_and_go),
        IN_SANDBOX(the_environment_names_the_folder),
        IN_SANDBOX(what_is_wrong_is_said),
        IN_SANDBOX(a_damaged_model_is_reported),
        IN_SANDBOX(a_library_may_lie_around_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
