/* The portable form: round trips, ranges against a filter, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/synth.h"

static const struct doppel_audio_tags TAGS[] = {
    {{0}, {0}, {0}},
    {"Sigur R\xc3\xb3s", "Svefn-g-englar", "\xc3\x81g\xc3\xa6tis byrjun"},
    {{0}, "a title alone", {0}},
};
enum { TAG_COUNT = sizeof TAGS / sizeof *TAGS };

/* Peaks at random over `steps`, in order, some at the same time. */
static struct doppel_audio_track make_track(size_t count, uint32_t steps, uint64_t seed)
{
    struct doppel_audio_track track = {malloc((count + 1) * sizeof *track.peaks), count, 4711, 42,
                                       TAGS[seed % TAG_COUNT]};
    uint32_t time = 0;
    uint16_t frequency = 0;
    bool faint = count % 40 == 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t step = next_random(&seed) % 4 ? (uint32_t)(uniform(&seed) * steps) : 0;
        frequency = (uint16_t)(next_random(&seed) % (30720u - (step ? 0 : frequency)) +
                               (step ? 0 : frequency));
        time += step;
        uint64_t class = next_random(&seed) % 3; /* of some tracks */
        track.peaks[i] =
            (struct doppel_audio_peak){time, frequency, class == 0, class == 1 && faint};
    }
    return track;
}

static uint8_t *write_track(const struct doppel_audio_track *track, bool strong_only,
                            size_t *out_size)
{
    *out_size = doppel_audio_track_size(track, strong_only);
    uint8_t *bytes = malloc(*out_size);
    doppel_audio_track_write(track, strong_only, bytes);
    return bytes;
}

static void assert_same(const struct doppel_audio_track *read,
                        const struct doppel_audio_track *track, bool strong_only, uint32_t from,
                        uint32_t to)
{
    size_t next = 0;
    for (size_t i = 0; i < track->count; i++) {
        const struct doppel_audio_peak *peak = &track->peaks[i];
        if ((strong_only && !peak->strong) || peak->time < from || peak->time >= to)
            continue;
        assert_true(next < read->count);
        assert_int_equal(read->peaks[next].time, peak->time);
        assert_int_equal(read->peaks[next].frequency, peak->frequency);
        assert_int_equal(read->peaks[next].strong, peak->strong);
        assert_int_equal(read->peaks[next].faint, peak->faint);
        next++;
    }
    assert_int_equal(next, read->count);
    assert_int_equal(read->duration_ms, track->duration_ms);
    assert_int_equal(read->damaged_ms, track->damaged_ms);
    assert_memory_equal(&read->tags, &track->tags, sizeof read->tags);
}

static const struct {
    size_t count;
    uint32_t steps;
} SHAPES[] = {{0, 1}, {1, 10}, {1000, 40}, {1000, 3000}, {200, 200000}, {60, 60000000}, {999, 40}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < SHAPE_COUNT; shape++)
        for (int strong = 0; strong < 2; strong++) {
            struct doppel_audio_track read,
                track = make_track(SHAPES[shape].count, SHAPES[shape].steps, shape);
            size_t size;
            uint8_t *bytes = write_track(&track, strong, &size);
            assert_int_equal(doppel_audio_track_read(bytes, size, &read, NULL), DOPPEL_OK);
            assert_same(&read, &track, strong, 0, UINT32_MAX);
            doppel_audio_track_free(&read);
            doppel_audio_track_free(&track);
            free(bytes);
        }
}

static void test_ranges(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 600; i++) {
        size_t shape = (size_t)i % SHAPE_COUNT;
        struct doppel_audio_track read,
            track = make_track(SHAPES[shape].count, SHAPES[shape].steps, shape);
        uint32_t end = track.count ? track.peaks[track.count - 1].time + 5 : 5;
        uint32_t from = (uint32_t)(uniform(&seed) * end), to = (uint32_t)(uniform(&seed) * end);
        if (i % 7 == 0 && track.count)
            from = track.peaks[track.count / 2].time;
        if (i % 5 == 0)
            to = i % 2 ? UINT32_MAX : from + 65536;
        size_t size;
        uint8_t *bytes = write_track(&track, false, &size);
        assert_int_equal(doppel_audio_track_read_range(bytes, size, from, to, &read, NULL),
                         DOPPEL_OK);
        assert_same(&read, &track, false, from, to);
        doppel_audio_track_free(&read);
        doppel_audio_track_free(&track);
        free(bytes);
    }
}

static void assert_in_order(const struct doppel_audio_track *track)
{
    for (size_t i = 1; i < track->count; i++) {
        const struct doppel_audio_peak *a = &track->peaks[i - 1], *b = &track->peaks[i];
        assert_true(a->time < b->time || (a->time == b->time && a->frequency <= b->frequency));
    }
}

/* What is read of damaged bytes is in order and written again as it was, or nothing is. */
static void check_damaged(const uint8_t *bytes, size_t size)
{
    struct doppel_audio_track read = {.count = 99};
    struct doppel_error error = {0};
    enum doppel_status status = doppel_audio_track_read(bytes, size, &read, &error);
    if (status) {
        assert_int_equal(status, DOPPEL_E_CORRUPT);
        assert_int_equal(read.count, 99);
        assert_true(error.message[0]);
    } else {
        assert_in_order(&read);
        size_t written_size;
        uint8_t *written = write_track(&read, false, &written_size);
        assert_int_equal(written_size, size);
        assert_memory_equal(written, bytes, size);
        free(written);
        doppel_audio_track_free(&read);
    }
    if (!doppel_audio_track_read_range(bytes, size, 3000, 70000, &read, NULL)) {
        assert_in_order(&read);
        doppel_audio_track_free(&read);
    }
}

