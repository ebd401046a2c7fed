/*
 * The self-join of many pictures with all views: seconds, beside the time that the comparisons of
 * codes alone take in the level-1 cache, and bytes a picture.
 *
 *     image_join [PICTURES [THREADS [alike]]]
 *
 * Pictures are drawn: waves whose strength falls with frequency, shapes, grain. Every fiftieth is a
 * double of the one before it: brighter, noisier or cropped. With `alike` all are duplicates of the
 * first, and all their pairs are listed up to 5 000 pictures only.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/match.h>

#include "bench.h"
#include "core/cpu.h"
#include "index/scan.h"

enum { SIDE_MAX = 96, WAVES = 14, SHAPES = 8, DOUBLE_EVERY = 50, MAX_ALIKE = 5000 };

static uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double random_share(uint64_t *state)
{
    return (double)(random_word(state) >> 11) / (double)(1ull << 53);
}

/* A field of /proc/self/status, in bytes; 0 where there is none. */
/* ---- pictures ---- */

struct scene {
    struct {
        double x, y, phase, strength;
    } waves[WAVES];
    struct {
        double left, top, right, bottom, level;
        bool round;
    } shapes[SHAPES];
    double aspect;
};

/* Strength falls as frequency^-1, as in photos about; a scene has a direction that is stronger.
 */
static struct scene make_scene(uint64_t *state)
{
    struct scene scene;
    static const double aspects[] = {4 / 3., 3 / 2., 16 / 9., 1, 3 / 4., 2 / 3.};
    scene.aspect = aspects[random_word(state) % 6];
    double steepness = 0.7 + 0.6 * random_share(state), slant = random_share(state) * 3.14159;
    for (int i = 0; i < WAVES; i++) {
        double frequency = 0.3 + 7 * pow(random_share(state), 2);
        double angle = slant + (random_share(state) - 0.5) * 3.5;
        scene.waves[i].x = 6.2832 * frequency * cos(angle);
        scene.waves[i].y = 6.2832 * frequency * sin(angle);
        scene.waves[i].phase = 6.2832 * random_share(state);
        scene.waves[i].strength =
            (15 + 60 * random_share(state)) * pow(fmax(frequency, 1), -steepness);
    }
    for (int i = 0; i < SHAPES; i++) {
        double width = 0.05 + 0.5 * pow(random_share(state), 2);
        double height = 0.05 + 0.5 * pow(random_share(state), 2);
        double x = random_share(state), y = random_share(state);
        scene.shapes[i].left = x - width / 2;
        scene.shapes[i].right = x + width / 2;
        scene.shapes[i].top = y - height / 2;
        scene.shapes[i].bottom = y + height / 2;
        scene.shapes[i].level = 150 * (random_share(state) - 0.5);
        scene.shapes[i].round = random_word(state) & 1;
    }
    return scene;
}

/* How a duplicate differs: the part of the scene that is seen, brightness, grain. */
struct take {
    double left, top, size, brightness, grain;
};

/* The waves along a row, each by turning a vector step by step. */
static void add_waves(const struct scene *scene, const struct take *take, double y, uint32_t width,
                      float *row)
{
    for (int i = 0; i < WAVES; i++) {
        double start = scene->waves[i].x * take->left + scene->waves[i].y * y;
        double step = scene->waves[i].x * take->size / width;
        float real = (float)(scene->waves[i].strength * cos(start + scene->waves[i].phase));
        float imaginary = (float)(scene->waves[i].strength * sin(start + scene->waves[i].phase));
        float turn_real = (float)cos(step), turn_imaginary = (float)sin(step);
        for (uint32_t column = 0; column < width; column++) {
            row[column] += real;
            float turned = real * turn_real - imaginary * turn_imaginary;
            imaginary = real * turn_imaginary + imaginary * turn_real;
            real = turned;
        }
    }
}

