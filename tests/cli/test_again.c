/* A scan that knows what earlier ones found prints what one prints that knows nothing, whatever
 * came, went, changed and was renamed in between. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "writer.h"

enum { FILES = 60, ROUNDS = 6, WIDTH = 120, HEIGHT = 90 };

/* Files that there may be, pictures and texts in three folders, and where they are now. */
struct files {
    uint32_t random;
    char paths[FILES][64]; /* "": not there */
    unsigned named;
};

static void write_one(struct files *files, unsigned number)
{
    char *path = files->paths[number];
    bool image = number % 3 != 0;
    unsigned model = next_random(&files->random) % 8;
    snprintf(path, sizeof files->paths[number], "all/%u/%02u-%u.%s",
             next_random(&files->random) % 3, next_random(&files->random) % 100, files->named++,
             image ? "jpg" : "txt");
    if (image) {
        struct image drawn = draw_image(model, 3, WIDTH, HEIGHT);
        struct image copy =
            next_random(&files->random) % 4 ? edit_shrink(&drawn, 100, 75) : edit_mirror(&drawn);
        image_free(&drawn);
        keep_image(path, copy, 50 + (int)(next_random(&files->random) % 45));
    } else {
        keep_text(path, replace_words(write_words(model, 100 + next_random(&files->random) % 60),
                                      20 + next_random(&files->random) % 40));
    }
}

static void rename_one(struct files *files, unsigned number)
{
    char path[64];
    const char *ending = strrchr(files->paths[number], '.');
    snprintf(path, sizeof path, "all/%u/%02u-%u%s", next_random(&files->random) % 3,
             next_random(&files->random) % 100, files->named++, ending);
    assert_int_equal(rename(files->paths[number], path), 0);
    strcpy(files->paths[number], path);
}

static void change_one(struct files *files)
{
    unsigned number = next_random(&files->random) % FILES;
    if (!files->paths[number][0]) {
        write_one(files, number);
        return;
    }
    switch (next_random(&files->random) % 4) {
    case 0: /* another content under the same name */
        unlink(files->paths[number]);
        files->named--;
        write_one(files, number);
        break;
    case 1:
        unlink(files->paths[number]);
        files->paths[number][0] = '\0';
        break;
    default:
        rename_one(files, number);
    }
}

static struct ran scan(const char *way, bool cached)
{
    static const struct {
        const char *name, *words[6];
    } ways[] = {
        {"plain", {"all"}},
        {"pixels", {"--check", "pixels", "all"}},
        {"parts", {"all/0", "all/2", "all/1"}},
        {"across", {"--cross-folder", "all/2", "all/1", "all/0"}},
        {"reference", {"--reference", "all/1", "all"}},
        {"near", {"--max-distance", "4", "--views", "full", "all"}},
    };
    const char *words[12] = {"scan", "--json", cached ? "-q" : "--no-cache"};
    size_t count = 3, at = 0;
    while (strcmp(ways[at].name, way) != 0)
        at++;
    for (size_t i = 0; i < 6 && ways[at].words[i]; i++)
        words[count++] = ways[at].words[i];
    return command_run(NULL, words);
}

static void assert_same_answers(unsigned round)
{
    static const char *const ways[] = {"plain", "pixels", "parts", "across", "reference", "near"};
    for (size_t i = round % 2; i < sizeof ways / sizeof *ways; i += 2) {
        struct ran known = scan(ways[i], true), anew = scan(ways[i], false);
        assert_code(&known, 0);
        assert_code(&anew, 0);
        assert_string_equal(known.out, anew.out);
        assert_has(known.out, "group");
        ran_free(&known);
        ran_free(&anew);
    }
}

static void answers_are_those_of_a_first_scan(void **state)
{
    (void)state;
    struct files files = {.random = 7};
    make_folder("all");
    make_folder("all/0");
    make_folder("all/1");
    make_folder("all/2");
    for (unsigned i = 0; i < FILES / 2; i++)
        write_one(&files, 2 * i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        assert_same_answers(round);
        for (unsigned i = 0; i < (round % 4 ? 4 : FILES / 2); i++)
            change_one(&files);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(answers_are_those_of_a_first_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
