/* Every format of images, and audio and video in many containers, is read by workers in their
 * sandbox. */
#include "command.h"

#include <stdio.h>

#include "audio_mutants.h"
#include "video_mutants.h"

static unsigned kept;

static void keep_file(struct file file)
{
    char path[32];
    if (!file.data)
        return;
    snprintf(path, sizeof path, "files/%02u.m4v", kept++); /* one has no other sign of what it is */
    write_file(path, file.data, file.size);
    file_free(&file);
}

static void expect_all_read(const char *kind)
{
    struct ran ran = doppel("hash", "files", "--json", "--kind", kind);
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"path\""), kept);
    ran_free(&ran);
}

static void images(void **state)
{
    (void)state;
    kept = 0;
    make_folder("files");
    struct scene scene = scene_make(SCENE_SMOOTH, 160, 120);
    for (enum doppel_format format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++)
        keep_file(make_any(format, &scene));
    scene_free(&scene);
    expect_all_read("image");
}

static void expect_seeds_read(const char *kind, const struct file *seeds, size_t count)
{
    kept = 0;
    make_folder("files");
    for (size_t i = 0; i < count; i++)
        keep_file(seeds[i]);
    expect_all_read(kind);
}

static void recordings(void **state)
{
    (void)state;
    struct file seeds[AUDIO_SEEDS];
    expect_seeds_read("audio", seeds, audio_seeds(seeds));
}

static void videos(void **state)
{
    (void)state;
    struct file seeds[VIDEO_SEEDS];
    expect_seeds_read("video", seeds, video_seeds(seeds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SANDBOX(images), IN_SANDBOX(recordings),
                                       IN_SANDBOX(videos)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
