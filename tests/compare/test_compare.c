/* Two records compared by calls: images and texts against distances counted bit by bit, videos
 * against recordings and images that are known to be in them. */
#include "tests/library/tracks.h"

#include <string.h>

#include <doppel/compare.h>

#include "tests/match/images.h"

static struct doppel_comparison compare(const struct doppel_record *a,
                                        const struct doppel_record *b,
                                        const struct doppel_compare_options *options)
{
    struct doppel_comparison out = {0};
    struct doppel_error error = {0};
    if (doppel_compare(NULL, a, b, options, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

/* A record of one code, as a list has it; given (doppel_record_free). */
static struct doppel_record code_record(enum doppel_scheme_id id, const struct doppel_code *code,
                                        uint64_t number)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(id);
    struct doppel_record record = {.digest = doppel_digest_bytes(&number, sizeof number),
                                   .kind = scheme->kind,
                                   .scheme = id,
                                   .version = scheme->version,
                                   .quality = 100};
    assert_int_equal(
        doppel_fingerprint_make(scheme, scheme->code_bits, 1, &record.fingerprint, NULL),
        DOPPEL_OK);
    record.fingerprint.codes[0] = *code;
    return record;
}

static uint32_t count_different_bits(const struct doppel_code *a, const struct doppel_code *b,
                                     uint32_t bits)
{
    uint32_t count = 0;
    for (uint32_t bit = 0; bit < bits; bit++)
        count += (a->word[bit / 64] >> bit % 64 & 1) != (b->word[bit / 64] >> bit % 64 & 1);
    return count;
}

/* ---- codes ---- */

static void the_same_bytes_are_the_same(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record record = record_make(5), other = record_make(6);
    struct doppel_comparison same = compare(&record, &record, &options),
                             usual = compare(&record, &other, NULL);
    assert_false(usual.matches);
    doppel_comparison_free(&usual);
    assert_true(same.matches);
    assert_int_equal(same.match.relation, DOPPEL_RELATION_SAME);
    assert_int_equal(same.match.verified, DOPPEL_VERIFIED_EXACT);
    assert_int_equal(same.match.distance, 0);
    assert_true(same.match.similarity == 1);
    assert_false(same.of_video);
    other.digest = record.digest; /* whatever its codes are */
    struct doppel_comparison by_bytes = compare(&record, &other, &options);
    assert_int_equal(by_bytes.match.verified, DOPPEL_VERIFIED_EXACT);
    doppel_comparison_free(&same);
    doppel_comparison_free(&same); /* it is empty by now */
    doppel_comparison_free(&by_bytes);
    doppel_record_free(&record);
    doppel_record_free(&other);
}

static void unrelated_images_do_not_match(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct doppel_record a = record_make(seed), b = record_make(seed + 1000);
        a.quality = b.quality = 100;
        struct doppel_comparison pair = compare(&a, &b, &options);
        assert_false(pair.matches);
        assert_int_equal(pair.match.kind, DOPPEL_KIND_IMAGE);
        assert_true(pair.match.similarity < .8);
        doppel_comparison_free(&pair);
        doppel_record_free(&a);
        doppel_record_free(&b);
    }
}

/* Codes that differ in any number of bits, under the default threshold, or one that is given. */
static void codes_match_by_their_distance(void **state)
{
    (void)state;
    static const enum doppel_scheme_id schemes[] = {DOPPEL_SCHEME_PHASH256, DOPPEL_SCHEME_IMAGEHASH,
                                                    DOPPEL_SCHEME_PDQ, DOPPEL_SCHEME_SIMHASH64};
    uint64_t seed = 1;
    unsigned near = 0, far = 0;
    for (unsigned i = 0; i < 4000; i++) {
        const struct doppel_scheme *scheme = doppel_scheme_by_id(schemes[i % 4]);
        struct doppel_compare_options options = doppel_compare_options_default();
        struct doppel_code a = {0}, b;
        options.orientations = false;
        options.max_distance = i % 3 ? -1 : (int32_t)(random_word(&seed) % 40);
        for (unsigned word = 0; word < scheme->code_bits / 64u; word++)
            a.word[word] = random_word(&seed);
        b = a;
        for (uint64_t flips = random_word(&seed) % (2u * scheme->max_distance + 10); flips; flips--)
            b.word[random_word(&seed) % (scheme->code_bits / 64u)] ^= UINT64_C(1)
                                                                      << random_word(&seed) % 64;
        struct doppel_record left = code_record(scheme->id, &a, 2 * i),
                             right = code_record(scheme->id, &b, 2 * i + 1);
        struct doppel_comparison pair = compare(&left, &right, &options);
        uint32_t distance = count_different_bits(&a, &b, scheme->code_bits);
        uint32_t most =
            options.max_distance < 0 ? scheme->max_distance : (uint32_t)options.max_distance;
        assert_int_equal(pair.match.distance, distance);
        assert_int_equal(pair.match.bits, scheme->code_bits);
        assert_int_equal(pair.matches, distance <= most);
        near += pair.matches;
        far += !pair.matches;
        doppel_comparison_free(&pair);
        doppel_record_free(&left);
        doppel_record_free(&right);
    }
    assert_true(near > 500 && far > 500);
}

static void assert_record_json(const struct doppel_record *record, bool codes, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_record_to_json(&json, record, NULL, codes);
    doppel_json_object_end(&json);
    assert_string_equal(json.bytes, expected);
    doppel_json_free(&json);
}

static void a_record_as_json(void **state)
{
    (void)state;
    const struct doppel_code code = {{UINT64_C(0x8f00000000000001)}};
    struct doppel_record record = code_record(DOPPEL_SCHEME_PHASH64, &code, 1);
    record.width = 640;
    record.height = 480;
    assert_record_json(
        &record, false,
        "{\"kind\":\"image\",\"scheme\":\"phash64\",\"version\":2,\"codes\":1,"
        "\"code\":\"8f00000000000001\",\"width\":640,\"height\":480,\"quality\":100}");
    assert_record_json(&record, true,
                       "{\"kind\":\"image\",\"scheme\":\"phash64\",\"version\":2,\"codes\":1,"
                       "\"code\":\"8f00000000000001\",\"width\":640,\"height\":480,\"quality\":100,"
                       "\"sequence\":[[\"8f00000000000001\",0]]}");
    doppel_record_free(&record);
}

/* ---- videos ---- */

enum { SECONDS = 20 };

static void assert_turned(const struct doppel_match *a, const struct doppel_match *b)
{
    assert_true(a->query_coverage == b->item_coverage && a->item_coverage == b->query_coverage);
    assert_int_equal(a->segment_count, b->segment_count);
}

static void a_video_holds_its_recording(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record video = video_record(7, SECONDS), audio = audio_record(7, SECONDS);
    struct doppel_comparison pair = compare(&video, &audio, &options);
    struct doppel_comparison back = compare(&audio, &video, &options);
    assert_true(pair.matches && pair.of_video);
    assert_int_equal(pair.compared, DOPPEL_EVIDENCE_AUDIO);
    assert_int_equal(pair.evidence, DOPPEL_EVIDENCE_AUDIO);
    assert_int_equal(pair.match.kind, DOPPEL_KIND_VIDEO);
    assert_true(pair.match.segment_count == 1 && pair.match.segments == pair.by_audio.segments);
    assert_true(pair.match.segments[0].a_start < 1 && pair.match.segments[0].a_end > SECONDS - 1);
    assert_true(pair.match.segments[0].b_start < 1 && pair.match.segments[0].b_end > SECONDS - 1);
    assert_true(back.matches);
    assert_turned(&pair.match, &back.match);

    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_evidence_to_json(&json, &pair);
    doppel_json_object_end(&json);
    assert_non_null(strstr(json.bytes, "{\"evidence\":\"sound\",\"sound\":{\"match\":true,"));
    doppel_json_free(&json);
    doppel_comparison_free(&pair);
    doppel_comparison_free(&back);
    doppel_record_free(&video);
    doppel_record_free(&audio);
}

static void unrelated_tracks_do_not_match(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record video = video_record(7, SECONDS), other = video_record(8, SECONDS);
    struct doppel_record audio = audio_record(9, SECONDS);
    struct doppel_comparison videos = compare(&video, &other, &options);
    struct doppel_comparison mixed = compare(&video, &audio, &options);
    assert_false(videos.matches || mixed.matches);
    assert_int_equal(videos.compared, DOPPEL_EVIDENCE_IMAGE | DOPPEL_EVIDENCE_AUDIO);
    assert_int_equal(mixed.compared, DOPPEL_EVIDENCE_AUDIO);
    assert_int_equal(videos.evidence | mixed.evidence, 0);
    doppel_comparison_free(&videos);
    doppel_comparison_free(&mixed);
    doppel_record_free(&video);
    doppel_record_free(&other);
    doppel_record_free(&audio);
}

/* Its frames or its recording is another video's: one matches, the other is said not to. */
static void videos_match_by_one_of_two(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_video_track one = video_make(7, SECONDS), two = video_make(8, SECONDS);
    uint8_t *audio = one.audio;
    size_t size = one.audio_size;
    struct doppel_record a = record_of_video(1, &one), b = record_of_video(2, &two);
    one.audio = two.audio, one.audio_size = two.audio_size;
    struct doppel_record c = record_of_video(3, &one); /* frames of a, recording of b */
    one.audio = audio, one.audio_size = size;
    struct doppel_comparison by_image = compare(&a, &c, &options);
    struct doppel_comparison by_audio = compare(&b, &c, &options);
    assert_true(by_image.matches && by_audio.matches);
    assert_int_equal(by_image.evidence, DOPPEL_EVIDENCE_IMAGE);
    assert_int_equal(by_audio.evidence, DOPPEL_EVIDENCE_AUDIO);
    assert_true(by_image.match.segments == by_image.by_image.segments);
    assert_true(by_audio.match.segments == by_audio.by_audio.segments);
    doppel_comparison_free(&by_image);
    doppel_comparison_free(&by_audio);
    doppel_record_free(&a);
    doppel_record_free(&b);
    doppel_record_free(&c);
    doppel_video_track_free(&one);
    doppel_video_track_free(&two);
}

static void a_video_shows_its_frame(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_video_track clip = video_make(7, SECONDS);
    struct doppel_record video = record_of_video(7, &clip), image = record_make(5);
    double seconds = clip.frames[300].start_ms / 1000.;
    image.quality = 100;
    image.fingerprint.codes[0] = clip.frames[300].code;
    struct doppel_comparison pair = compare(&image, &video, &options);
    struct doppel_comparison back = compare(&video, &image, &options);
    assert_true(pair.matches && back.matches);
    assert_int_equal(pair.evidence, DOPPEL_EVIDENCE_IMAGE);
    assert_int_equal(pair.match.segment_count, 1);
    assert_true(pair.match.segments[0].b_start <= seconds + .1);
    assert_true(pair.match.segments[0].b_end >= seconds - .1);
    assert_true(back.match.segments[0].a_start == pair.match.segments[0].b_start);
    doppel_comparison_free(&pair);
    doppel_comparison_free(&back);
    doppel_record_free(&video);
    doppel_record_free(&image);
    doppel_video_track_free(&clip);
}

/* ---- what is not compared ---- */

static void kinds_that_have_nothing_in_common(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    const struct doppel_code code = {0};
    struct doppel_record image = record_make(5), audio = audio_record(7, 1);
    struct doppel_record text = code_record(DOPPEL_SCHEME_SIMHASH64, &code, 1);
    struct doppel_record video = video_record(7, 1);
    const struct {
        const struct doppel_record *a, *b;
        bool comparable;
    } cases[] = {{&image, &audio, false}, {&text, &image, false}, {&text, &video, false},
                 {&audio, &text, false},  {&image, &video, true}, {&video, &audio, true},
                 {&text, &text, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_comparison out = {.match.distance = 77};
        enum doppel_status status =
            doppel_compare(NULL, cases[i].a, cases[i].b, &options, &out, NULL);
        assert_int_equal(doppel_comparable(cases[i].a, cases[i].b), cases[i].comparable);
        assert_int_equal(status, cases[i].comparable ? DOPPEL_OK : DOPPEL_E_ARGUMENT);
        if (status)
            assert_int_equal(out.match.distance, 77);
        else
            doppel_comparison_free(&out);
    }
    doppel_record_free(&image);
    doppel_record_free(&audio);
    doppel_record_free(&text);
    doppel_record_free(&video);
}

static void what_is_damaged_matches_nothing(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record whole = video_record(7, 5), cut = video_record(7, 5);
    cut.digest.bytes[0] ^= 1;
    for (size_t size = cut.attachment_size; size; size /= 2) {
        cut.attachment_size = size - 1;
        struct doppel_comparison pair = compare(&whole, &cut, &options);
        assert_false(pair.matches);
        doppel_comparison_free(&pair);
    }
    doppel_record_free(&whole);
    doppel_record_free(&cut);
}

static void a_cancelled_run_compares_nothing(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record record = record_make(5);
    struct doppel_comparison out = {0};
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_compare(run, &record, &record, &options, &out, NULL), DOPPEL_OK);
    doppel_comparison_free(&out);
    doppel_run_cancel(run);
    assert_int_equal(doppel_compare(run, &record, &record, &options, &out, NULL),
                     DOPPEL_E_CANCELLED);
    doppel_run_free(run);
    doppel_record_free(&record);
}

/* ---- thresholds ---- */

static void thresholds_are_in_the_unit_of_the_scheme(void **state)
{
    (void)state;
    struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_thresholds by_default =
        doppel_compare_thresholds(&options, DOPPEL_SCHEME_PHASH64);
    assert_int_equal(by_default.max_distance, -1); /* by a rate alone */
    assert_true(by_default.max_false_positive_rate > 0 && by_default.min_similarity < 0);
    assert_true(doppel_compare_thresholds(&options, DOPPEL_SCHEME_WINNOW32).min_words > 0);
    assert_true(doppel_compare_thresholds(&options, DOPPEL_SCHEME_MINHASH128).min_similarity > 0);
    options.max_distance = 3;
    struct doppel_thresholds given = doppel_compare_thresholds(&options, DOPPEL_SCHEME_PHASH64);
    assert_int_equal(given.max_distance, 3);
    assert_true(given.max_false_positive_rate > 0); /* a distance only narrows */
    options.max_false_positives = 1e-5;
    assert_true(
        doppel_compare_thresholds(&options, DOPPEL_SCHEME_PEAKS32).max_false_positive_rate == 1e-5);
}

static void a_flat_image_is_an_obstacle(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_record image = record_make(5);
    image.quality = 100;
    assert_null(doppel_compare_obstacle(&image, &options));
    image.quality = 0;
    assert_non_null(doppel_compare_obstacle(&image, &options));
    doppel_record_free(&image);
}

/* ---- as JSON ---- */

static void assert_json(const struct doppel_comparison *comparison, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_comparison_to_json(&json, comparison);
    doppel_json_object_end(&json);
    assert_int_equal(json.size, strlen(expected));
    assert_memory_equal(json.bytes, expected, json.size);
    doppel_json_free(&json);
}

static void matches_have_the_contracts_fields(void **state)
{
    (void)state;
    struct doppel_comparison comparison = {
        .matches = true,
        .match = {.kind = DOPPEL_KIND_IMAGE,
                  .scheme = DOPPEL_SCHEME_PHASH64,
                  .relation = DOPPEL_RELATION_SAME,
                  .verified = DOPPEL_VERIFIED_CODES,
                  .distance = 3,
                  .bits = 64,
                  .similarity = 0.91239,
                  .score = 8.1234,
                  .false_positive_rate = 7.5261e-9,
                  .transform = {.mirrored = true, .rotated = 90}}};
    assert_json(&comparison, "{\"kind\":\"image\",\"scheme\":\"phash64\",\"relation\":\"same\","
                             "\"distance\":3,\"bits\":64,\"similarity\":0.9124,\"score\":8.12,"
                             "\"false_positive_rate\":7.53e-9,\"verified\":\"codes\","
                             "\"transform\":{\"mirrored\":true,\"rotated\":90}}");
    comparison.matches = false; /* it stands in no relation, and nothing is verified */
    assert_json(&comparison, "{\"kind\":\"image\",\"scheme\":\"phash64\","
                             "\"distance\":3,\"bits\":64,\"similarity\":0.9124,\"score\":8.12,"
                             "\"false_positive_rate\":7.53e-9}");
    comparison.match.false_positive_rate = -1; /* not known */
    assert_json(&comparison, "{\"kind\":\"image\",\"scheme\":\"phash64\","
                             "\"distance\":3,\"bits\":64,\"similarity\":0.9124}");
}

static void assert_compared_json(const struct doppel_record *a, const struct doppel_record *b,
                                 const struct doppel_comparison *comparison, const char *expected)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_compare_result_to_json(&json, a, b, NULL, comparison);
    doppel_json_object_end(&json);
    assert_string_equal(json.bytes, expected);
    doppel_json_free(&json);
}

