/* Videos that are cut short, damaged or pretend: each is hashed or reported, and the run goes on.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "video.h"
#include "audio.h"

enum { PATH_BYTES = 300, MUTANTS = 24 };

static const char *const endings[] = {"mp4", "mkv", "avi", "ts"};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* A small video with audio a container. */
static void make_whole_videos(void)
{
    struct recording recording = audio_music(4, 1);
    make_folder("whole");
    make_folder("bad");
    for (size_t i = 0; i < ENDINGS; i++) {
        char path[PATH_BYTES];
        const struct video_how how = {.view.seed = i + 1,
                                      .seconds = 4,
                                      .rate = 10,
                                      .width = 96,
                                      .height = 72,
                                      .audio = &recording};
        snprintf(path, sizeof path, "whole/a.%s", endings[i]);
        if (!video_write(path, &how))
            skip();
    }
    free(recording.samples);
}

static bool hashed(const char *out, const char *path)
{
    const char *at = strstr(out, path);
    return at && at > out && at[-1] == '"' && at[strlen(path)] == '"';
}

/* Hash the folder: nothing is passed over in silence, and a recording video after it is read as
 * ever.
 * @return how many were hashed */
static unsigned assert_each_answered(char (*paths)[PATH_BYTES], size_t count)
{
    unsigned good = 0;
    struct ran ran =
        doppel("hash", "--json", "--no-cache", "--timeout", "20", "bad", "whole/a.mp4");
    assert_true(ran.code == 3 || ran.code == 0);
    for (size_t i = 0; i < count; i++) {
        bool is_hashed = hashed(ran.out, paths[i]);
        if (!is_hashed && !reported(ran.err, paths[i]))
            fail_msg("%s was passed over in silence:\n%s", paths[i], ran.err);
        good += is_hashed;
    }
    assert_lacks(ran.err, "crashed");
    assert_true(hashed(ran.out, "whole/a.mp4"));
    ran_free(&ran);
    return good;
}

static void truncated_videos(void **state)
{
    (void)state;
    static const unsigned percents[] = {1, 5, 20, 50, 80, 95, 99};
    enum { CUTS = sizeof percents / sizeof *percents };
    char paths[ENDINGS * CUTS][PATH_BYTES];
    make_whole_videos();
    for (size_t i = 0; i < ENDINGS; i++) {
        char whole[PATH_BYTES];
        size_t size;
        snprintf(whole, sizeof whole, "whole/a.%s", endings[i]);
        free(read_file(whole, &size));
        for (size_t j = 0; j < CUTS; j++) {
            char *path = paths[i * CUTS + j];
            snprintf(path, PATH_BYTES, "bad/cut%02u.%s", percents[j], endings[i]);
            copy_part(whole, path, size * percents[j] / 100);
        }
    }
    /* From 3 of 4 s on they are of use, but for those whose index lies at their end. */
    assert_true(assert_each_answered(paths, ENDINGS * CUTS) >= 3);
}

/* Bytes here and there, zeros, a part twice. */
static void damage(char *bytes, size_t size, uint32_t *random)
{
    uint32_t way = next_random(random) % 3;
    for (unsigned i = 0; way == 0 && i < 1 + next_random(random) % 60; i++)
        bytes[next_random(random) % size] = (char)next_random(random);
    size_t at = next_random(random) % size, length = next_random(random) % (size - at) / 4;
    if (way == 1)
        memset(bytes + at, 0, length);
    else if (way == 2)
        memmove(bytes + at, bytes, length);
}

static void damaged_videos(void **state)
{
    (void)state;
    char paths[ENDINGS * MUTANTS][PATH_BYTES];
    uint32_t random = 2026;
    make_whole_videos();
    for (size_t i = 0; i < ENDINGS * MUTANTS; i++) {
        char whole[PATH_BYTES];
        size_t size;
        snprintf(whole, sizeof whole, "whole/a.%s", endings[i % ENDINGS]);
        snprintf(paths[i], PATH_BYTES, "bad/%03zu.%s", i, endings[i % ENDINGS]);
        char *bytes = read_file(whole, &size);
        damage(bytes, size, &random);
        write_file(paths[i], bytes, size);
        free(bytes);
    }
    assert_true(assert_each_answered(paths, ENDINGS * MUTANTS) >= ENDINGS);
}

/* Under names of videos: what names other files, and what is none. */
static void pretenders(void **state)
{
    (void)state;
    static const char *const contents[] = {
        "ffconcat version 1.0\nfile '../whole/a.mp4'\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n../whole/a.ts\n#EXT-X-ENDLIST\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5004 RTP/AVP 96\n",
        "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"/>",
        "[playlist]\nFile1=http://127.0.0.1/a.mp4\n",
        "RIFF\xff\xff\xff\xff"
        "AVI LIST\xff\xff\xff\xffhdrlavih",
        "\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff",
    };
    enum { COUNT = sizeof contents / sizeof *contents };
    char paths[COUNT][PATH_BYTES];
    make_whole_videos();
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(paths[i], PATH_BYTES, "bad/%zu.%s", i, endings[i % 3]);
        write_file(paths[i], contents[i], strlen(contents[i]));
    }
    assert_int_equal(assert_each_answered(paths, COUNT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(truncated_videos),
        IN_SANDBOX(damaged_videos),
        IN_SANDBOX(pretenders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