static void add_shapes(const struct scene *scene, const struct take *take, double y, uint32_t width,
                       float *row)
{
    for (int i = 0; i < SHAPES; i++) {
        double half = (scene->shapes[i].right - scene->shapes[i].left) / 2;
        double height = scene->shapes[i].bottom - scene->shapes[i].top;
        double v = 2 * (y - scene->shapes[i].top) / height - 1;
        if (fabs(v) >= 1)
            continue;
        if (scene->shapes[i].round)
            half *= sqrt(1 - v * v);
        double middle = (scene->shapes[i].left + scene->shapes[i].right) / 2;
        for (uint32_t column = 0; column < width; column++)
            if (fabs(take->left + take->size * column / width - middle) < half)
                row[column] += (float)scene->shapes[i].level;
    }
}

static struct doppel_plane draw(const struct scene *scene, const struct take *take, uint64_t *state,
                                uint8_t *samples)
{
    uint32_t width = SIDE_MAX, height = SIDE_MAX;
    if (scene->aspect > 1)
        height = (uint32_t)(SIDE_MAX / scene->aspect);
    else
        width = (uint32_t)(SIDE_MAX * scene->aspect);
    for (uint32_t y = 0; y < height; y++) {
        float row[SIDE_MAX];
        for (uint32_t x = 0; x < width; x++)
            row[x] = (float)(128 + take->brightness + take->grain * (random_share(state) - 0.5));
        add_waves(scene, take, take->top + take->size * y / height, width, row);
        add_shapes(scene, take, take->top + take->size * y / height, width, row);
        for (uint32_t x = 0; x < width; x++)
            samples[y * width + x] = (uint8_t)(row[x] < 0 ? 0 : row[x] > 255 ? 255 : row[x]);
    }
    return (struct doppel_plane){samples, width, height, width};
}

struct tally {
    uint64_t codes, queries;
    uint32_t flat;
};

static void count_lookups(const struct doppel_image_features *features, struct tally *tally)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    uint64_t codes[DOPPEL_VIEW_COUNT];
    tally->flat += features->quality < DOPPEL_IMAGE_MIN_QUALITY;
    tally->queries += doppel_image_queries(&features->fingerprint, &options, queries);
    tally->codes += doppel_image_index_codes(&features->fingerprint, &options, codes);
}

static void add_image(struct doppel_matcher *matcher, uint64_t id, const struct doppel_plane *plane,
                      struct tally *tally)
{
    struct doppel_image_features features;
    struct doppel_error error;
    enum doppel_status status = doppel_image_features(plane, &features, &error);
    if (!status) {
        struct doppel_match_item item = {&features.fingerprint, features.quality};
        count_lookups(&features, tally);
        status = doppel_matcher_add(matcher, id, &item, &error);
        doppel_fingerprint_free(&features.fingerprint);
    }
    if (status) {
        fprintf(stderr, "image_join: %s\n", error.message);
        exit(2);
    }
}

static void add_images(struct doppel_matcher *matcher, uint32_t count, bool alike,
                       struct tally *tally)
{
    static uint8_t samples[SIDE_MAX * SIDE_MAX];
    const struct take plain = {0, 0, 1, 0, 6};
    uint64_t state = 20260114;
    struct scene scene = {0};
    for (uint32_t id = 0; id < count; id++) {
        struct take take = plain;
        if (alike ? id > 0 : id % DOUBLE_EVERY == 1) {
            bool cropped = random_word(&state) & 1;
            take.size = cropped ? 0.9 : 1;
            take.left = take.top = cropped ? 0.05 : 0;
            take.brightness = 30 * (random_share(&state) - 0.5);
            take.grain = 20;
        } else {
            scene = make_scene(&state);
        }
        struct doppel_plane plane = draw(&scene, &take, &state, samples);
        add_image(matcher, id, &plane, tally);
    }
}

/* ---- the measurement ---- */

struct outcome {
    uint64_t pairs, planted;
};

