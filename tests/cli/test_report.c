/* `doppel report`: the data in the page is what scan says; every kind is looked at; what is gone,
 * or cannot be written, is said. How the page behaves: report_page.py. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "collection.h"
#include "videos.h"
#include "audio.h"
#include "writer.h"

/* ---- what is in a page ---- */

/* The JSON in the block of that id; NULL when there is none. */
static json_t *block_of(const char *page, const char *id)
{
    char begin[100];
    snprintf(begin, sizeof begin, "<script type=\"application/json\" id=\"%s\">", id);
    const char *from = strstr(page, begin);
    if (!from)
        return NULL;
    from += strlen(begin);
    const char *end = strstr(from, "</script>");
    assert_non_null(end);
    json_error_t error;
    json_t *json = json_loadb(from, (size_t)(end - from), 0, &error);
    if (!json)
        fail_msg("%s: %s", id, error.text);
    assert_null(memchr(from, '<', (size_t)(end - from)));
    return json;
}

static char *page_at(const char *path)
{
    size_t size;
    char *page = read_file(path, &size);
    assert_int_equal(strlen(page), size);
    return page;
}

/* What was seen of member `member` of group `group`; borrowed from `out_block`, which is given. */
static json_t *seen_of(const char *page, unsigned group, size_t member, json_t **out_block)
{
    char id[40];
    snprintf(id, sizeof id, "looks-%u", group);
    *out_block = block_of(page, id);
    assert_non_null(*out_block);
    json_t *seen = json_array_get(json_object_get(*out_block, "members"), member);
    assert_non_null(seen);
    return seen;
}

static void assert_jpeg(const json_t *value)
{
    const char *text = json_string_value(value);
    assert_non_null(text);
    assert_memory_equal(text, "/9j/", 4); /* its first bytes */
    assert_true(strlen(text) > 200);
}

/* Line by line, but for the digests, which are digests. */
static void assert_groups_equal(json_t *groups, const char *lines)
{
    size_t count = 0;
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1, count++) {
        json_t *wanted = json_loadb(line, (size_t)(end - line), 0, NULL);
        json_t *group = json_array_get(groups, count), *member;
        size_t i;
        json_array_foreach(json_object_get(group, "members"), i, member)
        {
            const char *digest = json_string_value(json_object_get(member, "digest"));
            assert_int_equal(strlen(digest), 32);
            assert_int_equal(strspn(digest, "0123456789abcdef"), 32);
            assert_true(strspn(digest, "0") < 32);
            json_object_del(member, "digest");
        }
        assert_true(json_equal(group, wanted));
        json_decref(wanted);
    }
    assert_true(count > 0);
    assert_int_equal(json_array_size(groups), count);
}

/* ---- pictures ---- */

