/* The views of drawn pictures: what is cut off, what is left, and what is kept beside the codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "planes.h"

static struct doppel_image_features features_of(const struct doppel_plane *plane)
{
    struct doppel_image_features features;
    assert_int_equal(doppel_image_features(plane, &features, NULL), DOPPEL_OK);
    return features;
}

static const uint16_t *box_of(const struct doppel_image_features *features, uint32_t view)
{
    for (uint32_t i = 0; i < features->fingerprint.count; i++)
        if (features->fingerprint.positions[i] == view)
            return features->boxes[i];
    return NULL;
}

/* In samples, within one of what is expected. */
static void assert_box(const uint16_t *box, const struct doppel_plane *frame, const int expected[4])
{
    assert_non_null(box);
    for (unsigned i = 0; i < 4; i++) {
        double at = box[i] * (double)(i % 2 ? frame->height : frame->width) / 65535;
        assert_true(at > expected[i] - 1.0 && at < expected[i] + 1.0);
    }
}

static struct doppel_plane ground(uint32_t width, uint32_t height, int level)
{
    struct doppel_plane plane = make_plane(width, height);
    memset(samples_of(&plane), level, (size_t)width * height);
    return plane;
}

static void lay(struct doppel_plane *onto, const struct doppel_plane *image, size_t left,
                size_t top)
{
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++)
            set(onto, left + x, top + y, get(image, x, y));
}

static void test_plain_image_is_not_trimmed(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct doppel_plane plane = draw_noise(300, 220, seed);
        struct doppel_image_features features = features_of(&plane);
        assert_int_equal(features.fingerprint.count, 10);
        assert_null(box_of(&features, DOPPEL_VIEW_TRIMMED));
        assert_null(box_of(&features, DOPPEL_VIEW_INTERFACE));
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&plane);
    }
}

static void test_borders_are_cut(void **state)
{
    (void)state;
    static const int margins[][4] = {
        {0, 40, 0, 40}, {50, 0, 50, 0}, {12, 12, 12, 12}, {0, 0, 0, 70}};
    for (unsigned i = 0; i < 4; i++) {
        const int *m = margins[i];
        struct doppel_plane image = draw_noise(300, 220, i);
        struct doppel_plane plane =
            ground((uint32_t)(300 + m[0] + m[2]), (uint32_t)(220 + m[1] + m[3]), i % 2 ? 255 : 0);
        lay(&plane, &image, (size_t)m[0], (size_t)m[1]);
        struct doppel_image_features features = features_of(&plane);
        const int expected[4] = {m[0], m[1], m[0] + 300, m[1] + 220};
        assert_box(box_of(&features, DOPPEL_VIEW_TRIMMED), &plane, expected);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&image);
        free_plane(&plane);
    }
}

static void test_trimmed_view_is_the_image(void **state)
{
    (void)state;
    struct doppel_plane image = draw_scene(320, 200, 3), plane = ground(320, 300, 0);
    lay(&plane, &image, 0, 50);
    struct doppel_image_features features = features_of(&plane);
    assert_int_equal(features.fingerprint.positions[1], DOPPEL_VIEW_TRIMMED);
    struct doppel_code code = doppel_image_phash(&image);
    assert_true(doppel_code_distance(&features.fingerprint.codes[1], &code, 64) <= 2);
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&image);
    free_plane(&plane);
}

/* Words of small marks, as lines of text are once they are reduced. */
static void write_text(struct doppel_plane *plane, const int box[4], int level, uint64_t *random)
{
    for (int y = box[1]; y + 5 <= box[3]; y += 9)
        for (int x = box[0]; x + 4 <= box[2]; x += next_random(random) % 6 ? 4 : 9)
            for (int i = 0; i < 8; i++)
                set(plane, (size_t)x + next_random(random) % 3, (size_t)y + next_random(random) % 5,
                    level);
}

