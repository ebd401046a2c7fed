/* Which member of a group is kept: the policy by examples, and that it is an order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/library.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    return doppel_keep_compare(&policy, a, b, NULL);
}

static void assert_kept(const struct doppel_candidate *kept, const struct doppel_candidate *other)
{
    assert_true(compare(kept, other) < 0);
    assert_true(compare(other, kept) > 0);
}

static void test_policy(void **state)
{
    (void)state;
    const struct doppel_candidate base = {
        .width = 100, .height = 100, .size = 5000, .mtime_ns = 1000, .path = "/pictures/photo.jpg"};
    struct doppel_candidate other = {
        .width = 200, .height = 50, .size = 5001, .mtime_ns = 0, .path = "/a"};
    assert_kept(&other, &base); /* as many pixels, more bytes */
    other.width = 199;
    assert_kept(&base, &other); /* more pixels */
    other = base;
    other.size *= 2;
    other.width = 150;
    other.content_pixels = 10000;
    assert_kept(&other, &base); /* as much is shown, more bytes */
    other.framed = true;
    assert_kept(&base, &other); /* there is a frame around it */
    other.framed = false;
    other.turned = true;
    assert_kept(&base, &other); /* it is turned */
    other.content_pixels = 10001;
    assert_kept(&other, &base); /* more is shown, though turned */
    other = base;
    other.size--;
    other.mtime_ns = 0;
    assert_kept(&base, &other); /* more bytes, though younger */
    other = base;
    other.mtime_ns++;
    other.path = "/p";
    assert_kept(&base, &other); /* older, though deeper */
    other = base;
    other.path = "/pictures/old/a";
    assert_kept(&base, &other); /* fewer folders above it, though the longer name */
    static const char *const copies[] = {"/pictures/photo (1).jpg", "/pictures/photo copy.jpg",
                                         "/pictures/photo-1.jpg", "/pictures/photo_old.jpg",
                                         "/a/photo (1).jpg"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        other.path = copies[i];
        assert_kept(&base, &other);
    }
    other.path = "/pictures/phota.jpg";
    assert_kept(&other, &base); /* the order of bytes */
}

static void test_huge_images_do_not_overflow(void **state)
{
    (void)state;
    const struct doppel_candidate small = {
        .width = 1000, .height = 1000, .size = 1, .mtime_ns = 1, .path = "/a"};
    const struct doppel_candidate huge = {
        .width = UINT32_MAX, .height = UINT32_MAX, .size = 1, .mtime_ns = 1, .path = "/b"};
    assert_kept(&huge, &small);
}

static void test_criteria_are_asked_in_their_order(void **state)
{
    (void)state;
    struct doppel_keep_policy policy;
    struct doppel_error error;
    enum doppel_keep by;
    const struct doppel_candidate old = {.size = 1, .mtime_ns = 1, .path = "/a"};
    const struct doppel_candidate large = {.size = 2, .mtime_ns = 2, .path = "/b"};
    assert_int_equal(doppel_keep_policy_parse("date,size", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) < 0);
    assert_int_equal(by, DOPPEL_KEEP_DATE);
    assert_int_equal(doppel_keep_policy_parse("authority,size,date", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) > 0);
    assert_int_equal(by, DOPPEL_KEEP_SIZE);
    assert_int_equal(doppel_keep_policy_parse("resolution", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) < 0);
    assert_int_equal(by, DOPPEL_KEEP_CRITERIA); /* the order of bytes */
}

static void test_policies_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ",", "size,", "sizes", "size,size", " size", "Size"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct doppel_keep_policy policy = {.count = 77};
        struct doppel_error error = {0};
        assert_int_equal(doppel_keep_policy_parse(wrong[i], &policy, &error), DOPPEL_E_ARGUMENT);
        assert_true(error.message[0] != '\0');
        assert_int_equal(policy.count, 77);
    }
}

/* ---- images ---- */

/* A sharp image of 1000 × 750, and its spectrum when it is made 1.6 times as large. */
static const struct doppel_image_look sharp = {
    .known = true,
    .share = 1,
    .trimmed = 1,
    .first_share = 1,
    .origin = {.spectrum = {138, 127, 119, 115, 110, 104, 97}, .jpeg_quality = 92}};
