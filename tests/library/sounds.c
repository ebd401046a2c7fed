/* Made-up sounds, and whether the index of a library has the postings of its items. */
#include "tests/library/sounds.h"

#include <dirent.h>

#include "core/array.h"
#include "library/derived.h"

enum { STRONG_A_SECOND = 40, WEAK_A_SECOND = 20, STEPS_A_SECOND = 689 };

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int compare_peaks(const void *a, const void *b)
{
    const struct doppel_audio_peak *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->frequency < y->frequency ? -1 : x->frequency > y->frequency;
}

struct doppel_audio_track track_make(uint64_t seed, uint32_t seconds)
{
    const size_t a_second = STRONG_A_SECOND + WEAK_A_SECOND;
    struct doppel_audio_track track = {.count = seconds * a_second, .duration_ms = seconds * 1000u};
    track.peaks = calloc(track.count + 1, sizeof *track.peaks);
    assert_non_null(track.peaks);
    for (size_t i = 0; i < track.count; i++)
        track.peaks[i] = (struct doppel_audio_peak){
            .time = (uint32_t)(i / a_second * STEPS_A_SECOND + draw(&seed) % STEPS_A_SECOND),
            .frequency = (uint16_t)(512 + draw(&seed) % 29000),
            .strong = i % a_second < STRONG_A_SECOND};
    qsort(track.peaks, track.count, sizeof *track.peaks, compare_peaks);
    return track;
}

struct doppel_record sound_make(uint64_t seed, uint32_t seconds)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PEAKS32);
    struct doppel_audio_track track = track_make(seed, seconds);
    const uint64_t content[] = {seed, seconds};
    struct doppel_record record = {
        .digest = doppel_digest_bytes(content, sizeof content),
        .kind = DOPPEL_KIND_AUDIO,
        .scheme = scheme->id,
        .version = scheme->version,
        .quality = 100,
        .attachment_size = doppel_audio_track_size(&track, false),
    };
    assert_int_equal(doppel_fingerprint_make(scheme, 64, 0, &record.fingerprint, NULL), DOPPEL_OK);
    record.attachment = malloc(record.attachment_size);
    assert_non_null(record.attachment);
    doppel_audio_track_write(&track, false, record.attachment);
    doppel_audio_track_free(&track);
    return record;
}

uint64_t add_sound(struct doppel_library *library, const char *path, uint64_t inode, uint64_t seed,
                   uint32_t seconds, enum doppel_added expected)
{
    struct doppel_record record = sound_make(seed, seconds);
    const struct doppel_file_stamp stamp = {.inode = inode};
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id = 0;
    if (doppel_library_add(library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    assert_int_equal(added, expected);
    doppel_record_free(&record);
    return id;
}

/* ---- the index ---- */

struct posting {
    uint64_t id;
    uint32_t key, position;
};

typedef ARRAY(struct posting) posting_array;
typedef ARRAY(uint64_t) id_array;

static int compare_postings(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static void sort(posting_array *postings)
{
    if (postings->count > 1)
        qsort(postings->items, postings->count, sizeof *postings->items, compare_postings);
}

struct expectation {
    struct doppel_library *library;
    posting_array *postings;
    id_array *ids;
};

static bool expect_item(void *context, const struct doppel_item *visited)
{
    struct expectation *expected = context;
    struct doppel_item item;
    struct doppel_audio_track track;
    struct doppel_index_posting *postings;
    size_t count;
    assert_null(visited->record.attachment);
    if (visited->record.scheme != DOPPEL_SCHEME_PEAKS32)
        return true;
    assert_int_equal(visited->record.fingerprint.count, 0);
    assert_int_equal(doppel_library_get(expected->library, visited->id, true, &item, NULL),
                     DOPPEL_OK);
    assert_int_equal(
        doppel_audio_track_read(item.record.attachment, item.record.attachment_size, &track, NULL),
        DOPPEL_OK);
    const struct doppel_sound sound = {track.peaks, track.count, (double)track.duration_ms / 1e3};
    assert_int_equal(doppel_sound_postings(&sound, &postings, &count, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(expected->postings, ((struct posting){visited->id, postings[i].key,
                                                                     postings[i].position})));
    assert_true(array_push(expected->ids, visited->id));
    free(postings);
    doppel_audio_track_free(&track);
    doppel_item_free(&item);
    return true;
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
static void assert_fits(const struct doppel_index *index, posting_array *wanted,
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

static void open_index(const char *directory, struct doppel_store **out_store,
                       struct doppel_store_index **out_index)
{
    const struct doppel_library_options options = {.read_only = true};
    struct doppel_error error = {0};
    if (catalogue_open(directory, &options, out_store, &error))
        fail_msg("%s", error.message);
    const char *folder = folder_path(directory, "sounds");
    const struct doppel_store_index_options index_options =
        derived_options(&sounds_derivation, *out_store, folder);
    if (doppel_store_index_open(*out_store, &index_options, out_index, &error))
        fail_msg("%s", error.message);
}

size_t assert_index_fits(const char *directory)
{
    const struct doppel_library_options options = {.read_only = true};
    posting_array wanted = {0};
    id_array ids = {0};
    struct expectation expected = {.postings = &wanted, .ids = &ids};
    struct doppel_store *store;
    struct doppel_store_index *index;
    assert_int_equal(doppel_library_open(directory, &options, &expected.library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(expected.library, expect_item, &expected, NULL),
                     DOPPEL_OK);
    doppel_library_close(expected.library);
    open_index(directory, &store, &index);
    assert_fits(doppel_store_index_get(index), &wanted, &ids);
    doppel_store_index_close(index);
    doppel_store_close(store);
    size_t count = wanted.count;
    array_free(&wanted);
    array_free(&ids);
    return count;
}

int count_segments(const char *directory)
{
    DIR *folder = opendir(folder_path(directory, "sounds"));
    if (!folder)
        return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strstr(entry->d_name, ".segment") != NULL;
    closedir(folder);
    return count;
}