static void test_captions_are_cut(void **state)
{
    (void)state;
    uint64_t random = 21;
    for (unsigned i = 0; i < 8; i++) {
        int bar = 24 + (int)(next_random(&random) % 40), bottom = i % 2, dark = i / 2 % 2;
        struct doppel_plane image = draw_scene(320, 200, 50 + i);
        struct doppel_plane plane = ground(320, (uint32_t)(200 + bar), dark ? 0 : 255);
        lay(&plane, &image, 0, bottom ? 0 : (size_t)bar);
        const int text[4] = {12, bottom ? 206 : 6, 290, bottom ? 194 + bar : bar - 6};
        write_text(&plane, text, dark ? 255 : 0, &random);
        struct doppel_image_features features = features_of(&plane);
        const int expected[4] = {0, bottom ? 0 : bar, 320, bottom ? 200 : bar + 200};
        assert_box(box_of(&features, DOPPEL_VIEW_TRIMMED), &plane, expected);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&image);
        free_plane(&plane);
    }
}

/* The nearest of the views that a query has to the code of the picture alone. */
static uint32_t nearest_query_view(const struct doppel_image_features *features,
                                   const struct doppel_plane *image)
{
    struct doppel_code code = doppel_image_phash(image);
    uint32_t least = 256;
    for (uint32_t i = 0; i < features->fingerprint.count; i++) {
        uint32_t d = doppel_code_distance(&features->fingerprint.codes[i], &code, 256);
        if (features->fingerprint.positions[i] <= DOPPEL_VIEW_INTERFACE && d < least)
            least = d;
    }
    return least;
}

static void test_phone_screenshots_are_cut(void **state)
{
    (void)state;
    uint64_t random = 31;
    for (unsigned i = 0; i < 10; i++) {
        int dark = i % 2, y = 90 + (int)(next_random(&random) % 100);
        struct doppel_plane image = draw_scene(270, 190, 70 + i);
        struct doppel_plane plane = ground(270, 585, dark ? 18 : 250);
        int ink = dark ? 230 : 20;
        const int clock[4] = {12, 4, 60, 10}, name[4] = {50, 30, 140, 44};
        const int above[4] = {12, 55, 255, y - 8}, below[4] = {12, y + 215, 255, 540};
        write_text(&plane, clock, ink, &random);
        write_text(&plane, name, ink, &random);
        write_text(&plane, above, ink, &random);
        write_text(&plane, below, ink, &random);
        lay(&plane, &image, 0, (size_t)y);
        struct doppel_image_features features = features_of(&plane);
        assert_true(nearest_query_view(&features, &image) <= 16);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&image);
        free_plane(&plane);
    }
}

/** What lies outside of an ellipse becomes the ground. */
static void cut_out_figure(struct doppel_plane *plane, int level)
{
    for (size_t y = 0; y < plane->height; y++)
        for (size_t x = 0; x < plane->width; x++) {
            double across = 2. * (double)x / (plane->width - 1) - 1;
            double down = 2. * (double)y / (plane->height - 1) - 1;
            if (across * across + down * down > 1)
                set(plane, x, y, level);
        }
}

/* A figure has no straight edge where it meets the page; what is written around it may be as much.
 */
static void test_figures_are_cut_out_of_pages(void **state)
{
    (void)state;
    uint64_t random = 51;
    for (unsigned i = 0; i < 10; i++) {
        int level = i % 2 ? 16 : 250, y = 100 + (int)(next_random(&random) % 100);
        struct doppel_plane image = draw_scene(210, 190, 170 + i);
        struct doppel_plane plane = ground(270, 585, level);
        const int clock[4] = {12, 4, 60, 10}, name[4] = {50, 30, 140, 44};
        const int below[4] = {12, y + 215, 255, y + (i < 5 ? 240 : 330)};
        cut_out_figure(&image, level);
        write_text(&plane, clock, 250 - level, &random);
        write_text(&plane, name, 250 - level, &random);
        write_text(&plane, below, 250 - level, &random);
        lay(&plane, &image, i % 3 ? 30 : 0, (size_t)y);
        struct doppel_image_features features = features_of(&plane);
        assert_true(nearest_query_view(&features, &image) <= 24);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&image);
        free_plane(&plane);
    }
}

