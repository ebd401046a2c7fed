/* keep_pairs [OPTION...] DIR...: of pairs of a picture and a copy made of it, how many keep the
 * original, by doppel_scan, each kind of copy apart. A copy is written a day after its original, as
 * copies are; half of the originals are the files as they are, the others are fresh: made smaller,
 * so that no earlier compression is left in them.
 *
 * Pairs are made once for a folder, and what is read of them is cached there. */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include <doppel/group.h>

#include "edits.h"
#include "filters.h"

static const char USAGE[] = "usage: keep_pairs [OPTION...] DIR...\n"
                            "  --pairs N      of each kind (default 1000)\n"
                            "  --kind NAME    this alone\n"
                            "  --seed N       of the copies' amounts and places (default 1)\n"
                            "  --max-side N   of originals, in pixels (default 800)\n"
                            "  --failed DIR   copy the pairs that keep the copy there\n";

enum { MAX_SOURCES = 4096 };

struct settings {
    size_t pairs;
    uint64_t seed;
    int max_side, half;
    bool wrong;
    const char *kind, *folder;
    char *sources[MAX_SOURCES];
    size_t source_count;
};

/* The files of a pair. */
struct pair {
    char original[512], copy[512];
};

/* How a picture is written: quality 0 is PNG. */
struct written {
    struct image image;
    int quality;
};

/* ---- the copies ---- */

static struct image resized(const struct image *in, struct random *random, double scale)
{
    enum filter filter = (enum filter)random_below(random, FILTERS);
    return image_filter(in, (int)lround(in->width * scale), (int)lround(in->height * scale),
                        filter);
}

static int good_quality(struct random *random)
{
    return 85 + random_below(random, 12);
}

static struct written copy_framed(const struct image *in, struct random *random)
{
    double share = random_between(random, .02, .2);
    int sides = random_below(random, 3); /* all, above and below, at the sides */
    int x = sides == 1 ? 0 : (int)lround(share * in->width);
    int y = sides == 2 ? 0 : (int)lround(share * in->height);
    static const double greys[] = {0, 1, .5, .12, .8};
    double grey = greys[random_below(random, 5)];
    struct image out = image_new(in->width + 2 * x, in->height + 2 * y);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_paint(cr);
    draw_image(cr, in, x, y, in->width, in->height);
    draw_end(cr);
    return (struct written){out, random_below(random, 3) ? good_quality(random) : 0};
}

static struct written copy_upscaled(const struct image *in, struct random *random)
{
    return (struct written){resized(in, random, random_between(random, 1.2, 3)), 0};
}

static struct written copy_upscaled_jpeg(const struct image *in, struct random *random)
{
    return (struct written){resized(in, random, random_between(random, 1.2, 3)),
                            90 + random_below(random, 8)};
}

static struct written copy_recompressed(const struct image *in, struct random *random)
{
    return (struct written){image_copy(in), 30 + random_below(random, 56)};
}

static struct written copy_same(const struct image *in, struct random *random)
{
    return (struct written){image_copy(in), 95 + random_below(random, 2)};
}

static struct written copy_downscaled(const struct image *in, struct random *random)
{
    return (struct written){resized(in, random, random_between(random, .35, .85)),
                            good_quality(random)};
}

/* Some words, once, in a corner or in the middle. */
static struct image with_words(const struct image *in, struct random *random)
{
    struct image out = image_copy(in);
    cairo_t *cr = draw_begin(&out);
    double size = random_between(random, .03, .08) * fmin(in->width, in->height);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    double grey = random_below(random, 2);
    cairo_set_source_rgba(cr, grey, grey, grey, random_between(random, .5, 1));
    cairo_move_to(cr, random_between(random, .02, .5) * in->width,
                  random_between(random, .1, .95) * in->height);
    draw_random_text(cr, random, size, 3);
    draw_end(cr);
    return out;
}

static struct written copy_watermarked(const struct image *in, struct random *random)
{
    struct encoding encoding = {0};
    int kind = random_below(random, 3);
    struct image out = kind == 0   ? edit_watermark(in, random, &encoding)
                       : kind == 1 ? edit_logo(in, random, &encoding)
                                   : with_words(in, random);
    return (struct written){out, random_below(random, 4) ? good_quality(random) : 0};
}

static struct written copy_blurred(const struct image *in, struct random *random)
{
    return (struct written){image_blur(in, random_between(random, .8, 2.5)),
                            random_below(random, 4) ? good_quality(random) : 0};
}

static struct written copy_mirrored(const struct image *in, struct random *random)
{
    return (struct written){mirror(in), random_below(random, 4) ? good_quality(random) : 0};
}

static struct written copy_turned(const struct image *in, struct random *random)
{
    struct encoding encoding = {0};
    return (struct written){edit_turn90(in, random, &encoding),
                            random_below(random, 4) ? good_quality(random) : 0};
}