static const uint8_t enlarged[7] = {134, 120, 104, 80, 46, 12, 2};
static const struct doppel_candidate image = {
    .width = 1000, .height = 750, .size = 9, .mtime_ns = 5, .path = "/b"};

static void assert_reason(const struct doppel_candidate images[2],
                          const struct doppel_image_look looks[2], const char *reason)
{
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    struct doppel_candidate seen[2] = {images[0], images[1]};
    doppel_candidates_compare_images(seen, looks, 2);
    assert_kept(&seen[0], &seen[1]);
    assert_string_equal(doppel_keep_reason(&policy, &seen[0], &seen[1]), reason);
    struct doppel_candidate turned[2] = {images[1], images[0]};
    const struct doppel_image_look turned_looks[2] = {looks[1], looks[0]};
    if (looks[1].share == 1 && !looks[1].overlay) { /* these are of the second to the first */
        doppel_candidates_compare_images(turned, turned_looks, 2);
        assert_kept(&turned[1], &turned[0]);
    }
}

static void test_signs_of_a_copy(void **state)
{
    (void)state;
    const int64_t day = INT64_C(86400000000000);
    struct doppel_candidate images[2] = {image, image};
    struct doppel_image_look looks[2] = {sharp, sharp};
    struct doppel_candidate *copy = &images[1];
    struct doppel_image_look *look = &looks[1];
    copy->path = "/a";
    copy->size = 20; /* which would decide */
    copy->width = 1600;
    copy->height = 1200;
    memcpy(look->origin.spectrum, enlarged, sizeof enlarged);
    assert_reason(images, looks, "upscaled");
    copy->width = 1000;
    copy->height = 750;
    assert_reason(images, looks, "blur");
    *look = sharp;
    look->origin.jpeg_quality = 70;
    memcpy(look->origin.spectrum, (const uint8_t[]){138, 127, 118, 113, 106, 96, 84}, 7);
    assert_reason(images, looks, "compression");
    look->origin.jpeg_quality = 96;
    look->origin.earlier_quality = 60;
    assert_reason(images, looks, "compression");
    *look = sharp;
    look->orientation = 1;
    copy->mtime_ns = 6 + day;
    assert_reason(images, looks, "orientation");
    looks[0].origin.taken_s = 1;
    copy->mtime_ns = image.mtime_ns - day; /* the date taken counts before it */
    assert_reason(images, looks, "orientation");
    looks[0] = *look = sharp;
    look->overlay = 2;
    assert_reason(images, looks, "overlay");
    look->overlay = -1; /* over one of them: the younger one */
    copy->mtime_ns = 6 + day;
    looks[0].origin.taken_s = 0;
    assert_reason(images, looks, "overlay");
    look->overlay = 1;
    copy->mtime_ns = image.mtime_ns; /* nothing is known: more bytes */
    const struct doppel_candidate by_size[2] = {*copy, images[0]};
    const struct doppel_image_look looks_by_size[2] = {sharp, *look};
    assert_reason(by_size, looks_by_size, "size");
    *look = sharp;
    look->share = .8;
    copy->width = 1250;
    assert_reason(images, looks, "frame");
}

/* Real pairs of which the copy was kept once: a filter left much above the frequencies that there
 * were; smooth pictures saved with a better table. */
