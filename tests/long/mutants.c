/* Thousands of mutants of audio pictures through `doppel hash`: mutants [COUNT [SEED]]. Each must
 * be hashed or reported; what cost a worker its life is counted and kept. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"

enum { SOURCES = 10, BATCH = 500 };

static struct {
    const char *extension;
    char *bytes;
    size_t size;
} sources[SOURCES];

static size_t source_count;

static void take(const char *path, const char *extension)
{
    if (access(path, R_OK) != 0)
        return;
    sources[source_count].extension = extension;
    sources[source_count].bytes = read_file(path, &sources[source_count].size);
    source_count++;
}

/* Other formats, where ffmpeg or the like of it is there to write them. */
static void convert(const char *command, const char *path, const char *extension)
{
    if (system(command) != 0)
        print_message("no %s here: left out\n", extension);
    take(path, extension);
}

static void make_sources(void)
{
    keep_image("a.jpg", draw_image(5, 1, 200, 150), 85);
    keep_image("a.png", draw_image(5, 1, 120, 90), 0);
    take("a.jpg", "jpg");
    take("a.png", "png");
#define FFMPEG "ffmpeg -v quiet -y -i a.png "
    convert(FFMPEG "a.gif", "a.gif", "gif");
    convert(FFMPEG "a.bmp", "a.bmp", "bmp");
    convert(FFMPEG "a.tiff", "a.tiff", "tiff");
    convert(FFMPEG "a.tga", "a.tga", "tga");
    convert(FFMPEG "a.webp", "a.webp", "webp");
    convert(FFMPEG "-f avif a.avif", "a.avif", "avif");
    convert(FFMPEG "a.jxl", "a.jxl", "jxl");
}

/* Change, cut, double or wipe a few places, mostly near the beginning, where the headers are. */
static size_t mutate(char *bytes, size_t size, uint32_t *random)
{
    unsigned changes = 1 + next_random(random) % 6;
    for (unsigned i = 0; i < changes && size > 8; i++) {
        size_t reach = next_random(random) % 3 ? size : size < 200 ? size : 200;
        size_t at = next_random(random) % reach;
        size_t length = 1 + next_random(random) % (size - at < 40 ? size - at : 40);
        switch (next_random(random) % 6) {
        case 0:
            bytes[at] ^= (char)(1 << next_random(random) % 8);
            break;
        case 1:
            bytes[at] = (char)next_random(random);
            break;
        case 2:
            memset(bytes + at, next_random(random) & 1 ? 0xff : 0, length);
            break;
        case 3:
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
            break;
        case 4:
            memmove(bytes + at, bytes + next_random(random) % (size - length), length);
            break;
        case 5:
            if (next_random(random) % 4 == 0)
                size = 1 + next_random(random) % size;
            break;
        }
    }
    return size;
}

static void write_mutants(unsigned first, uint32_t *random)
{
    for (unsigned i = 0; i < BATCH; i++) {
        size_t which = next_random(random) % source_count, size = sources[which].size;
        char path[64], *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, sources[which].bytes, size);
        snprintf(path, sizeof path, "mutants/%06u.%s", first + i, sources[which].extension);
        write_file(path, copy, mutate(copy, size, random));
        free(copy);
    }
}

struct totals {
    unsigned mutants, hashed, refused, crashed, hung, starved;
};

/* Keep what killed a worker: it is worth a bug report to whoever wrote the decoder. */
static void keep_killers(const char *err)
{
    char line[600], path[64];
    for (const char *end; (end = strchr(err, '\n')); err = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - err), err);
        if (!strstr(line, "crash") && !strstr(line, "died") && !strstr(line, "longer"))
            continue;
        print_message("%s\n", line);
        if (sscanf(line, "doppel: mutants/%40[^:]", path) == 1) {
            char from[128], to[128];
            snprintf(from, sizeof from, "mutants/%s", path);
            snprintf(to, sizeof to, "/tmp/doppel-killer-%s", path);
            copy_file(from, to);
        }
    }
}

static void scan_batch(struct totals *totals)
{
    struct ran ran = doppel("hash", "--json", "-q", "--timeout", "10s", "mutants");
    assert_true(ran.code == 0 || ran.code == 3);
    unsigned hashed = count_lines(ran.out, "\"path\""),
             said = count_lines(ran.err, "doppel: mutants/");
    if (hashed + said != BATCH)
        fail_msg("%u hashed and %u reported of %u:\n%.3000s", hashed, said, (unsigned)BATCH,
                 ran.err);
    totals->mutants += BATCH;
    totals->hashed += hashed;
    totals->refused += said;
    totals->crashed += count_lines(ran.err, "crash") + count_lines(ran.err, "died");
    totals->hung += count_lines(ran.err, "longer than");
    totals->starved += count_lines(ran.err, "emory");
    keep_killers(ran.err);
    ran_free(&ran);
}

static unsigned wanted = 20000, seed = 1;

static void mutants(void **state)
{
    (void)state;
    struct totals totals = {0};
    uint32_t random = seed * 2654435761u + 1;
    make_sources();
    double began = now_seconds();
    while (totals.mutants < wanted) {
        make_folder("mutants");
        write_mutants(totals.mutants, &random);
        scan_batch(&totals);
        assert_int_equal(system("rm -r mutants"), 0);
    }
    print_message(
        "| mutants | formats | hashed | reported | of these: crashed | hung | out of memory "
        "| seconds |\n|---|---|---|---|---|---|---|---|\n| %u | %zu | %u | %u | %u | %u | "
        "%u | %.0f |\n",
        totals.mutants, source_count, totals.hashed, totals.refused, totals.crashed, totals.hung,
        totals.starved, now_seconds() - began);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted = (unsigned)atoi(argv[1]);
    if (argc > 2)
        seed = (unsigned)atoi(argv[2]);
    const struct CMUnitTest tests[] = {IN_SANDBOX(mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
