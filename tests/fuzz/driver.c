/* A fuzz target without libFuzzer: files made on the spot, and mutations of them that are the same
 * on every run. `--seeds DIR` writes the files instead, as a first corpus for the real fuzzer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "make.h"

enum { MUTATIONS = 300, MAX_SEEDS = 96 };

static uint64_t state = 42;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* ---- seeds ---- */

static size_t add(struct file *seeds, size_t count, struct file file)
{
    if (file.data && count == MAX_SEEDS)
        abort(); /* raise it */
    if (file.data)
        seeds[count++] = file;
    return count;
}

static size_t add_jpegs(struct file *seeds, size_t count, const struct scene *scene)
{
    for (int colours = JPEG_YCC; colours <= JPEG_YCCK; colours++) {
        struct jpeg_how how = {.colours = (enum jpeg_colours)colours, .orientation = 6};
        count = add(seeds, count, make_jpeg(scene, &how));
        how.progressive = true;
        count = add(seeds, count, make_jpeg(scene, &how));
    }
    return add(seeds, count, make_jpeg(scene, &(struct jpeg_how){.separate_scans = true}));
}

static size_t add_pngs(struct file *seeds, size_t count, const struct scene *scene)
{
    static const int types[] = {0, 2, 3, 4, 6};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct png_how how = {.colour_type = types[i], .orientation = 5};
        how.transparent_colour = types[i] < 4;
        count = add(seeds, count, make_png(scene, &how));
        how.interlaced = true;
        how.depth = types[i] == 3 ? 4 : 16;
        count = add(seeds, count, make_png(scene, &how));
    }
    return count;
}

#ifdef HAVE_WEBP
static size_t add_webps(struct file *seeds, size_t count, const struct scene *scene)
{
    for (int i = 0; i < 4; i++)
        count =
            add(seeds, count, make_webp(scene, &(struct webp_how){i & 1, i & 2, i & 2 ? 7 : 0}));
    return count;
}
#endif

static size_t make_seeds(struct file *seeds)
{
    size_t count = 0;
    for (const enum doppel_format *format = fuzz_formats; *format; format++) {
        for (int kind = SCENE_SMOOTH; kind <= SCENE_TWO; kind++) {
            struct scene scene = scene_make((enum scene_kind)kind, 48, 40);
            if (*format == DOPPEL_FORMAT_JPEG && kind == SCENE_SMOOTH)
                count = add_jpegs(seeds, count, &scene);
            else if (*format == DOPPEL_FORMAT_PNG && kind == SCENE_ALPHA)
                count = add_pngs(seeds, count, &scene);
#ifdef HAVE_WEBP
            else if (*format == DOPPEL_FORMAT_WEBP && kind == SCENE_ALPHA)
                count = add_webps(seeds, count, &scene);
#endif
            else
                count = add(seeds, count, make_any(*format, &scene));
            scene_free(&scene);
        }
    }
    return count;
}

static int write_seeds(const struct file *seeds, size_t count, const char *directory)
{
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%02zu", directory, i);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(seeds[i].data, 1, seeds[i].size, out) != seeds[i].size || fclose(out)) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

/* ---- mutations ---- */

static void mutate(uint8_t *data, size_t *size)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff};
    unsigned changes = 1 + next_random() % 6;
    for (unsigned i = 0; i < changes; i++) {
        /* Most of what can go wrong is in headers, and those are at the front. */
        size_t range = next_random() % 2 && *size > 128 ? 128 : *size;
        size_t at = next_random() % range;
        unsigned way = next_random() % 8;
        if (way < 3)
            data[at] ^= (uint8_t)(1 << next_random() % 8);
        else if (way < 5)
            data[at] = telling[next_random() % sizeof telling];
        else if (way < 7)
            data[at] = (uint8_t)next_random();
        else
            memmove(data + at, data + next_random() % *size / 2, (*size - at) / 2);
    }
    if (next_random() % 4 == 0)
        *size = 1 + next_random() % *size;
}

static void run_mutations(const struct file *seed)
{
    LLVMFuzzerTestOneInput(seed->data, seed->size);
    for (int i = 0; i < MUTATIONS; i++) {
        /* A block of its own size: a sanitizer sees a step beyond it. */
        size_t size = seed->size;
        uint8_t *data = malloc(size);
        if (!data)
            abort();
        memcpy(data, seed->data, size);
        mutate(data, &size);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
}

/* Decoders complain on standard error; here that is noise. */
static void hush(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!getenv("DOPPEL_FUZZ_LOUD") && null >= 0)
        dup2(null, STDERR_FILENO);
}

int main(int argument_count, char **arguments)
{
    struct file seeds[MAX_SEEDS];
    size_t count = make_seeds(seeds);
    int failed = 0;
    if (argument_count == 3 && !strcmp(arguments[1], "--seeds")) {
        failed = write_seeds(seeds, count, arguments[2]);
    } else {
        hush();
        for (size_t i = 0; i < count; i++)
            run_mutations(&seeds[i]);
        printf("%zu seeds, %d mutations of each\n", count, MUTATIONS);
    }
    for (size_t i = 0; i < count; i++)
        file_free(&seeds[i]);
    return failed;
}
