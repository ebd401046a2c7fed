/* Whether the indexes of a library have what its items have. */
#include "tests/library/tracks.h"

#include <dirent.h>

#include "core/array.h"
#include "library/derived/derived.h"

struct posting {
    uint64_t id;
    uint32_t key, position;
};

typedef ARRAY(struct posting) posting_array;
typedef ARRAY(uint64_t) id_array;
typedef ARRAY(struct doppel_index_hit) hit_array;

/* Codes of videos are told by their distances from these. */
enum { PROBES = 3 };
static const uint64_t probes[PROBES] = {0, UINT64_C(0x0123456789abcdef),
                                        UINT64_C(0xff00f0f0ccccaaaa)};

/* What the items have. */
struct expectation {
    struct doppel_library *library;
    posting_array postings;
    id_array recordings;
    hit_array codes;
};

/* ---- items ---- */

static void expect_peaks(struct expectation *expected, uint64_t id, const uint8_t *data,
                         size_t size)
{
    struct doppel_audio_track track;
    struct doppel_index_posting *postings;
    size_t count;
    assert_int_equal(doppel_audio_track_read(data, size, &track, NULL), DOPPEL_OK);
    const struct doppel_recording recording = {track.peaks, track.count,
                                               (double)track.duration_ms / 1e3};
    assert_int_equal(doppel_recording_postings(&recording, &postings, &count, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&expected->postings,
                               ((struct posting){id, postings[i].key, postings[i].position})));
    assert_true(array_push(&expected->recordings, id));
    free(postings);
    doppel_audio_track_free(&track);
}

static uint32_t distance(uint64_t a, uint64_t b)
{
    uint32_t bits = 0;
    for (uint64_t x = a ^ b; x; x &= x - 1)
        bits++;
    return bits;
}

static void expect_video(struct expectation *expected, uint64_t id, const uint8_t *data,
                         size_t size)
{
    struct doppel_video_track clip;
    assert_int_equal(doppel_video_track_read(data, size, DOPPEL_VIDEO_ALL, &clip, NULL), DOPPEL_OK);
    assert_null(clip.cells);
    for (size_t i = 0; i < clip.count; i++)
        for (uint32_t p = 0; p < PROBES; p++)
            assert_true(array_push(&expected->codes,
                                   ((struct doppel_index_hit){
                                       .payload = id << 32 | clip.frames[i].start_ms,
                                       .distance = distance(clip.frames[i].code.word[0], probes[p]),
                                       .query = p})));
    if (clip.audio)
        expect_peaks(expected, id, clip.audio, clip.audio_size);
    doppel_video_track_free(&clip);
}

static bool expect_item(void *context, const struct doppel_item *visited)
{
    struct expectation *expected = context;
    struct doppel_item item;
    assert_null(visited->record.attachment);
    if (visited->record.scheme != recordings.scheme && visited->record.scheme != clips.scheme)
        return true;
    assert_int_equal(visited->record.fingerprint.count, 0);
    assert_int_equal(doppel_library_get(expected->library, visited->id, true, &item, NULL),
                     DOPPEL_OK);
    (item.record.scheme == recordings.scheme ? expect_peaks : expect_video)(
        expected, visited->id, item.record.attachment, item.record.attachment_size);
    doppel_item_free(&item);
    return true;
}

/* ---- postings ---- */

