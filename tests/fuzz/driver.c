/* Targets of pictures without libFuzzer: files made on the spot, which are the seeds, and
 * mutations of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "inputs.h"
#include "make.h"

enum { MUTATIONS = 300, MAX_SEEDS = 96 };

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

#ifdef HAVE_TIFF
/* Photometric interpretations, bits, compressions and layouts; and two pages of one file. */
static size_t add_tiffs(struct file *seeds, size_t count, const struct scene *scene)
{
    static const struct tiff_how hows[] = {
        {.photometric = 2, .alpha = TIFF_BESIDE}, {.photometric = 2, .bits = 16, .big = true},
        {.photometric = 2, .separate = true},     {.photometric = 2, .tiled = true},
        {.photometric = 6, .compression = 7},     {.photometric = 5, .compression = 5},
        {.photometric = 3, .compression = 32773}, {.photometric = 0, .bits = 1, .compression = 4},
    };
    const size_t each = sizeof hows / sizeof *hows;
    for (size_t i = 0; i < each; i++) {
        const struct scene scenes[2] = {*scene, *scene};
        const struct tiff_how both[2] = {hows[i], hows[i / 2 * 2]};
        count = add(seeds, count, make_tiff(scenes, both, 1 + i % 2));
    }
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
#ifdef HAVE_TIFF
            else if (*format == DOPPEL_FORMAT_TIFF && kind == SCENE_ALPHA)
                count = add_tiffs(seeds, count, &scene);
#endif
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

/* ---- mutations ---- */

static void mutate(struct inputs *inputs, uint8_t *data, size_t *size)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff};
    unsigned changes = 1 + inputs_random(inputs) % 6;
    for (unsigned i = 0; i < changes; i++) {
        /* Most of what can go wrong is in headers, and those are at the front. */
        size_t range = inputs_random(inputs) % 2 && *size > 128 ? 128 : *size;
        size_t at = inputs_random(inputs) % range;
        unsigned way = inputs_random(inputs) % 8;
        if (way < 3)
            data[at] ^= (uint8_t)(1 << inputs_random(inputs) % 8);
        else if (way < 5)
            data[at] = telling[inputs_random(inputs) % sizeof telling];
        else if (way < 7)
            data[at] = (uint8_t)inputs_random(inputs);
        else
            memmove(data + at, data + inputs_random(inputs) % *size / 2, (*size - at) / 2);
    }
    if (inputs_random(inputs) % 4 == 0)
        *size = 1 + inputs_random(inputs) % *size;
}

static void run_mutations(struct inputs *inputs, const struct file *seed)
{
    for (int i = 0; i < MUTATIONS; i++) {
        /* A block of its own size: a sanitizer sees a step beyond it. */
        size_t size = seed->size;
        uint8_t *data = malloc(size);
        if (!data)
            abort();
        memcpy(data, seed->data, size);
        mutate(inputs, data, &size);
        inputs_use(inputs, data, size);
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
    struct inputs inputs = inputs_begin(argument_count, arguments, 0);
    struct file seeds[MAX_SEEDS];
    size_t count = make_seeds(seeds);
    if (!inputs.folder)
        hush();
    for (size_t i = 0; i < count; i++) {
        inputs_use(&inputs, seeds[i].data, seeds[i].size);
        if (!inputs.folder)
            run_mutations(&inputs, &seeds[i]);
        file_free(&seeds[i]);
    }
    printf("%zu seeds, %d mutations of each\n", count, MUTATIONS);
    return 0;
}