/* In a viewer, on a screen: dark ground, a bar above and below. */
static struct written copy_screenshot(const struct image *in, struct random *random)
{
    static const int screens[][2] = {{1920, 1080}, {1366, 768}, {1280, 1024}, {2560, 1440}};
    const int *screen = screens[random_below(random, 4)];
    int bar = 24 + random_below(random, 40);
    double scale = fmin((double)screen[0] / in->width, (screen[1] - 2. * bar) / in->height);
    if (random_below(random, 2))
        scale = fmin(scale, 1);
    double width = round(scale * in->width), height = round(scale * in->height);
    struct image out = image_new(screen[0], screen[1]);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, .13, .13, .13);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, .2, .2, .2);
    cairo_rectangle(cr, 0, 0, screen[0], bar);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, .9, .9, .9);
    cairo_move_to(cr, 20, .7 * bar);
    draw_random_text(cr, random, .5 * bar, 4);
    draw_image(cr, in, round((screen[0] - width) / 2),
               round(bar + (screen[1] - 2 * bar - height) / 2), width, height);
    draw_end(cr);
    return (struct written){out, random_below(random, 2) ? good_quality(random) : 0};
}

static struct written copy_cropped(const struct image *in, struct random *random)
{
    return (struct written){crop_share(in, random, random_between(random, .04, .25)),
                            random_below(random, 4) ? good_quality(random) : 0};
}

struct kind {
    const char *name;
    struct written (*copy)(const struct image *in, struct random *random);
    int low, high; /* quality of the originals, which are fresh; 0: any */
};

static const struct kind kinds[] = {
    {"framed", copy_framed, 0, 0},
    {"upscaled", copy_upscaled, 0, 0},
    {"upscaled, JPEG", copy_upscaled_jpeg, 0, 0},
    {"recompressed", copy_recompressed, 90, 95},
    {"recompressed higher", copy_same, 60, 75},
    {"downscaled", copy_downscaled, 0, 0},
    {"watermarked", copy_watermarked, 0, 0},
    {"blurred", copy_blurred, 0, 0},
    {"mirrored", copy_mirrored, 0, 0},
    {"turned", copy_turned, 0, 0},
    {"screenshot", copy_screenshot, 0, 0},
    {"cropped", copy_cropped, 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- files ---- */

static void die(const char *what)
{
    fprintf(stderr, "keep_pairs: %s\n", what);
    exit(2);
}

static void save(const struct image *image, int quality, const char *path)
{
    if (!quality) {
        png_image png = {.version = PNG_IMAGE_VERSION,
                         .width = (png_uint_32)image->width,
                         .height = (png_uint_32)image->height,
                         .format = PNG_FORMAT_RGB,
                         .flags = PNG_IMAGE_FLAG_FAST};
        uint8_t *rgb = malloc(3 * (size_t)image->width * (size_t)image->height);
        for (size_t i = 0; rgb && i < (size_t)image->width * (size_t)image->height; i++)
            for (unsigned c = 0; c < 3; c++)
                rgb[3 * i + c] = (uint8_t)(image->pixels[i] >> (16 - 8 * c));
        if (!rgb || !png_image_write_to_file(&png, path, 0, rgb, 0, NULL))
            die(path);
        free(rgb);
        return;
    }
    struct encoding encoding = {.kind = ENCODE_JPEG, .quality = quality};
    struct bytes bytes = image_encode(image, &encoding);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file))
        die(path);
    free(bytes.data);
}

static void copy_file(const char *from, const char *to)
{
    static char data[64 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t size = in ? fread(data, 1, sizeof data, in) : 0;
    if (!in || !out || fwrite(data, 1, size, out) != size || fclose(out))
        die(to);
    fclose(in);
}

static void date_file(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    if (utimensat(AT_FDCWD, path, times, 0))
        die(path);
}

/* Write the original; what a copy of it is made from. */
static struct image write_original(const struct settings *settings, const struct kind *kind,
                                   const char *source, const char *path, struct random *random)
{
    struct image whole = image_load(source, (kind->low ? 1 : 2) * settings->max_side);
    int side = whole.width > whole.height ? whole.width : whole.height;
    if (!whole.pixels)
        return whole;
    if (!kind->low && side <= settings->max_side && random_below(random, 2)) {
        copy_file(source, path);
        return whole;
    }
    double scale = fmin(1, (double)settings->max_side / side) * random_between(random, .6, .9);
    struct image fresh = resized(&whole, random, scale);
    int quality = kind->low ? kind->low + random_below(random, kind->high - kind->low + 1)
                  : random_below(random, 4) ? 85 + random_below(random, 13)
                                            : 0;
    save(&fresh, quality, path);
    image_free(&whole);
    image_free(&fresh);
    return image_load(path, 1 << 20);
}

/* @return false: its picture cannot be read */
static bool write_pair(const struct settings *settings, const struct kind *kind, size_t number,
                       const struct pair *pair)
{
    const char *source = settings->sources[number % settings->source_count];
    char name[32];
    snprintf(name, sizeof name, "%zu", number);
    struct random random = random_seeded(settings->seed, name, kind->name);
    if (access(pair->copy, F_OK) == 0)
        return true;
    struct image original = write_original(settings, kind, source, pair->original, &random);
    if (!original.pixels)
        return false;
    struct written copy = kind->copy(&original, &random);
    save(&copy.image, copy.quality, pair->copy);
    date_file(pair->original, 1500000000);
    date_file(pair->copy, 1500086400);
    image_free(&original);
    image_free(&copy.image);
    return true;
}

/* ---- asking ---- */

struct answer {
    const char *original;
    bool grouped, right;
    char reason[32];
};

static enum doppel_status take_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    struct answer *answer = context;
    (void)error;
    answer->grouped = true;
    answer->right = strcmp(group->keep, answer->original) == 0;
    snprintf(answer->reason, sizeof answer->reason, "%s", group->keep_reason);
    return DOPPEL_OK;
}

