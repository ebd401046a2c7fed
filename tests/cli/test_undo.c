/* `doppel undo`: what was done comes back as it was, whatever ended the run. */
#include "command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acting.h"
#include "collection.h"

static void assert_listing(const char *folder, const char *wanted)
{
    char *now = listing_of(folder);
    assert_string_equal(now, wanted);
    free(now);
}

static void brings_everything_back(void **state)
{
    (void)state;
    static const char *const actions[][4] = {{"--action=hardlink"},
                                             {"--action=symlink"},
                                             {"--action=trash"},
                                             {"--action=move-to", "../away"}};
    make_doubles();
    char *before = listing_of(".");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct ran ran =
            command_run(NULL, (const char *const[]){"scan", "docs", "--yes", actions[i][0],
                                                    actions[i][1], NULL});
        assert_code(&ran, 0);
        ran_free(&ran);
        char *done = listing_of(".");
        assert_string_not_equal(done, before);
        free(done);
        char *json = doppel_prints(0, "undo", "--json");
        assert_int_equal(count_lines(json, "\"done\":true"), 3);
        free(json);
        assert_listing(".", before);
        assert_false(same_inode("docs/a.txt", "docs/b.txt"));
    }
    assert_int_equal(rmdir("../home/.local/share/Trash/files"), 0);
    assert_int_equal(rmdir("../home/.local/share/Trash/info"), 0);
    struct ran ran = doppel("undo");
    assert_code(&ran, 0);
    assert_has(ran.err, "nothing is left to be undone");
    ran_free(&ran);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(brings_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
