/* Recordings and videos of a library of which what is kept is damaged, or never was what it should
 * be: they are named wherever they would have been compared, the others are found all the same, and
 * nothing is new on their strength. */
#include "command.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio.h"
#include "collection.h"
#include "videos.h"

static void run_sql(const char *sql)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open("library/catalogue.db", &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message))
        fail_msg("%s: %s", sql, message);
    sqlite3_close(database);
}

/* Two recordings and two videos, and a copy of the first of each. */
static int make_files(void **state)
{
    if (sandbox_enter(state))
        return -1;
    struct recording music = audio_music(20, 1);
    make_folder("files");
    if (!write_encoded("again.flac", &music))
        skip();
    keep_wav("files/1.wav", music);
    keep_wav("files/2.wav", audio_music(20, 2));
    keep_video_and_audio("files/3.mp4", (struct video_how){.view.seed = 1, .seconds = 15},
                         audio_music(15, 3));
    keep_video("files/4.mp4", (struct video_how){.view.seed = 2, .seconds = 15});
    keep_video("again.mp4", (struct video_how){.view.seed = 1, .seconds = 15, .quality = 10});
    free(doppel_prints(0, "add", "-L", "library", "files"));
    return 0;
}

/* One byte of an item's attachment is another; again, it is what it was. */
static void flip_byte(sqlite3_int64 item, int at)
{
    sqlite3 *database;
    sqlite3_blob *blob;
    unsigned char byte;
    assert_int_equal(sqlite3_open("library/catalogue.db", &database), SQLITE_OK);
    assert_int_equal(sqlite3_blob_open(database, "main", "attachment", "data", item, 1, &blob),
                     SQLITE_OK);
    assert_int_equal(sqlite3_blob_read(blob, &byte, 1, at), SQLITE_OK);
    byte ^= 1;
    assert_int_equal(sqlite3_blob_write(blob, &byte, 1, at), SQLITE_OK);
    assert_int_equal(sqlite3_blob_close(blob), SQLITE_OK);
    sqlite3_close(database);
}

static void no_length_is_lost_in_silence(void **state)
{
    (void)state;
    static const char *const named[] = {[1] = "files/1.wav", [3] = "files/3.mp4"};
    char *whole = doppel_prints(0, "list", "--json", "-L", "library");
    int lost = 0;
    for (int item = 1; item <= 3; item += 2)
        for (int at = 0; at < 28; at += 3) {
            flip_byte(item, at);
            struct ran ran = doppel("list", "--json", "-L", "library");
            assert_int_equal(count_lines(ran.out, ""), 4);
            if (ran.code == 3)
                assert_has(ran.err, named[item]);
            else if (count_lines(ran.out, "\"duration\"") < 4)
                fail_msg("byte %d of item %d: a length is lost", at, item);
            lost += ran.code == 3;
            ran_free(&ran);
            flip_byte(item, at);
        }
    assert_true(lost >= 4);
    char *again = doppel_prints(0, "list", "--json", "-L", "library");
    assert_string_equal(again, whole);
    free(again);
    free(whole);
}

static void expect_named(const char *verb, const char *file, const char *damaged, const char *says)
{
    struct ran ran = doppel(verb, "--json", "-L", "library", file);
    assert_code(&ran, 3);
    assert_true(reported(ran.err, damaged));
    assert_has(ran.out, says);
    assert_lacks(ran.out, "\"decision\":\"new\"");
    ran_free(&ran);
}

static void expect_all_named(const char *id, const char *copy, const char *damaged)
{
    char sql[128], list[64], *path = realpath(damaged, NULL);
    free(doppel_prints(0, "check", "-L", "library", copy));
    snprintf(sql, sizeof sql, "UPDATE attachment SET data = zeroblob(length(data)) WHERE item = %s",
             id);
    run_sql(sql);
    snprintf(list, sizeof list, "\"unreadable\":[%s]", id);
    expect_named("find", copy, path, list);
    expect_named("check", copy, path, list);
    expect_named("check", copy, path, "\"decision\":\"unreadable\"");
    expect_named("ingest", copy, path, "\"decision\":\"unreadable\"");
    struct ran ran = doppel("groups", "-L", "library");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, path));
    ran_free(&ran);
    free(path);
}

static void damaged_items_are_named(void **state)
{
    (void)state;
    expect_all_named("1", "again.flac", "files/1.wav");
    expect_all_named("3", "again.mp4", "files/3.mp4");
    struct ran ran = doppel("find", "-L", "library", "files/2.wav", "files/4.mp4");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, "work/files/2.wav"), 1);
    assert_int_equal(count_lines(ran.out, "work/files/4.mp4"), 1);
    assert_int_equal(count_lines(ran.err, "1.wav: what the library keeps of it is damaged"), 1);
    ran_free(&ran);
    ran = doppel("report", "-L", "library", "-o", "page.html");
    assert_code(&ran, 3);
    assert_has(ran.err, "files/1.wav: ");
    ran_free(&ran);
    free(doppel_prints(0, "add", "-L", "library", "files"));
    free(doppel_prints(0, "check", "-L", "library", "again.flac", "again.mp4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_length_is_lost_in_silence, make_files, sandbox_leave),
        cmocka_unit_test_setup_teardown(damaged_items_are_named, make_files, sandbox_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