static void test_damage(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 4000; i++) {
        struct doppel_audio_track track = make_track(40 + (size_t)i % 50, 5000, (uint64_t)i);
        size_t size;
        uint8_t *bytes = write_track(&track, i % 2, &size);
        size_t head = i % 3 || size < 110 ? size : 110; /* with the tags */
        for (int changes = 1 + i % 3; changes; changes--)
            bytes[next_random(&seed) % head] = (uint8_t)next_random(&seed);
        check_damaged(bytes, size);
        doppel_audio_track_free(&track);
        free(bytes);
    }
}

/* A block that has more peaks than those up to the end of a range: they have no room. */
static void test_blocks_out_of_order(void **state)
{
    (void)state;
    struct doppel_audio_track track = make_track(600, 1000, 6), read;
    size_t size;
    uint8_t *bytes = write_track(&track, false, &size);
    assert_true(bytes[24] >= 4);
    const size_t table = 32, entry = 8; /* no tags */
    uint8_t *second = bytes + table + entry + 4;
    memcpy(second, bytes + table + 3 * entry + 4, 4); /* as if the first had those of three */
    assert_int_equal(doppel_audio_track_read_range(bytes, size, 0, 2 * 65536, &read, NULL),
                     DOPPEL_E_CORRUPT);
    doppel_audio_track_free(&track);
    free(bytes);
}

static void test_the_head(void **state)
{
    (void)state;
    struct doppel_audio_track track = make_track(300, 5000, 5), read;
    size_t size;
    uint8_t *bytes = write_track(&track, false, &size);
    /* a head is there with all of its tags, or not at all */
    size_t head = 32 + strlen(track.tags.title) + 3;
    assert_true(head < DOPPEL_AUDIO_HEAD_BYTES && DOPPEL_AUDIO_HEAD_BYTES < size);
    for (size_t given = 0; given <= DOPPEL_AUDIO_HEAD_BYTES; given++) {
        enum doppel_status status = doppel_audio_track_head(bytes, given, &read, NULL);
        assert_int_equal(status, given < head ? DOPPEL_E_CORRUPT : DOPPEL_OK);
    }
    assert_int_equal(read.duration_ms, track.duration_ms);
    assert_int_equal(read.damaged_ms, track.damaged_ms);
    assert_string_equal(read.tags.title, "a title alone");
    assert_string_equal(read.tags.artist, "");
    assert_null(read.peaks);
    bytes[0] ^= 1;
    assert_int_equal(doppel_audio_track_head(bytes, size, &read, NULL), DOPPEL_E_CORRUPT);
    doppel_audio_track_free(&track);
    free(bytes);
}

/* The bytes of a recording without peaks whose tags are these bytes. */
static size_t write_raw_tags(const void *tags, size_t size, uint8_t *out)
{
    const struct doppel_audio_track track = {.duration_ms = 4711};
    doppel_audio_track_write(&track, false, out);
    out[28] = (uint8_t)size;
    out[29] = (uint8_t)(size >> 8);
    memcpy(out + 32, tags, size);
    return 32 + size;
}

static void test_hostile_tags(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
    } cases[] = {
        {"a\0b\0c", 6, true},
        {"\0b\0", 4, true},
        {"\0\0", 3, false},           /* nothing is said by no bytes */
        {"a\0b\0c", 5, false},        /* the last has no end */
        {"a\0b", 4, false},           /* two of three */
        {"a\0b\0c\0d", 8, false},     /* a fourth */
        {"\xff\0b\0c", 6, false},     /* no UTF-8 */
        {"\xc0\x80\0b\0c", 7, false}, /* nor is this */
        {"a\nx\0b\0c", 8, false},     /* two lines */
        {" a\0b\0c", 7, false},       /* not as it would be written */
        {"a\x1b[2J\0b\0c", 10, false},
    };
    uint8_t bytes[2048];
    struct doppel_audio_track read;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = write_raw_tags(cases[i].bytes, cases[i].size, bytes);
        enum doppel_status wanted = cases[i].good ? DOPPEL_OK : DOPPEL_E_CORRUPT;
        assert_int_equal(doppel_audio_track_read(bytes, size, &read, NULL), wanted);
        if (cases[i].good)
            doppel_audio_track_free(&read);
        assert_int_equal(doppel_audio_track_head(bytes, size, &read, NULL), wanted);
    }
    for (size_t length = 250; length < 260; length++) { /* the longest */
        char tags[600] = "";
        memset(tags, 'x', length);
        size_t size = write_raw_tags(tags, length + 3, bytes);
        assert_int_equal(doppel_audio_track_head(bytes, size, &read, NULL),
                         length <= DOPPEL_TAG_BYTES ? DOPPEL_OK : DOPPEL_E_CORRUPT);
    }
    for (size_t i = 28; i < 32; i++) { /* lengths beyond the end, up to 4 GB */
        write_raw_tags("a\0b\0c", 6, bytes);
        bytes[i] = 0xff;
        assert_int_equal(doppel_audio_track_head(bytes, 38, &read, NULL), DOPPEL_E_CORRUPT);
    }
}

static void test_every_cut_is_refused(void **state)
{
    (void)state;
    struct doppel_audio_track track = make_track(100, 5000, 5);
    size_t size;
    uint8_t *bytes = write_track(&track, false, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        struct doppel_audio_track read;
        assert_int_equal(doppel_audio_track_read(part, cut, &read, NULL), DOPPEL_E_CORRUPT);
        free(part);
    }
    doppel_audio_track_free(&track);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_blocks_out_of_order),
        cmocka_unit_test(test_the_head),
        cmocka_unit_test(test_hostile_tags),
        cmocka_unit_test(test_every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