static int compare_postings(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Half-words of a posting, from the one that counts least; ids of tests have no more than two. */
enum { DIGITS = 6, DIGIT_VALUES = 1 << 16 };

static unsigned digit_of(const struct posting *posting, unsigned digit)
{
    const uint32_t words[DIGITS / 2] = {posting->position, (uint32_t)posting->id, posting->key};
    return words[digit / 2] >> digit % 2 * 16 & (DIGIT_VALUES - 1);
}

static void sort_by_digit(const struct posting *from, struct posting *to, size_t count,
                          unsigned digit)
{
    size_t *at = calloc(DIGIT_VALUES + 1, sizeof *at);
    assert_non_null(at);
    for (size_t i = 0; i < count; i++)
        at[digit_of(&from[i], digit) + 1]++;
    for (size_t value = 1; value < DIGIT_VALUES; value++)
        at[value] += at[value - 1];
    for (size_t i = 0; i < count; i++)
        to[at[digit_of(&from[i], digit)]++] = from[i];
    free(at);
}

/* There are millions, and comparing them took most of the time of some tests. */
static void sort(posting_array *postings)
{
    struct posting *items = postings->items;
    struct posting *other = malloc((postings->count + 1) * sizeof *other);
    assert_non_null(other);
    for (unsigned digit = 0; digit < DIGITS; digit += 2) {
        sort_by_digit(items, other, postings->count, digit);
        sort_by_digit(other, items, postings->count, digit + 1);
    }
    free(other);
    for (size_t i = 1; i < postings->count; i++)
        assert_true(compare_postings(&items[i - 1], &items[i]) <= 0);
}

struct finding {
    const struct doppel_index_axis *axis;
    const uint32_t *keys;
    posting_array postings;
};

static bool note_run(void *context, uint32_t key_number, uint64_t base, const uint32_t *positions,
                     size_t count)
{
    struct finding *finding = context;
    for (size_t i = 0; i < count; i++) {
        struct doppel_index_place place = doppel_index_item_at(finding->axis, base + positions[i]);
        if (!place.removed)
            assert_true(
                array_push(&finding->postings,
                           ((struct posting){place.payload, finding->keys[key_number],
                                             (uint32_t)(base + positions[i] - place.start)})));
    }
    return true;
}

static void assert_items_fit(const struct doppel_index_axis *axis, const id_array *ids)
{
    uint64_t end = doppel_index_axis_length(axis), at = 0;
    size_t living = 0;
    while (at < end) {
        struct doppel_index_place place = doppel_index_item_at(axis, at);
        assert_int_equal(place.start, at);
        assert_true(place.length > 0);
        at += place.length;
        living += !place.removed;
        bool expected = place.removed;
        for (size_t i = 0; i < ids->count && !expected; i++)
            expected = ids->items[i] == place.payload;
        assert_true(expected);
    }
    assert_int_equal(at, end);
    assert_int_equal(living, ids->count);
}

/* The items of the axis are those of the library, and under their keys are their postings. */
static void assert_postings_fit(const struct doppel_index *index, posting_array *wanted,
                                const id_array *ids)
{
    struct doppel_index_axis *axis;
    uint32_t *keys = malloc((wanted->count + 1) * sizeof *keys);
    size_t count = 0;
    assert_non_null(keys);
    assert_int_equal(doppel_index_axis_take(index, &axis, NULL), DOPPEL_OK);
    assert_items_fit(axis, ids);
    sort(wanted);
    for (size_t i = 0; i < wanted->count; i++)
        if (!count || keys[count - 1] != wanted->items[i].key)
            keys[count++] = wanted->items[i].key;
    struct finding finding = {.axis = axis, .keys = keys};
    assert_int_equal(doppel_index_lookup(axis, keys, count, note_run, &finding, NULL), DOPPEL_OK);
    sort(&finding.postings);
    assert_int_equal(finding.postings.count, wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        if (compare_postings(&finding.postings.items[i], &wanted->items[i]))
            fail_msg("posting %zu of %zu is another one", i, wanted->count);
    array_free(&finding.postings);
    doppel_index_axis_free(axis);
    free(keys);
}

/* ---- codes ---- */

static int compare_hits(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* Within 64 bits of a code is every code. */
static void assert_codes_fit(const struct doppel_index *index, hit_array *wanted)
{
    const struct doppel_index_request request = {.queries = probes, .count = PROBES, .radius = 64};
    struct doppel_index_hit *found;
    size_t count;
    assert_int_equal(doppel_index_search_array(index, &request, &found, &count, NULL), DOPPEL_OK);
    if (wanted->count > 1)
        qsort(wanted->items, wanted->count, sizeof *wanted->items, compare_hits);
    assert_int_equal(count, wanted->count);
    for (size_t i = 0; i < count; i++)
        if (compare_hits(&found[i], &wanted->items[i]))
            fail_msg("code %zu of %zu is another one", i, count);
    free(found);
}

/* ---- both ---- */

static void check_index(const char *directory, const struct derivation *derivation,
                        struct expectation *expected)
{
    const struct doppel_library_options options = {.read_only = true};
    struct doppel_error error = {0};
    struct doppel_store *store;
    struct doppel_store_index *index;
    if (catalogue_open(directory, &options, &store, &error))
        fail_msg("%s", error.message);
    const struct doppel_store_index_options how =
        derived_options(derivation, store, folder_path(directory, derivation->name));
    enum doppel_status status = doppel_store_index_open(store, &how, &index, &error);
    bool videos = derivation == &videos_derivation;
    if (status == DOPPEL_E_NOT_FOUND &&
        !(videos ? expected->codes.count : expected->recordings.count))
        goto end; /* it never had one */
    if (status)
        fail_msg("%s", error.message);
    if (videos)
        assert_codes_fit(doppel_store_index_get(index), &expected->codes);
    else
        assert_postings_fit(doppel_store_index_get(index), &expected->postings,
                            &expected->recordings);
    doppel_store_index_close(index);
end:
    doppel_store_close(store);
}

size_t assert_indexes_fit(const char *directory)
{
    const struct doppel_library_options options = {.read_only = true};
    struct expectation expected = {0};
    assert_int_equal(doppel_library_open(directory, &options, &expected.library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(expected.library, expect_item, &expected, NULL),
                     DOPPEL_OK);
    doppel_library_close(expected.library);
    check_index(directory, &audio_derivation, &expected);
    check_index(directory, &videos_derivation, &expected);
    size_t count = expected.postings.count + expected.codes.count / PROBES;
    array_free(&expected.postings);
    array_free(&expected.recordings);
    array_free(&expected.codes);
    return count;
}

int count_segments(const char *directory, const char *name)
{
    DIR *folder = opendir(folder_path(directory, name));
    if (!folder)
        return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strstr(entry->d_name, ".segment") != NULL;
    closedir(folder);
    return count;
}