static void test_real_copies(void **state)
{
    (void)state;
    static const struct {
        const char *reason;
        uint32_t width, height;
        struct doppel_image_origin original, copy;
    } pairs[] = {
        {"upscaled",
         1700,
         1275,
         {.spectrum = {146, 138, 134, 129, 125, 119, 111}},
         {.spectrum = {149, 139, 126, 110, 92, 83, 67}}},
        {"upscaled",
         1310,
         982,
         {.spectrum = {145, 130, 122, 116, 109, 102, 96}},
         {.spectrum = {145, 128, 120, 112, 99, 82, 61}, .jpeg_quality = 96}},
        {"compression",
         1000,
         750,
         {.spectrum = {109, 86, 55, 13, 0, 0, 0}, .jpeg_quality = 62},
         {.spectrum = {108, 85, 55, 16, 2, 0, 0}, .jpeg_quality = 96}},
        {"compression",
         1000,
         750,
         {.spectrum = {118, 93, 80, 62, 40, 9, 0}, .jpeg_quality = 61, .earlier_quality = 49},
         {.spectrum = {118, 93, 80, 62, 40, 10, 0}, .jpeg_quality = 95, .earlier_quality = 61}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct doppel_candidate images[2] = {image, image};
        struct doppel_image_look looks[2] = {sharp, sharp};
        images[1].path = "/a";
        images[1].size = 20;
        images[1].width = pairs[i].width;
        images[1].height = pairs[i].height;
        images[1].mtime_ns += INT64_C(86400000000000);
        looks[0].origin = pairs[i].original;
        looks[1].origin = pairs[i].copy;
        assert_reason(images, looks, pairs[i].reason);
    }
}

/* A younger large image that is as smooth as the small one: the dates alone say nothing. */
static void test_dates_alone_do_not_decide(void **state)
{
    (void)state;
    struct doppel_candidate images[2] = {image, image};
    struct doppel_image_look looks[2] = {sharp, sharp};
    images[0].width *= 2;
    images[0].height *= 2;
    images[0].mtime_ns += INT64_C(86400000000000);
    images[1].path = "/a";
    assert_reason(images, looks, "resolution");
    for (int i = 0; i < 7; i++)
        looks[0].origin.spectrum[i] = looks[1].origin.spectrum[i] = (uint8_t)(i ? 0 : 70);
    assert_reason(images, looks, "resolution");
}

/* Drawings rendered at two sizes: a smooth one that lacks what an enlargement would, one of few
 * edges, and a smooth one made smaller. Their dates say nothing, or that the small one is older. */
static void test_larger_drawings_are_kept(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, small_width, small_height;
        struct doppel_image_origin large, small;
        bool older;
    } pairs[] = {
        {480,
         360,
         240,
         180,
         {.spectrum = {144, 115, 92, 68, 40, 11, 4}, .jpeg_quality = 90},
         {.spectrum = {153, 130, 112, 92, 64, 33, 15}, .jpeg_quality = 80},
         false},
        {800,
         600,
         392,
         294,
         {.spectrum = {130, 108, 90, 77, 72, 69, 60}},
         {.spectrum = {145, 124, 112, 101, 95, 92, 88}},
         false},
        {800,
         600,
         600,
         450,
         {.spectrum = {132, 98, 70, 43, 19, 2, 0}, .jpeg_quality = 92},
         {.spectrum = {137, 105, 78, 57, 42, 26, 13}},
         false},
        {800,
         600,
         315,
         236,
         {.spectrum = {123, 96, 85, 72, 67, 58, 58}},
         {.spectrum = {145, 122, 108, 97, 91, 87, 85}},
         true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct doppel_candidate images[2] = {image, image};
        struct doppel_image_look looks[2] = {sharp, sharp};
        images[0].width = pairs[i].width;
        images[0].height = pairs[i].height;
        images[0].mtime_ns += pairs[i].older ? INT64_C(86400000000000) : 0;
        images[1].width = pairs[i].small_width;
        images[1].height = pairs[i].small_height;
        images[1].path = "/a";
        images[1].size = 20;
        looks[0].origin = pairs[i].large;
        looks[1].origin = pairs[i].small;
        assert_reason(images, looks, "resolution");
    }
}

static void test_a_large_original_is_kept(void **state)
{
    (void)state;
    struct doppel_candidate images[2] = {image, image};
    struct doppel_image_look looks[2] = {sharp, sharp};
    images[0].width *= 2;
    images[0].height *= 2;
    images[1].path = "/a";
    images[1].size = 20;
    assert_reason(images, looks, "resolution");
    for (int i = 0; i < 7; i++) /* smooth pictures do not tell */
        looks[0].origin.spectrum[i] = looks[1].origin.spectrum[i] = (uint8_t)(i ? 0 : 70);
    assert_reason(images, looks, "resolution");
    memcpy(looks[0].origin.spectrum, enlarged, sizeof enlarged);
    looks[1] = sharp;
    looks[1].part = true; /* other pixels */
    assert_reason(images, looks, "resolution");
    looks[1] = (struct doppel_image_look){0}; /* nothing is known */
    assert_reason(images, looks, "resolution");
}

/* A dark sky is like a frame. Who meets it without it says nothing of a crop that only pixels tell.
 */
static void test_what_is_not_known_has_no_frame_less(void **state)
{
    (void)state;
    struct doppel_candidate images[] = {image, image, image};
    struct doppel_image_look looks[] = {sharp, sharp, {0}};
    looks[1].share = looks[1].first_share = looks[0].trimmed = looks[1].trimmed = .8;
    images[2].width = 900;
    images[2].height = 680;
    doppel_candidates_compare_images(images, looks, 3);
    assert_false(images[0].framed || images[1].framed || images[2].framed);
    assert_kept(&images[0], &images[2]);
}

static void test_most_of_a_group_stand_upright(void **state)
{
    (void)state;
    struct doppel_candidate images[] = {image, image, image};
    struct doppel_image_look looks[] = {sharp, sharp, sharp};
    images[0].mtime_ns -= INT64_C(86400000000000);
    looks[1].orientation = looks[2].orientation = 5;
    doppel_candidates_compare_images(images, looks, 3);
    assert_true(images[0].turned && !images[1].turned && !images[2].turned);
    doppel_candidates_compare_images(images, looks, 2); /* as the oldest */
    assert_true(!images[0].turned && images[1].turned);
    images[0].mtime_ns = images[1].mtime_ns - 1; /* they came together */
    doppel_candidates_compare_images(images, looks, 2);
    assert_true(!images[0].turned && !images[1].turned);
}

static void test_the_date_taken_counts_first(void **state)
{
    (void)state;
    struct doppel_keep_policy policy;
    assert_int_equal(doppel_keep_policy_parse("date", &policy, NULL), DOPPEL_OK);
    struct doppel_candidate a = {.taken_s = 1000, .mtime_ns = INT64_MAX, .path = "/b"};
    struct doppel_candidate b = {.mtime_ns = INT64_C(2000000000000), .path = "/a"};
    assert_true(doppel_keep_compare(&policy, &a, &b, NULL) < 0);
    b.taken_s = 1000; /* then the file's */
    assert_true(doppel_keep_compare(&policy, &a, &b, NULL) > 0);
    a.taken_s = INT64_MAX; /* no date that anything was taken at */
    assert_true(doppel_keep_compare(&policy, &a, &b, NULL) > 0);
}

enum { CANDIDATES = 60 };

static int by_policy(const void *a, const void *b)
{
    return compare(a, b);
}

/* Antisymmetric and transitive: sorted by it, every pair is in order. */
static void test_it_is_a_total_order(void **state)
{
    (void)state;
    static char paths[CANDIDATES][32];
    struct doppel_candidate candidates[CANDIDATES];
    srand(7);
    for (int i = 0; i < CANDIDATES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d", rand() % 2 ? "/a" : "/b/c", i);
        candidates[i] = (struct doppel_candidate){.authority = rand() % 2,
                                                  .width = (uint32_t)(rand() % 3),
                                                  .height = (uint32_t)(rand() % 3),
                                                  .duration_ms = (uint64_t)(rand() % 2),
                                                  .size = rand() % 2,
                                                  .mtime_ns = rand() % 2,
                                                  .taken_s = rand() % 2,
                                                  .upscaled = rand() % 2,
                                                  .overlaid = rand() % 2,
                                                  .quality = (uint8_t)(rand() % 2),
                                                  .path = paths[i]};
    }
    qsort(candidates, CANDIDATES, sizeof *candidates, by_policy);
    for (int i = 0; i < CANDIDATES; i++)
        for (int j = 0; j < CANDIDATES; j++) {
            int order = compare(&candidates[i], &candidates[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_huge_images_do_not_overflow),
        cmocka_unit_test(test_criteria_are_asked_in_their_order),
        cmocka_unit_test(test_policies_that_are_none),
        cmocka_unit_test(test_signs_of_a_copy),
        cmocka_unit_test(test_real_copies),
        cmocka_unit_test(test_dates_alone_do_not_decide),
        cmocka_unit_test(test_larger_drawings_are_kept),
        cmocka_unit_test(test_a_large_original_is_kept),
        cmocka_unit_test(test_what_is_not_known_has_no_frame_less),
        cmocka_unit_test(test_most_of_a_group_stand_upright),
        cmocka_unit_test(test_the_date_taken_counts_first),
        cmocka_unit_test(test_it_is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