static void test_desktop_screenshots_are_cut(void **state)
{
    (void)state;
    uint64_t random = 41;
    for (unsigned i = 0; i < 10; i++) {
        int x = 20 + (int)(next_random(&random) % 120), y = 50 + (int)(next_random(&random) % 40);
        struct doppel_plane image = draw_scene(240, 170, 90 + i);
        struct doppel_plane plane = ground(480, 270, 255), bar = ground(480, 16, 220);
        const int beside[4] = {x + 252, y, 470, 240}, below[4] = {x, y + 180, x + 238, 258};
        write_text(&plane, beside, 30, &random);
        write_text(&plane, below, 30, &random);
        lay(&plane, &bar, 0, 0);
        lay(&plane, &image, (size_t)x, (size_t)y);
        struct doppel_image_features features = features_of(&plane);
        assert_true(nearest_query_view(&features, &image) <= 16);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&image);
        free_plane(&plane);
        free_plane(&bar);
    }
}

/* A sky is not a border: what is cut of a smooth slope is little. */
static void test_skies_are_kept(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10; seed++) {
        struct doppel_plane plane = draw_scene(320, 240, seed);
        for (size_t y = 0; y < 100; y++)
            for (size_t x = 0; x < 320; x++)
                set(&plane, x, y, 200 - (int)y + (int)((x * 7 + y * 3) % 4));
        struct doppel_image_features features = features_of(&plane);
        const uint16_t *box = box_of(&features, DOPPEL_VIEW_TRIMMED);
        assert_true(!box || (box[1] < 65535 / 8 && box[3] == 65535));
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&plane);
    }
}

static uint32_t turned_edge(uint32_t view, unsigned orientation)
{
    enum { TOP, LEFT, RIGHT, BOTTOM };
    static const uint32_t transposed[] = {LEFT, TOP, BOTTOM, RIGHT};
    static const uint32_t mirrored[] = {TOP, RIGHT, LEFT, BOTTOM};
    static const uint32_t overturned[] = {BOTTOM, LEFT, RIGHT, TOP};
    uint32_t edge = view - DOPPEL_VIEW_EDGE;
    edge = orientation & 4 ? transposed[edge] : edge;
    edge = orientation & 1 ? mirrored[edge] : edge;
    return DOPPEL_VIEW_EDGE + (orientation & 2 ? overturned[edge] : edge);
}

/* Where a view of the picture goes when the picture is turned. */
static uint32_t turned_view(uint32_t view, unsigned orientation)
{
    if (view < DOPPEL_VIEW_CORNER)
        return view;
    if (view >= DOPPEL_VIEW_EDGE)
        return turned_edge(view, orientation);
    unsigned right = (view - DOPPEL_VIEW_CORNER) & 1, bottom = (view - DOPPEL_VIEW_CORNER) >> 1;
    if (orientation & 4) {
        unsigned swap = right;
        right = bottom;
        bottom = swap;
    }
    return DOPPEL_VIEW_CORNER + (right ^ (orientation & 1)) + 2 * (bottom ^ (orientation >> 1 & 1));
}

static const struct doppel_code *code_of(const struct doppel_image_features *features,
                                         uint32_t view)
{
    for (uint32_t i = 0; i < features->fingerprint.count; i++)
        if (features->fingerprint.positions[i] == view)
            return &features->fingerprint.codes[i];
    return NULL;
}

static void test_turned_planes_have_turned_views(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{260, 195}, {333, 77}, {1300, 1100}, {90, 1500}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct doppel_plane plane = draw_noise(sizes[i][0], sizes[i][1], i);
        struct doppel_image_features upright = features_of(&plane);
        for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
            struct doppel_plane turned_plane = turn_plane(&plane, o);
            struct doppel_image_features turned = features_of(&turned_plane);
            assert_int_equal(turned.fingerprint.count, upright.fingerprint.count);
            assert_int_equal(turned.quality, upright.quality);
            for (uint32_t v = 0; v < upright.fingerprint.count; v++) {
                struct doppel_code expected = doppel_image_orient(&upright.fingerprint.codes[v], o);
                uint32_t view = turned_view(upright.fingerprint.positions[v], o);
                assert_memory_equal(code_of(&turned, view), &expected, sizeof expected);
            }
            doppel_fingerprint_free(&turned.fingerprint);
            free_plane(&turned_plane);
        }
        doppel_fingerprint_free(&upright.fingerprint);
        free_plane(&plane);
    }
}