static void what_was_compared_as_json(void **state)
{
    (void)state;
    const struct doppel_code code = {{0}}, far = {{UINT64_MAX}};
    struct doppel_record a = code_record(DOPPEL_SCHEME_PDQ, &code, 1),
                         b = code_record(DOPPEL_SCHEME_PDQ, &far, 2),
                         text = code_record(DOPPEL_SCHEME_SIMHASH64, &code, 3);
    struct doppel_comparison pair = compare(&a, &b, NULL);
    assert_compared_json(&a, &b, &pair,
                         "{\"match\":false,\"limit\":{\"max_distance\":31},\"kind\":\"image\","
                         "\"scheme\":\"pdq\",\"distance\":64,\"bits\":256,\"similarity\":0.5}");
    assert_compared_json(&a, &text, NULL,
                         "{\"match\":false,\"reason\":\"a is of kind image, b of kind text\"}");
    doppel_comparison_free(&pair);
    doppel_record_free(&a);
    doppel_record_free(&b);
    doppel_record_free(&text);
}

/* ---- careless use ---- */

static void unknown_digests_are_no_same_bytes(void **state)
{
    (void)state;
    struct doppel_record a = record_make(5), b = record_make(1005);
    a.digest = b.digest = a.pixels = b.pixels = (struct doppel_digest){0};
    struct doppel_comparison pair = compare(&a, &b, NULL); /* by the defaults */
    assert_false(pair.matches);
    doppel_comparison_free(&pair);
    doppel_record_free(&a);
    doppel_record_free(&b);
}