static void data_is_what_scan_says(void **state)
{
    (void)state;
    make_collection();
    copy_file("pics/tree.jpg", "pics/<script>alert(1)<!--.jpg");
    char *lines = doppel_prints(0, "scan", "--json", "pics");
    free(doppel_prints(0, "report", "pics", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *data = block_of(page, "data");
    assert_string_equal(json_string_value(json_object_get(data, "from")), "scan");
    assert_false(json_is_true(json_object_get(data, "blur")));
    assert_true(json_is_true(json_object_get(data, "looks")));
    assert_groups_equal(json_object_get(data, "groups"), lines);
    assert_lacks(page, "<script>alert(1)");
    assert_lacks(page, "{{");
    free(page);
    free(lines);
    json_decref(data);
}

static void images_are_shown_once_for_their_bytes(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    copy_file("pics/a.jpg", "pics/b.jpg");
    free(doppel_prints(0, "report", "pics", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *block;
    assert_jpeg(json_object_get(seen_of(page, 1, 0, &block), "jpeg"));
    json_t *second = json_array_get(json_object_get(block, "members"), 1);
    assert_int_equal(json_integer_value(json_object_get(second, "as")), 0);
    assert_int_equal(json_object_size(second), 1);
    json_decref(block);
    free(page);
}

/* Two files below so many folders that no path of theirs is taken by the kernel. */
static void hide_deep(const char *a, const char *b)
{
    char name[] =
        "a folder with a rather long name, of which some hundred make twelve thousand bytes";
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 150; i++) {
        assert_int_equal(mkdirat(folder, name, 0700), 0);
        int next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(folder);
        folder = next;
    }
    assert_int_equal(renameat(AT_FDCWD, a, folder, a), 0);
    assert_int_equal(renameat(AT_FDCWD, b, folder, b), 0);
    close(folder);
}

static void what_lies_deep_is_shown(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(3, 1, 320, 240), 90);
    keep_image("b.jpg", draw_image(3, 1, 320, 240), 70);
    hide_deep("a.jpg", "b.jpg");
    free(doppel_prints(0, "report", "-o", "page.html", "."));
    char *page = page_at("page.html");
    for (size_t member = 0; member < 2; member++) {
        json_t *block, *seen = seen_of(page, 1, member, &block);
        assert_null(json_object_get(seen, "gone"));
        assert_jpeg(json_object_get(seen, "jpeg"));
        json_decref(block);
    }
    free(page);
}

static void digests_of_equal_bytes_are_equal(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "report", "pics", "-o", "out.html", "--no-thumbnails", "--blur"));
    char *page = page_at("out.html");
    json_t *data = block_of(page, "data"), *group, *member;
    size_t i, k, identical = 0;
    json_array_foreach(json_object_get(data, "groups"), i, group)
        json_array_foreach(json_object_get(group, "members"), k, member)
    {
        const json_t *kept = json_array_get(json_object_get(group, "members"), 0);
        const char *a = json_string_value(json_object_get(kept, "digest"));
        const char *b = json_string_value(json_object_get(member, "digest"));
        const char *reason = json_string_value(json_object_get(member, "reason"));
        bool same = strcmp(reason, "identical") == 0;
        identical += same;
        assert_int_equal(strcmp(a, b) == 0, same || k == 0);
    }
    assert_true(identical > 0);
    assert_true(json_is_true(json_object_get(data, "blur")));
    assert_false(json_is_true(json_object_get(data, "looks")));
    assert_lacks(page, "id=\"looks-");
    json_decref(data);
    free(page);
}

/* ---- other kinds ---- */