/* The same crop hashed by itself: the box says what was hashed. */
static void test_boxes_say_what_was_hashed(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(500, 400, 17);
    struct doppel_image_features features = features_of(&plane);
    for (uint32_t i = 0; i < features.fingerprint.count; i++) {
        const uint16_t *box = features.boxes[i];
        size_t left = (size_t)(box[0] * 500 + 32767) / 65535,
               top = (size_t)(box[1] * 400 + 32767) / 65535;
        size_t right = (size_t)(box[2] * 500 + 32767) / 65535;
        size_t bottom = (size_t)(box[3] * 400 + 32767) / 65535;
        const struct doppel_plane part = {plane.data + top * plane.stride + left,
                                          (uint32_t)(right - left), (uint32_t)(bottom - top),
                                          plane.stride};
        struct doppel_code code = doppel_image_phash(&part);
        assert_true(doppel_code_distance(&code, &features.fingerprint.codes[i], 256) <= 6);
    }
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&plane);
}

static void test_views_of_odd_planes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {1, 900},  {900, 1},    {3, 2},
                                        {12, 12}, {700, 13}, {2000, 1300}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct doppel_plane plane = draw_noise(sizes[i][0], sizes[i][1], i);
        struct doppel_image_features features = features_of(&plane);
        struct doppel_code code = doppel_image_phash(&plane);
        assert_memory_equal(&features.fingerprint.codes[0], &code, sizeof code);
        assert_int_equal(features.fingerprint.scheme, DOPPEL_SCHEME_PHASH64);
        assert_int_equal(features.fingerprint.code_bits, 256);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&plane);
    }
    struct doppel_image_features untouched;
    struct doppel_plane none = {(const uint8_t *)"", 0, 0, 0};
    assert_int_equal(doppel_image_features(&none, &untouched, NULL), DOPPEL_E_ARGUMENT);
}

enum { PICTURE = 200, NARROW = 8, AROUND = PICTURE + 2 * NARROW };

/* The picture in the middle of a larger one. */
static void put_in_middle(uint8_t *larger, const struct doppel_plane *plane)
{
    for (size_t y = 0; y < PICTURE; y++)
        memcpy(larger + (y + NARROW) * AROUND + NARROW, plane->data + y * plane->stride, PICTURE);
}

static void test_narrow_frames(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(PICTURE, PICTURE, 8);
    uint8_t *framed = calloc(AROUND, AROUND);
    put_in_middle(framed, &plane);
    struct doppel_image_features bare = features_of(&plane);
    struct doppel_plane around = {framed, AROUND, AROUND, AROUND};
    struct doppel_image_features within = features_of(&around);
    assert_true(doppel_image_view_share(&within, DOPPEL_VIEW_TRIMMED) < .9);
    assert_true(doppel_image_is_framed(&within, NULL, &bare));
    assert_false(doppel_image_is_framed(&bare, NULL, &within));
    assert_false(doppel_image_is_framed(&bare, NULL, &bare));
    assert_false(doppel_image_is_framed(&within, NULL, &within)); /* both have the frame */
    doppel_fingerprint_free(&bare.fingerprint);
    doppel_fingerprint_free(&within.fingerprint);
    free(framed);
    free_plane(&plane);
}

/* A frame that is not trimmed is seen where it is expected; what goes on outside is none. */
static void test_frames_of_a_known_size(void **state)
{
    (void)state;
    const uint16_t edge = 65535 * NARROW / AROUND;
    const uint16_t box[4] = {edge, edge, 65535 - edge, 65535 - edge}, all[4] = {0, 0, 65535, 65535};
    struct doppel_plane larger = draw_scene(AROUND, AROUND, 8);
    uint8_t *framed = calloc(AROUND, AROUND);
    struct doppel_plane inner = {larger.data + NARROW * (larger.stride + 1), PICTURE, PICTURE,
                                 larger.stride};
    put_in_middle(framed, &inner);
    struct doppel_image_features whole = features_of(&larger), cropped = features_of(&inner);
    struct doppel_image_features within =
        features_of(&(struct doppel_plane){framed, AROUND, AROUND, AROUND});
    assert_true(doppel_image_is_framed(&within, box, &cropped));
    assert_false(doppel_image_is_framed(&within, all, &cropped));
    assert_false(doppel_image_is_framed(&whole, box, &cropped));
    doppel_fingerprint_free(&whole.fingerprint);
    doppel_fingerprint_free(&cropped.fingerprint);
    doppel_fingerprint_free(&within.fingerprint);
    free(framed);
    free_plane(&larger);
}

