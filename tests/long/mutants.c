/* Thousands of mutants of media of every format through `doppel scan`, so many in a folder:
 * long-mutants [COUNT [IN_A_SCAN [SEED [DIR...]]]]; of small files in DIR, too. Each must be read,
 * or refused with a sentence, and doppel itself must end well. What cost a worker its life, and
 * what a sanitizer says, is counted and kept. */
#include "command.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio_mutants.h"
#include "video_mutants.h"

enum { MOST_SOURCES = 2000, MOST_BYTES = 256 << 10, SCAN_SECONDS = 3600 };
enum kind { IMAGES, TEXTS, AUDIO, VIDEOS, FOUND, KINDS };

static struct source {
    char extension[8];
    struct file file;
} sources[MOST_SOURCES];

static size_t source_count, ends[KINDS]; /* of the sources of each kind */
static unsigned wanted = 20000, in_a_scan = 1000, seed = 1;
static char **folders;

/* ---- what is changed ---- */

static void take(struct file file, const char *extension)
{
    if (!file.data || source_count == MOST_SOURCES)
        return;
    struct source *source = &sources[source_count++];
    source->file = file;
    snprintf(source->extension, sizeof source->extension, "%s", extension);
}

static void take_images(void)
{
    struct scene scene = scene_make(SCENE_SMOOTH, 160, 120);
    for (enum doppel_format format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_RAW; format++)
        take(make_any(format, &scene), "img");
    take(make_jpeg(&scene, &(struct jpeg_how){.progressive = true, .orientation = 6}), "jpg");
    take(make_jpeg(&scene, &(struct jpeg_how){.colours = JPEG_CMYK}), "jpg");
    take(make_png(&scene, &(struct png_how){.colour_type = 2, .interlaced = true}), "png");
#ifdef HAVE_WEBP
    take(make_webp(&scene, &(struct webp_how){.lossless = true, .orientation = 3}), "webp");
    take(make_webp(&scene, &(struct webp_how){.animated = true}), "webp");
#endif
    scene_free(&scene);
}

static void take_texts(void)
{
    char words[6000] = "", page[7000], wide[2 * sizeof words] = "\xff\xfe";
    uint32_t random = 7;
    for (size_t at = 0; at < sizeof words - 12;)
        at += (size_t)sprintf(words + at, "w%u ", (unsigned)(next_random(&random) % 5000));
    size_t length = strlen(words);
    for (size_t i = 0; i < length; i++)
        wide[2 + 2 * i] = words[i];
    take(file_of(words, length), "txt");
    take(file_of(wide, 2 + 2 * length), "txt");
    snprintf(page, sizeof page, "# A head\n\n* one\n* [two](there)\n\n```\ncode\n```\n%s", words);
    take(file_of(page, strlen(page)), "md");
    snprintf(page, sizeof page,
             "<!DOCTYPE html><html><head><title>t</title></head><body><table><tr><td>&eacute;"
             "<p>%.*s</td></table><svg><p>%s</body></html>",
             (int)length / 2, words, words + length / 2);
    take(file_of(page, strlen(page)), "html");
}

static void take_containers(size_t count, const struct file *files)
{
    for (size_t i = 0; i < count; i++)
        take(files[i], "av");
}

static int take_found(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)walk;
    if (type != FTW_F || stat->st_size == 0 || stat->st_size > MOST_BYTES)
        return 0;
    size_t size;
    char *bytes = read_file(path, &size);
    const char *dot = strrchr(path, '.');
    take(file_of(bytes, size), dot && strlen(dot) < 7 && !strchr(dot, '/') ? dot + 1 : "any");
    free(bytes);
    return 0;
}

static void take_sources(void)
{
    struct file audio[AUDIO_SEEDS], videos[VIDEO_SEEDS];
    take_images();
    ends[IMAGES] = source_count;
    take_texts();
    ends[TEXTS] = source_count;
    take_containers(audio_seeds(audio), audio);
    ends[AUDIO] = source_count;
    take_containers(video_seeds(videos), videos);
    ends[VIDEOS] = source_count;
    for (char **folder = folders; *folder; folder++)
        assert_int_equal(nftw(*folder, take_found, 16, FTW_PHYS), 0);
    ends[FOUND] = source_count;
}

/* Of each kind as many, though there are more formats of videos than of texts. */
static const struct source *source_of(unsigned number)
{
    unsigned kinds = ends[FOUND] > ends[VIDEOS] ? KINDS : FOUND, kind = number % kinds;
    size_t first = kind ? ends[kind - 1] : 0;
    return &sources[first + number / kinds % (ends[kind] - first)];
}