static struct answer scan_pair(struct doppel_run *run, const struct pair *pair)
{
    const char *paths[] = {pair->original, pair->copy};
    const struct doppel_scan_paths scanned = {.paths = paths, .count = 2};
    struct answer answer = {.original = pair->original};
    struct doppel_error error;
    if (doppel_scan(run, &scanned, NULL, take_group, &answer, NULL, &error))
        die(error.message);
    return answer;
}

static void measure_kind(struct doppel_run *run, const struct settings *settings,
                         const struct kind *kind)
{
    size_t made = 0, grouped = 0, right = 0;
    for (size_t i = 0; i < settings->pairs; i++) {
        struct pair pair;
        const char *base = settings->folder;
        snprintf(pair.original, sizeof pair.original, "%s/%s-%zu-original", base, kind->name, i);
        snprintf(pair.copy, sizeof pair.copy, "%s/%s-%zu-copy", base, kind->name, i);
        if (!write_pair(settings, kind, i, &pair))
            continue;
        struct answer answer = scan_pair(run, &pair);
        made++;
        grouped += answer.grouped;
        right += answer.right;
        if (settings->wrong && answer.grouped && !answer.right)
            printf("%s: %s\n", pair.copy, answer.reason);
    }
    printf("%-20s  %5zu  %5zu  %6zu  %6.1f %%\n", kind->name, made, grouped, right,
           grouped ? 100. * (double)right / (double)grouped : 0);
    fflush(stdout);
}

/* ---- the program ---- */

static void collect_sources(struct settings *settings, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (entries[i]->d_name[0] != '.' && settings->source_count < MAX_SOURCES &&
            (!settings->half || i % 2 == settings->half - 1) &&
            asprintf(&path, "%s/%s", folder, entries[i]->d_name) > 0)
            settings->sources[settings->source_count++] = path;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static bool parse_options(int argc, char **argv, struct settings *out)
{
    static const struct option options[] = {
        {"pairs", required_argument, NULL, 'p'}, {"kind", required_argument, NULL, 'k'},
        {"seed", required_argument, NULL, 's'},  {"max-side", required_argument, NULL, 'm'},
        {"half", required_argument, NULL, 'h'},  {"pairs-in", required_argument, NULL, 'f'},
        {"wrong", no_argument, NULL, 'w'},       {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'p')
            out->pairs = strtoul(optarg, NULL, 10);
        else if (option == 'k')
            out->kind = optarg;
        else if (option == 's')
            out->seed = strtoull(optarg, NULL, 10);
        else if (option == 'm')
            out->max_side = atoi(optarg);
        else if (option == 'h')
            out->half = atoi(optarg);
        else if (option == 'f')
            out->folder = optarg;
        else if (option == 'w')
            out->wrong = true;
        else
            return false;
    }
    for (int i = optind; i < argc; i++)
        collect_sources(out, argv[i]);
    return out->source_count > 0;
}

/* The folder of this run's pairs and cache goes with what is in it. */
static void remove_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, NULL);
    int at = open(folder, O_DIRECTORY);
    for (int i = 0; i < count; i++) {
        unlinkat(at, entries[i]->d_name, 0);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    close(at);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    static struct settings settings = {.pairs = 1000, .seed = 1, .max_side = 800};
    struct doppel_run_options options = doppel_run_options_default();
    char own[] = "/tmp/keep_pairs-XXXXXX", cache[512];
    struct doppel_run *run;
    struct doppel_error error;
    if (!parse_options(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    bool kept = settings.folder != NULL;
    if (!kept)
        settings.folder = mkdtemp(own);
    snprintf(cache, sizeof cache, "%s/cache.db", settings.folder);
    options.cache = cache;
    if (!settings.folder || doppel_run_new(&options, &run, &error))
        die("no folder, or no run");
    puts("copy                  pairs  found  right    of found");
    for (int i = 0; i < KINDS; i++)
        if (!settings.kind || strcmp(settings.kind, kinds[i].name) == 0)
            measure_kind(run, &settings, &kinds[i]);
    doppel_run_free(run);
    if (!kept)
        remove_folder(settings.folder);
    for (size_t i = 0; i < settings.source_count; i++)
        free(settings.sources[i]);
    return 0;
}