/* Bars as of letters, white; or the picture blurred. */
static void draw_bars(uint8_t *out, const struct doppel_plane *plane)
{
    for (size_t y = 0; y < PICTURE; y++)
        for (size_t x = 0; x < PICTURE; x++)
            out[y * PICTURE + x] = y > 80 && y < 110 && x > 30 && x < 170 && x / 12 % 2
                                       ? 255
                                       : plane->data[y * plane->stride + x];
}

static void blur(uint8_t *out, const struct doppel_plane *plane)
{
    enum { REACH = 6 };
    for (int y = 0; y < PICTURE; y++)
        for (int x = 0; x < PICTURE; x++) {
            int sum = 0, count = 0;
            for (int v = y - REACH; v <= y + REACH; v++)
                for (int u = x - REACH; u <= x + REACH; u++)
                    if (v >= 0 && u >= 0 && v < PICTURE && u < PICTURE) {
                        sum += plane->data[(size_t)v * plane->stride + (size_t)u];
                        count++;
                    }
            out[y * PICTURE + x] = (uint8_t)(sum / count);
        }
}

static void test_overlays(void **state)
{
    (void)state;
    static uint8_t copy[PICTURE * PICTURE];
    const struct doppel_plane copied = {copy, PICTURE, PICTURE, PICTURE};
    for (uint32_t seed = 1; seed < 9; seed++) {
        struct doppel_plane plane = draw_scene(PICTURE, PICTURE, seed);
        struct doppel_image_features bare = features_of(&plane);
        assert_int_equal(doppel_image_overlay(&bare, &bare), 0);
        draw_bars(copy, &plane);
        struct doppel_image_features overlaid = features_of(&copied);
        assert_true(doppel_image_overlay(&bare, &overlaid) > 0);
        assert_int_equal(doppel_image_overlay(&overlaid, &bare),
                         -doppel_image_overlay(&bare, &overlaid));
        blur(copy, &plane);
        struct doppel_image_features blurred = features_of(&copied);
        assert_int_equal(doppel_image_overlay(&bare, &blurred), 0);
        doppel_fingerprint_free(&bare.fingerprint);
        doppel_fingerprint_free(&overlaid.fingerprint);
        doppel_fingerprint_free(&blurred.fingerprint);
        free_plane(&plane);
    }
}

