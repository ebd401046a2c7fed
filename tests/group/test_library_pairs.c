/* The groups of images of a library, by pairs that are kept, are those that are found without:
 * after any additions, removals and changes, of parts of the library, with other options, and
 * whatever became of the file. */
#include "tests/group/paired_library.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/store/folder.h"

enum { ROUNDS = 160, OPTIONS = 4 };

/* ---- what befalls the file ---- */

static void flip_byte(struct world *world, const char *path, long size)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)draw(world, (unsigned)size), SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1 << draw(world, 8), file);
    fclose(file);
}

/* @param stash a file of another time */
static void harm_file(struct world *world, const char *stash)
{
    char path[256];
    struct stat status;
    if (!find_pairs_file(world, path, sizeof path) || stat(path, &status) || !status.st_size)
        return;
    switch (draw(world, 6)) {
    case 0:
        assert_int_equal(truncate(path, (off_t)draw(world, (unsigned)status.st_size)), 0);
        break;
    case 1:
        flip_byte(world, path, (long)status.st_size);
        break;
    case 2:
        unlink(path);
        break;
    case 3:
        copy_file(path, stash);
        break;
    case 4:
        copy_file(stash, path);
        break;
    }
}

static void change_catalogue(struct world *world, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(folder_path(world->folder, "library/catalogue.db"), &database),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* The kept tables are forgotten: what is new is joined. */
static void forget_tables(struct world *world)
{
    doppel_library_close(world->library);
    change_catalogue(world, "DELETE FROM doppel_index_log; DELETE FROM doppel_index_segment;"
                            "DELETE FROM doppel_index");
    open_world(world);
}

/* Some fingerprints are damaged, until they are as they were. */
static void toggle_damage(struct world *world)
{
    char sql[160];
    world->damaged = !world->damaged;
    snprintf(sql, sizeof sql, "UPDATE fingerprint SET data = %s WHERE item %% 7 = 3",
             world->damaged ? "CAST(data || x'00' AS BLOB)" : "substr(data, 1, length(data) - 1)");
    change_catalogue(world, sql);
}

static void choose_wanted(struct world *world)
{
    doppel_item_set_free(&world->wanted);
    if (draw(world, 4))
        return;
    world->wanted.some = true;
    world->wanted.ids = calloc(FILES, sizeof *world->wanted.ids);
    for (unsigned i = 0; i < FILES; i++)
        if (world->ids[i] && draw(world, 3))
            world->wanted.ids[world->wanted.count++] = world->ids[i];
    qsort(world->wanted.ids, world->wanted.count, sizeof *world->wanted.ids, compare_ids);
}

static void choose_options(struct world *world)
{
    const int32_t distances[OPTIONS] = {-1, -1, 3, 9};
    if (draw(world, 6))
        return;
    world->options.compare.max_distance = distances[draw(world, OPTIONS)];
    world->options.compare.orientations = draw(world, 3);
}

static void test_groups_are_those_found_without(void **state)
{
    struct world world;
    char *stash = strdup(folder_path(*state, "stash"));
    world_make(&world, *state, 7);
    for (unsigned file = 0; file < FILES / 2; file++)
        put_file(&world, file);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char when[32];
        snprintf(when, sizeof when, "round %u", round);
        change_items(&world);
        choose_wanted(&world);
        choose_options(&world);
        if (draw(&world, 3) == 0)
            harm_file(&world, stash);
        if (draw(&world, 8) == 0)
            forget_tables(&world);
        const bool damage = draw(&world, 5) == 0;
        if (damage)
            toggle_damage(&world);
        assert_groups(&world, when);
        assert_groups(&world, "again");
        if (damage) {
            toggle_damage(&world);
            assert_groups(&world, "mended");
        }
    }
    free(stash);
    world_free(&world);
}

/* Killed at any moment, the file is the former one, or the next. */
static void test_killed_while_it_is_written(void **state)
{
    enum { KILLS = 25 };
    static struct told_groups found;
    struct world world;
    world_make(&world, *state, 11);
    for (unsigned file = 0; file < FILES; file++)
        put_file(&world, file);
    for (unsigned kill_number = 0; kill_number < KILLS; kill_number++) {
        change_items(&world);
        const unsigned wait_us = draw(&world, 20000);
        pid_t child = fork();
        if (child == 0) {
            find_groups(&world, &found);
            _exit(0);
        }
        usleep(wait_us);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_groups(&world, "killed");
    }
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_groups_are_those_found_without),
        IN_FOLDER(test_killed_while_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