static void schemes_that_there_are_not(void **state)
{
    (void)state;
    const struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_code codes[1] = {0};
    uint32_t positions[1] = {0};
    for (int number = DOPPEL_KIND_UNKNOWN; number <= DOPPEL_KIND_VIDEO; number++) {
        struct doppel_record a = {.kind = (enum doppel_kind)number, .scheme = 99}, b = a;
        a.fingerprint = (struct doppel_fingerprint){99, 1, 64, 1, codes, positions};
        a.digest.bytes[0] = 1;
        struct doppel_comparison pair = compare(&a, &b, &options), turned = compare(&b, &a, NULL);
        assert_false(pair.matches && turned.matches);
        doppel_comparison_free(&pair);
        doppel_comparison_free(&turned);
        assert_int_equal(doppel_compare_same(&a, &pair, NULL), DOPPEL_OK);
        assert_int_equal(pair.match.bits, 0);
        doppel_comparison_free(&pair);
    }
    assert_int_equal(doppel_compare_thresholds(&options, DOPPEL_SCHEME_NONE).max_distance, -1);
    assert_null(doppel_compare_scheme(&options, (enum doppel_kind)99));
    doppel_comparison_free(NULL);
}

static void a_good_call_tells_no_error(void **state)
{
    (void)state;
    struct doppel_record video = video_record(7, 5), image = record_make(3); /* no audio */
    struct doppel_error error = {0};
    struct doppel_comparison pair;
    assert_int_equal(doppel_compare(NULL, &image, &video, NULL, &pair, &error), DOPPEL_OK);
    assert_int_equal(error.status, DOPPEL_OK);
    doppel_comparison_free(&pair);
    doppel_record_free(&video);
    doppel_record_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_are_the_same),
        cmocka_unit_test(unrelated_images_do_not_match),
        cmocka_unit_test(codes_match_by_their_distance),
        cmocka_unit_test(a_record_as_json),
        cmocka_unit_test(a_video_holds_its_recording),
        cmocka_unit_test(unrelated_tracks_do_not_match),
        cmocka_unit_test(videos_match_by_one_of_two),
        cmocka_unit_test(a_video_shows_its_frame),
        cmocka_unit_test(kinds_that_have_nothing_in_common),
        cmocka_unit_test(what_is_damaged_matches_nothing),
        cmocka_unit_test(a_cancelled_run_compares_nothing),
        cmocka_unit_test(thresholds_are_in_the_unit_of_the_scheme),
        cmocka_unit_test(a_flat_image_is_an_obstacle),
        cmocka_unit_test(matches_have_the_contracts_fields),
        cmocka_unit_test(what_was_compared_as_json),
        cmocka_unit_test(unknown_digests_are_no_same_bytes),
        cmocka_unit_test(schemes_that_there_are_not),
        cmocka_unit_test(a_good_call_tells_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
