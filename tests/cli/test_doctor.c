/* doppel doctor, and --sandbox: what holds the workers is said, and less than what is required
 * reads nothing. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collection.h"

/* No Landlock, but a filter of system calls, where the kernel has that. */
static const struct setting lesser = {.environment = {"DOPPEL_WORKER=" LESSER_WORKER}};

/* What `doctor` says of a part: a line of JSON (free), or NULL. */
static char *line_of(const char *json, const char *part)
{
    char beginning[64];
    snprintf(beginning, sizeof beginning, "{\"part\":\"%s\"", part);
    const char *line = strstr(json, beginning);
    return line ? strndup(line, strcspn(line, "\n")) : NULL;
}

static bool is_active(const char *json, const char *part)
{
    char *line = line_of(json, part);
    assert_non_null(line);
    bool active = strstr(line, "\"active\":true");
    assert_true(active || strstr(line, "\"active\":false"));
    free(line);
    return active;
}

/* Whether a filter can be set up here: without, the lesser worker does not start. */
static bool can_filter(void)
{
    char *json = doppel_prints(0, "doctor", "--json");
    bool can = is_active(json, "system-calls");
    if (!can)
        print_message("not tested: there is no filter of system calls here\n");
    free(json);
    return can;
}

static void doctor_says_what_the_kernel_has(void **state)
{
    (void)state;
    char *json = doppel_prints(0, "doctor", "--json");
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
    char *line = line_of(json, "landlock-abi"), value[64];
    snprintf(value, sizeof value, "\"value\":\"%ld\"", abi > 0 ? abi : 0);
    assert_has(line, value);
    free(line);
    assert_true(is_active(json, "no-new-privileges"));
    assert_int_equal(is_active(json, "files"), abi >= 1);
    assert_int_equal(is_active(json, "network"), abi >= 4);
    assert_int_equal(is_active(json, "signals"), abi >= 6);
    assert_has(json, "{\"part\":\"libpng\",\"value\":\"1.");
    assert_has(json, "{\"part\":\"memory\",\"value\":\"536870912\"");
    free(json);
    char *table = doppel_prints(0, "doctor");
    assert_has(table, "system-calls");
    free(table);
}

static void none_is_none(void **state)
{
    (void)state;
    char *json = doppel_prints(0, "doctor", "--json", "--sandbox", "none");
    assert_lacks(json, "\"active\":true");
    free(json);
}

static void less_is_enough_unless_more_is_required(void **state)
{
    (void)state;
    if (!can_filter())
        skip();
    keep_drawing("sea.jpg", 0, 1);
    struct ran ran = doppel_with(&lesser, "doctor", "--json");
    assert_code(&ran, 0);
    assert_false(is_active(ran.out, "files"));
    assert_true(is_active(ran.out, "system-calls"));
    ran_free(&ran);
    ran = doppel_with(&lesser, "hash", "sea.jpg");
    assert_code(&ran, 0);
    ran_free(&ran);
    static const char *const verbs[][5] = {{"hash", "sea.jpg"}, {"scan", "."}, {"doctor", NULL}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const char *words[] = {verbs[i][0],  "--sandbox", "require",
                               "--no-cache", verbs[i][1], NULL};
        if (!verbs[i][1])
            words[3] = NULL;
        ran = command_run(&lesser, words);
        assert_code(&ran, 2);
        assert_string_equal(ran.out, "");
        assert_has(ran.err, "the decoders cannot be held as --sandbox require asks: Landlock is "
                            "missing here");
        ran_free(&ran);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(doctor_says_what_the_kernel_has),
        IN_SANDBOX(none_is_none),
        IN_SANDBOX(less_is_enough_unless_more_is_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