static void texts_are_told_by_their_words(void **state)
{
    (void)state;
    make_folder("texts");
    keep_text("texts/a.txt", write_words(1, 300));
    keep_text("texts/b.txt", replace_words(write_words(1, 300), 100));
    free(doppel_prints(0, "report", "texts", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *block, *run;
    const json_t *text = json_object_get(seen_of(page, 1, 0, &block), "text");
    assert_int_equal(json_array_size(text), 2); /* the beginning, and how much is left out */
    json_t *diff = json_object_get(json_array_get(json_object_get(block, "members"), 1), "diff");
    size_t i, gone = 0, new = 0;
    json_array_foreach(diff, i, run)
    {
        const char *mark = json_string_value(json_array_get(run, 0));
        gone += strcmp(mark, "-") == 0;
        new += strcmp(mark, "+") == 0;
    }
    assert_true(gone >= 2 && gone <= 4);
    assert_int_equal(gone, new);
    json_decref(block);
    free(page);
}

static void audio_are_told_by_their_waves(void **state)
{
    (void)state;
    make_folder("sounds");
    struct recording recording = audio_music(40, 5);
    keep_wav("sounds/part.wav", audio_cut(&recording, 8, 20));
    keep_wav("sounds/whole.wav", recording);
    free(doppel_prints(0, "report", "sounds", "-o", "out.html"));
    char *page = page_at("out.html");
    for (size_t i = 0; i < 2; i++) {
        json_t *block, *seen = seen_of(page, 1, i, &block);
        assert_in_range(json_string_length(json_object_get(seen, "wave")), 640, 1280);
        double seconds = json_number_value(json_object_get(seen, "seconds"));
        assert_true(seconds > (i ? 19.9 : 39.9) && seconds < (i ? 20.1 : 40.1));
        json_decref(block);
    }
    free(page);
}

static void videos_are_told_by_moments_that_they_share(void **state)
{
    (void)state;
    make_folder("films");
    if (chdir("films") != 0)
        fail();
    make_whole_and_clip();
    if (chdir("..") != 0)
        fail();
    free(doppel_prints(0, "report", "films", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *block, *seen = seen_of(page, 1, 0, &block), *clip, *frame;
    assert_int_equal(json_array_size(json_object_get(seen, "frames")), 1);
    clip = json_array_get(json_object_get(block, "members"), 1);
    const json_t *frames = json_object_get(clip, "frames");
    const json_t *kept = json_object_get(clip, "kept_frames");
    size_t i;
    assert_true(json_array_size(frames) > 0);
    assert_int_equal(json_array_size(frames), json_array_size(kept));
    json_array_foreach(frames, i, frame)
    {
        double at = json_number_value(json_object_get(frame, "at"));
        const json_t *other = json_array_get(kept, i);
        double there = json_number_value(json_object_get(other, "at"));
        assert_jpeg(json_object_get(frame, "jpeg"));
        assert_jpeg(json_object_get(other, "jpeg"));
        assert_true(there - at > 9.4 && there - at < 10.6);
    }
    json_decref(block);
    free(page);
}

/* ---- libraries, and what is gone ---- */

static void assert_gone(const char *page, const char *name, const char *why)
{
    json_t *data = block_of(page, "data"), *group, *member, *block = NULL;
    bool found = false;
    size_t i, k;
    json_array_foreach(json_object_get(data, "groups"), i, group)
        json_array_foreach(json_object_get(group, "members"), k, member)
    {
        if (!strstr(json_string_value(json_object_get(member, "path")), name))
            continue;
        json_t *seen = seen_of(page, (unsigned)i + 1, k, &block);
        assert_string_equal(json_string_value(json_object_get(seen, "gone")), why);
        assert_null(json_object_get(seen, "jpeg"));
        found = true;
        json_decref(block);
    }
    assert_true(found);
    json_decref(data);
}

static void a_library_with_files_that_are_gone(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "lib", "pics"));
    char *lines = doppel_prints(0, "groups", "-L", "lib", "--json");
    free(doppel_prints(0, "report", "-L", "lib", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *data = block_of(page, "data");
    assert_string_equal(json_string_value(json_object_get(data, "from")), "library");
    assert_groups_equal(json_object_get(data, "groups"), lines);
    json_decref(data);
    free(page);
    assert_int_equal(unlink("pics/tree-mirrored.jpg"), 0);
    write_file("pics/marble-turned.jpg", "no picture", 10);
    struct ran ran = doppel("report", "-L", "lib", "-o", "out.html");
    assert_code(&ran, 3);
    assert_has(ran.err, "tree-mirrored.jpg: is not there any more\n");
    assert_has(ran.err, "marble-turned.jpg: has changed since it was read\n");
    assert_has(ran.err, "doppel: out.html: ");
    assert_int_equal(count_lines(ran.err, ""), 3);
    ran_free(&ran);
    page = page_at("out.html");
    assert_gone(page, "tree-mirrored.jpg", "is not there any more");
    assert_gone(page, "marble-turned.jpg", "has changed since it was read");
    free(page);
    free(lines);
}

/* Codes that were imported: nothing is wrong with them, and no file is looked for. */
static void items_without_files_have_their_place(void **state)
{
    (void)state;
    make_collection();
    char *lines = doppel_prints(0, "hash", "--json", "pics/tree.jpg", "pics/tree-mirrored.jpg");
    write_file("codes.jsonl", lines, strlen(lines));
    free(lines);
    free(doppel_prints(0, "import", "-q", "-L", "l", "codes.jsonl"));
    free(doppel_prints(0, "report", "-L", "l", "-o", "out.html"));
    size_t size;
    char *page = read_file("out.html", &size);
    assert_has(page, "its codes are all there is");
    assert_has(page, "\"name\":\"pics/tree.jpg\"");
    free(page);
}

static void nothing_found_is_a_page_too(void **state)
{
    (void)state;
    make_folder("empty");
    free(doppel_prints(0, "report", "empty", "-o", "out.html"));
    char *page = page_at("out.html");
    json_t *data = block_of(page, "data");
    assert_int_equal(json_array_size(json_object_get(data, "groups")), 0);
    json_decref(data);
    char *printed = doppel_prints(0, "report", "empty", "-o", "-");
    assert_memory_equal(printed, "<!DOCTYPE html>", 15);
    free(printed);
    free(page);
}

/* ---- wrong use ---- */

static void says_what_is_wrong(void **state)
{
    (void)state;
    make_folder("empty");
    static const struct {
        const char *words[6];
        const char *said;
    } wrong[] = {
        {{"report", "empty"}, "'report' wants '-o PAGE'"},
        {{"report", "empty", "--serve", "-o", "x"}, "one of these"},
        {{"report", "empty", "--serve", "--yes"}, "'--yes' does not go with it"},
        {{"report", "empty", "--serve", "--reason", "near"}, "'--reason' does not go with it"},
        {{"report", "empty", "--serve", "--action", "hardlink"}, "'--action trash' or 'move-to'"},
        {{"scan", "empty", "--serve"}, "serve"},
        {{"report", "empty", "-L", "lib", "-o", "x"}, "give PATHs or '--library', not both"},
        {{"report", "-L", "no-such-library", "-o", "x"}, "no-such-library"},
        {{"report", "empty", "-o", "no-such-folder/x"}, "no-such-folder/x: cannot be written"},
        {{"report", "empty", "-o", "/dev/full"}, "/dev/full: cannot be written"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *words[7] = {0};
        memcpy(words, wrong[i].words, sizeof wrong[i].words);
        struct ran ran = command_run(NULL, words);
        assert_code(&ran, 2);
        assert_has(ran.err, wrong[i].said);
        ran_free(&ran);
        assert_int_not_equal(access("x", F_OK), 0);
    }
}

/* The page that was there stays until the new one is whole. */
static void a_page_that_fails_leaves_the_old_one(void **state)
{
    (void)state;
    make_folder("pages");
    make_collection();
    static const char old[] = "<meta name=\"generator\" content=\"doppel report\">old";
    write_file("pages/out.html", old, strlen(old));
    struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nowhere"}};
    free(doppel_prints(0, "scan", "pics", "--json"));
    struct ran ran = doppel_with(&no_worker, "report", "pics", "-o", "pages/out.html");
    assert_code(&ran, 2);
    ran_free(&ran);
    char *page = page_at("pages/out.html");
    assert_string_equal(page, old);
    free(page);
    assert_int_equal(system("test $(ls pages | wc -l) = 1"), 0);
}

/* Only a page takes the place of a file. */
static void what_is_no_page_is_left_alone(void **state)
{
    (void)state;
    make_collection();
    size_t before_size, after_size;
    char *before = read_file("pics/city.jpg", &before_size);
    struct ran ran = doppel("report", "pics", "-o", "pics/city.jpg");
    assert_code(&ran, 2);
    assert_has(ran.err, "pics/city.jpg: is no page of doppel, left alone");
    ran_free(&ran);
    char *after = read_file("pics/city.jpg", &after_size);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, after_size);
    free(before);
    free(after);
    free(doppel_prints(0, "report", "pics", "-o", "out.html"));
    free(doppel_prints(0, "report", "pics", "-o", "out.html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(data_is_what_scan_says),
        IN_SANDBOX(images_are_shown_once_for_their_bytes),
        IN_SANDBOX(what_lies_deep_is_shown),
        IN_SANDBOX(digests_of_equal_bytes_are_equal),
        IN_SANDBOX(texts_are_told_by_their_words),
        IN_SANDBOX(audio_are_told_by_their_waves),
        IN_SANDBOX(videos_are_told_by_moments_that_they_share),
        IN_SANDBOX(a_library_with_files_that_are_gone),
        IN_SANDBOX(items_without_files_have_their_place),
        IN_SANDBOX(nothing_found_is_a_page_too),
        IN_SANDBOX(says_what_is_wrong),
        IN_SANDBOX(a_page_that_fails_leaves_the_old_one),
        IN_SANDBOX(what_is_no_page_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