/* Change, cut, double or wipe a few places, mostly near the beginning, where the headers are. */
static size_t mutate(uint8_t *bytes, size_t size, uint32_t *random)
{
    unsigned changes = 1 + next_random(random) % 6;
    for (unsigned i = 0; i < changes && size > 8; i++) {
        size_t reach = next_random(random) % 3 ? size : size < 200 ? size : 200;
        size_t at = next_random(random) % reach;
        size_t length = 1 + next_random(random) % (size - at < 40 ? size - at : 40);
        switch (next_random(random) % 6) {
        case 0:
            bytes[at] ^= (uint8_t)(1 << next_random(random) % 8);
            break;
        case 1:
            bytes[at] = (uint8_t)next_random(random);
            break;
        case 2:
            memset(bytes + at, next_random(random) & 1 ? 0xff : 0, length);
            break;
        case 3:
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
            break;
        case 4:
            memmove(bytes + at, bytes + next_random(random) % (size - length + 1), length);
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
    for (unsigned i = 0; i < in_a_scan; i++) {
        const struct source *source = source_of(first + i);
        struct file copy = file_of(source->file.data, source->file.size);
        char path[64];
        snprintf(path, sizeof path, "mutants/%06u.%s", i, source->extension);
        write_file(path, copy.data, mutate(copy.data, copy.size, random));
        file_free(&copy);
    }
}

/* ---- what becomes of it ---- */

struct totals {
    unsigned mutants, read, refused, crashed, hung, reports;
    unsigned long least_kib, most_kib; /* of doppel, a scan's most */
};

static unsigned long most_memory_kib(pid_t pid)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %lu", &kib);
    if (status)
        fclose(status);
    return kib;
}

static struct ran scan(unsigned long *out_kib)
{
    struct ran ran;
    struct running running = command_start(
        NULL, (const char *const[]){"scan", "--json", "-v", "--timeout", "5m", "mutants", NULL});
    while (!command_ended(&running, &ran)) {
        unsigned long kib = most_memory_kib(running.pid);
        *out_kib = kib ? kib : *out_kib;
        if (now_seconds() - running.began > SCAN_SECONDS) {
            kill(running.pid, SIGKILL);
            fail_msg("doppel hangs");
        }
        pause_ms(2);
    }
    return ran;
}

/* The numbers of the mutants that come after `before` in some line, and not at its end. */
static void mark_named(const char *text, const char *before, bool *marks)
{
    for (const char *at = text; (at = strstr(at, before)); at++) {
        unsigned number = (unsigned)atoi(at + strlen(before));
        const char *colon = strchr(at + strlen(before), *before == '"' ? '"' : ':');
        if (number < in_a_scan && colon && colon[1] && colon[1] != '\n')
            marks[number] = true;
    }
}

/* It is worth a bug report to whoever wrote the decoder. */
static void keep_killer(const char *line)
{
    char path[64], to[128];
    print_message("%s\n", line);
    if (sscanf(line, "doppel: %60[^:]", path) == 1 && access(path, R_OK) == 0) {
        snprintf(to, sizeof to, "/tmp/doppel-killer-%u-%s", seed, strrchr(path, '/') + 1);
        copy_file(path, to);
    }
}

static void look_at_lines(const char *err, struct totals *totals)
{
    for (const char *end; (end = strchr(err, '\n')); err = end + 1) {
        char line[600];
        snprintf(line, sizeof line, "%.*s", (int)(end - err), err);
        bool crashed = strstr(line, ": the decoder "), hung = strstr(line, ": took longer than ");
        bool reports = strstr(line, "Sanitizer") || strstr(line, "runtime error");
        totals->crashed += crashed;
        totals->hung += hung;
        totals->reports += reports;
        if (crashed || hung || reports)
            keep_killer(line);
    }
}

static void look_at(const struct ran *ran, unsigned long kib, struct totals *totals)
{
    bool *read = calloc(in_a_scan, 2 * sizeof *read), *named = read + in_a_scan;
    assert_non_null(read);
    struct ran hash = doppel("hash", "--json", "-q", "mutants"); /* by what the scan has cached */
    mark_named(hash.out, "\"path\":\"mutants/", read);
    mark_named(ran->err, "doppel: mutants/", named);
    for (unsigned i = 0; i < in_a_scan; i++) {
        if (!read[i] && !named[i])
            fail_msg("%06u: neither read nor refused", i);
        totals->read += read[i];
        totals->refused += !read[i];
    }
    totals->mutants += in_a_scan;
    if (!totals->least_kib || kib < totals->least_kib)
        totals->least_kib = kib;
    if (kib > totals->most_kib)
        totals->most_kib = kib;
    ran_free(&hash);
    free(read);
}

static void mutants(void **state)
{
    (void)state;
    struct totals totals = {0};
    uint32_t random = seed * 2654435761u + 1;
    take_sources();
    double began = now_seconds();
    while (totals.mutants < wanted) {
        unsigned long kib = 0;
        make_folder("mutants");
        write_mutants(totals.mutants, &random);
        struct ran ran = scan(&kib);
        look_at_lines(ran.err, &totals);
        if (ran.code != 0 && ran.code != 3)
            fail_msg("exit code %d: %.3000s", ran.code, ran.err);
        look_at(&ran, kib, &totals);
        ran_free(&ran);
        assert_int_equal(system("rm -r mutants"), 0);
    }
    print_message("| sources | mutants | in a scan | read | refused | crashed | hung | reports of "
                  "sanitizers | most memory of doppel | seconds |\n"
                  "|---|---|---|---|---|---|---|---|---|---|\n"
                  "| %zu | %u | %u | %u | %u | %u | %u | %u | %lu to %lu MB | %.0f |\n",
                  source_count, totals.mutants, in_a_scan, totals.read, totals.refused,
                  totals.crashed, totals.hung, totals.reports, totals.least_kib >> 10,
                  totals.most_kib >> 10, now_seconds() - began);
    assert_int_equal(totals.crashed + totals.hung + totals.reports, 0);
}

int main(int argc, char **argv)
{
    unsigned *const numbers[] = {&wanted, &in_a_scan, &seed};
    for (int i = 1; i < argc && i < 4; i++)
        *numbers[i - 1] = (unsigned)atoi(argv[i]);
    folders = argv + (argc < 4 ? argc : 4);
    const struct CMUnitTest tests[] = {IN_SANDBOX(mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