static bool count_pair(void *context, const struct doppel_found *found)
{
    struct outcome *outcome = context;
    outcome->pairs++;
    outcome->planted += found->id % DOUBLE_EVERY == 1 && found->query == found->id - 1;
    return true;
}

static bool count_leader(void *context, const struct doppel_found *found, bool *out_follows)
{
    *out_follows = true;
    return count_pair(context, found);
}

/* Nanoseconds a code and query when the codes stay in the level-1 cache. */
static double scan_limit(void)
{
    enum { GROUPS = 256, ROUNDS = 100000 };
    static uint64_t codes[GROUPS * SCAN_GROUP];
    static struct scan_hit hits[GROUPS * SCAN_GROUP];
    uint64_t state = 1, found = 0;
    for (size_t i = 0; i < GROUPS * SCAN_GROUP; i++)
        codes[i] = random_word(&state);
    scan_kernel *kernel = scan_choose(64);
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t query = round * 0x9e3779b97f4a7c15u;
        found += kernel(codes, GROUPS, &query, DOPPEL_IMAGE_CANDIDATE_RADIUS, hits);
    }
    double spent = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (found == 0)
        fputs("image_join: the scan found nothing\n", stderr);
    return spent * 1e9 / ((double)ROUNDS * GROUPS * SCAN_GROUP);
}

static void measure_join(const struct doppel_matcher *matcher, uint32_t count, bool leaders,
                         double limit)
{
    struct outcome outcome = {0};
    struct doppel_error error;
    double wall = bench_seconds(CLOCK_MONOTONIC), cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    enum doppel_status status = leaders
                                    ? doppel_matcher_lead(matcher, count_leader, &outcome, &error)
                                    : doppel_matcher_join(matcher, count_pair, &outcome, &error);
    wall = bench_seconds(CLOCK_MONOTONIC) - wall;
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (status) {
        fprintf(stderr, "image_join: %s\n", error.message);
        exit(2);
    }
    printf("%-22s %8.2f s, CPU %.2f s, %.2f × the comparisons alone; pairs %" PRIu64
           ", planted found %" PRIu64 " of %u\n",
           leaders ? "join, leaders only" : "join, all pairs", wall, cpu, cpu / limit,
           outcome.pairs, outcome.planted, (count + DOUBLE_EVERY - 2) / DOUBLE_EVERY);
}

int main(int argument_count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint32_t count = argument_count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 100000;
    uint32_t threads = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 1;
    bool alike = argument_count > 3 && strcmp(arguments[3], "alike") == 0;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_matcher *matcher;
    struct doppel_error error;
    struct tally tally = {0};
    if (count == 0 ||
        doppel_matcher_new(DOPPEL_SCHEME_PHASH64, &options, threads, &matcher, &error))
        return 2;
    double before = bench_memory("status", "VmRSS:"), start = bench_seconds(CLOCK_MONOTONIC);
    add_images(matcher, count, alike, &tally);
    double held = bench_memory("status", "VmRSS:") - before;
    double a_pair = scan_limit(), n = count;
    double comparisons = (double)tally.queries * (double)tally.codes;
    printf("%-22s %8u, %u too flat, %.2f codes and %.2f queries each; drawn, hashed in %.1f s\n",
           "pictures", count, tally.flat, (double)tally.codes / n, (double)tally.queries / n,
           bench_seconds(CLOCK_MONOTONIC) - start);
    printf("%-22s %8.4f ns in the level-1 cache, %.3g of them: %.2f s\n", "comparison", a_pair,
           comparisons, comparisons * a_pair * 1e-9);
    if (!alike || count <= MAX_ALIKE)
        measure_join(matcher, count, false, comparisons * a_pair * 1e-9);
    measure_join(matcher, count, true, comparisons * a_pair * 1e-9);
    printf("%-22s %8.0f kept, %.0f at most while joining\n", "bytes a picture", held / n,
           (bench_memory("status", "VmHWM:") - before) / n);
    doppel_matcher_free(matcher);
    return 0;
}