static void test_bursts(void **state)
{
    (void)state;
    static const struct {
        int64_t a, b;
        uint16_t a_fraction, b_fraction;
        const char *camera;
        bool burst;
    } cases[] = {
        {1000, 1000, 0, 0, "X100", true},    {1000, 1001, 0, 0, "X100", true},
        {1000, 1002, 0, 0, "X100", true},    {1000, 1000, 11, 11, "X100", false},
        {1000, 1003, 0, 0, "X100", false},   {-1, 1, 0, 0, "X100", true},
        {1000, 1000, 11, 511, "X100", true}, {1000, 1001, 11, 11, "X100", true},
        {1000, 1000, 11, 0, "X100", true},   {1000, 1000, 0, 0, "X10", false},
        {1000, 1000, 0, 0, "", false},       {0, 0, 1, 2, "X100", false},
        {0, 1, 0, 0, "X100", false},         {INT64_MIN, INT64_MAX, 0, 0, "X100", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_image_origin a = {
            .taken_s = cases[i].a, .taken_fraction = cases[i].a_fraction, .camera = "X100"};
        struct doppel_image_origin b = {.taken_s = cases[i].b,
                                        .taken_fraction = cases[i].b_fraction};
        strcpy(b.camera, cases[i].camera);
        assert_int_equal(doppel_image_is_burst(&a, &b), cases[i].burst);
        assert_int_equal(doppel_image_is_burst(&b, &a), cases[i].burst);
    }
    struct doppel_image_origin nameless = {.taken_s = 1000};
    assert_false(doppel_image_is_burst(&nameless, &nameless));
}

static void test_attachment_goes_there_and_back(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(200, 200, 8);
    struct doppel_image_features features = features_of(&plane), back = {0};
    uint8_t bytes[DOPPEL_IMAGE_ATTACHMENT_MOST];
    memcpy(features.origin.spectrum, "\1\2\3\4\5\6\7", 7);
    features.origin.jpeg_quality = 90;
    features.origin.earlier_quality = 80;
    features.origin.taken_s = -1500000000;
    features.origin.taken_fraction = 1000;
    strcpy(features.origin.camera, "Camera of thirty-one characters");
    features.origin.latitude_e7 = -334567890;
    features.origin.longitude_e7 = 1512345678;
    for (unsigned lossless = 0; lossless < 2; lossless++) {
        memset(&features.pixels, lossless ? 7 : 0, sizeof features.pixels);
        size_t size = doppel_image_attachment_write(&features, bytes);
        assert_int_equal(size,
                         DOPPEL_IMAGE_ATTACHMENT_MOST - (lossless ? 0 : sizeof features.pixels));
        assert_int_equal(doppel_image_attachment_read(bytes, size, &back), DOPPEL_OK);
        assert_memory_equal(back.thumb, features.thumb, sizeof back.thumb);
        assert_memory_equal(back.boxes, features.boxes, sizeof back.boxes);
        assert_memory_equal(&back.pixels, &features.pixels, sizeof back.pixels);
        back.pixels = doppel_image_attachment_pixels(bytes, size);
        assert_memory_equal(&back.pixels, &features.pixels, sizeof back.pixels);
        assert_memory_equal(back.origin.spectrum, features.origin.spectrum, 7);
        assert_int_equal(back.origin.jpeg_quality, 90);
        assert_int_equal(back.origin.earlier_quality, 80);
        assert_int_equal(back.origin.taken_s, -1500000000);
        assert_int_equal(back.origin.taken_fraction, 1000);
        assert_string_equal(back.origin.camera, features.origin.camera);
        assert_int_equal(back.origin.latitude_e7, -334567890);
        assert_int_equal(back.origin.longitude_e7, 1512345678);
        assert_int_equal(doppel_image_attachment_read(bytes, size - 1, &back), DOPPEL_E_CORRUPT);
        /* as before there was a place */
        enum { PLACE_BYTES = 10 };
        assert_int_equal(doppel_image_attachment_read(bytes, size - PLACE_BYTES, &back), DOPPEL_OK);
        assert_int_equal(back.origin.taken_s, -1500000000);
        assert_int_equal(back.origin.latitude_e7, 0);
        /* as before there was an origin */
        size -= DOPPEL_IMAGE_ORIGIN_BYTES;
        assert_int_equal(doppel_image_attachment_read(bytes, size, &back), DOPPEL_OK);
        assert_memory_equal(back.boxes, features.boxes, sizeof back.boxes);
        assert_int_equal(back.origin.taken_s, 0);
        assert_int_equal(back.origin.spectrum[0], 0);
        back.pixels = doppel_image_attachment_pixels(bytes, size);
        assert_memory_equal(&back.pixels, &features.pixels, sizeof back.pixels);
    }
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_image_is_not_trimmed),
        cmocka_unit_test(test_borders_are_cut),
        cmocka_unit_test(test_trimmed_view_is_the_image),
        cmocka_unit_test(test_captions_are_cut),
        cmocka_unit_test(test_phone_screenshots_are_cut),
        cmocka_unit_test(test_figures_are_cut_out_of_pages),
        cmocka_unit_test(test_desktop_screenshots_are_cut),
        cmocka_unit_test(test_skies_are_kept),
        cmocka_unit_test(test_turned_planes_have_turned_views),
        cmocka_unit_test(test_boxes_say_what_was_hashed),
        cmocka_unit_test(test_views_of_odd_planes),
        cmocka_unit_test(test_narrow_frames),
        cmocka_unit_test(test_frames_of_a_known_size),
        cmocka_unit_test(test_overlays),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_attachment_goes_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
