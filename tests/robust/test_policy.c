/* The administrator's policy: what is switched off, and limits that a user tightens and does not
 * loosen. The program is doppel with another place for the file. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"

static struct ran under(const char *policy, const char *const *words)
{
    const struct setting setting = {
        .program = POLICY_DOPPEL,
        .environment = {"TEST_POLICY=policy", "DOPPEL_WORKER=" HONEST_WORKER}};
    if (policy)
        write_file("policy", policy, strlen(policy));
    struct running running = command_start(&setting, words);
    return command_end(&running);
}

#define UNDER(policy, ...) under(policy, (const char *const[]){__VA_ARGS__, NULL})

static int make_files(void **state)
{
    if (sandbox_enter(state))
        return -1;
    make_folder("all");
    keep_image("all/a.jpg", draw_image(1, 1, 320, 240), 90);
    keep_image("all/b.png", draw_image(2, 1, 320, 240), 0);
    return 0;
}

static void expect(const struct ran *ran, int code, const char *says)
{
    assert_code(ran, code);
    assert_has(ran->err, says);
}

static void limits_are_not_loosened(void **state)
{
    (void)state;
    struct ran ran = UNDER(NULL, "hash", "--json", "all");
    expect(&ran, 0, "");
    ran_free(&ran);
    ran = UNDER("# ours\nmax-pixels = 1000\n", "hash", "--json", "all");
    expect(&ran, 3, "all/a.jpg: ");
    assert_has(ran.err, "all/b.png: ");
    ran_free(&ran);
    ran = UNDER(NULL, "hash", "--json", "--max-pixels", "100M", "all");
    expect(&ran, 3, "all/a.jpg: ");
    ran_free(&ran);
    ran = UNDER("max-pixels = 1M\nmax-record = 20\ntimeout = 10s", "hash", "--json", "--max-pixels",
                "1000", "all");
    expect(&ran, 3, "all/a.jpg: "); /* tighter than it has to be */
    ran_free(&ran);
    static const char record[] = "{\"id\":1,\"text\":\"some words\"}\n";
    write_file("r.jsonl", record, strlen(record));
    ran = UNDER(NULL, "dedup", "--max-record", "0", "r.jsonl");
    expect(&ran, 3, "more than the limit of 20");
    ran_free(&ran);
}

static void formats_are_switched_off(void **state)
{
    (void)state;
    struct ran ran = UNDER("switched-off = png, JPEG XL ,video\n", "hash", "--json", "all");
    expect(&ran, 3, "all/b.png: PNG is switched off on this machine");
    assert_int_equal(count_lines(ran.out, "all/a.jpg"), 1);
    ran_free(&ran);
    ran = UNDER("switched-off = image\n", "hash", "--json", "--no-cache", "all");
    expect(&ran, 3, "all/a.jpg: image is switched off on this machine");
    assert_string_equal(ran.out, "");
    ran_free(&ran);
    ran = UNDER("", "hash", "--json", "all"); /* which is not remembered of the files */
    expect(&ran, 0, "");
    ran_free(&ran);
    ran = UNDER("switched-off = audio", "monitor", "all/a.jpg", "--library", "none");
    assert_int_not_equal(ran.code, 0);
    ran_free(&ran);
}

static void a_bad_policy_ends_the_run(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *says;
    } bad[] = {
        {"switched-off = jpg2", "policy:1: switched-off: there is no format or kind 'jpg2'"},
        {"\nmax-pixels = many", "policy:2: max-pixels: "},
        {"yes = yes", "policy:1: yes: it is no limit of a policy"},
        {"nonsense", "policy:1: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ran ran = UNDER(bad[i].policy, "hash", "all");
        expect(&ran, 2, bad[i].says);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
    remove("policy");
    make_folder("policy"); /* it is there, and cannot be read */
    struct ran ran = UNDER(NULL, "hash", "all");
    assert_code(&ran, 2);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_are_not_loosened, make_files, sandbox_leave),
        cmocka_unit_test_setup_teardown(formats_are_switched_off, make_files, sandbox_leave),
        cmocka_unit_test_setup_teardown(a_bad_policy_ends_the_run, make_files, sandbox_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
