/* Records: what was read of a file, a text or an array; compared, printed, kept. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/compare.h>

static const char record_capsule[] = "doppel.record";

static void free_record(PyObject *capsule)
{
    struct doppel_record *record = PyCapsule_GetPointer(capsule, record_capsule);
    doppel_record_free(record);
    free(record);
}

PyObject *binding_record_capsule(struct doppel_record *record)
{
    struct doppel_record *copy = malloc(sizeof *copy);
    PyObject *capsule = copy ? PyCapsule_New(copy, record_capsule, free_record) : NULL;
    if (capsule) {
        *copy = *record;
        return capsule;
    }
    free(copy);
    doppel_record_free(record);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

const struct doppel_record *binding_record_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, record_capsule);
}

const struct doppel_scheme *binding_scheme_of(const char *name)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_name(name);
    if (!scheme)
        binding_fail(DOPPEL_E_ARGUMENT, "there is no scheme '%s'", name);
    return scheme;
}

/* ---- what it says ---- */

PyObject *binding_record_json(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    int codes;
    if (!binding_parse(args, "Op", &capsule, &codes))
        return NULL;
    const struct doppel_record *record = binding_record_of(capsule);
    if (!record)
        return NULL;
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_record_to_json(&json, record, NULL, codes);
    doppel_json_object_end(&json);
    return binding_json_bytes(&json);
}

/* (bits of a code, the words of all codes, their positions): words as many as the bits fill. */
PyObject *binding_record_codes(PyObject *module, PyObject *capsule)
{
    (void)module;
    const struct doppel_record *record = binding_record_of(capsule);
    if (!record)
        return NULL;
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    size_t row = (fingerprint->code_bits + 63u) / 64 * sizeof(uint64_t);
    PyObject *words = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(row * fingerprint->count));
    PyObject *positions = PyByteArray_FromStringAndSize(
        (const char *)fingerprint->positions,
        (Py_ssize_t)(fingerprint->count * sizeof *fingerprint->positions));
    if (words && positions) {
        char *out = PyByteArray_AsString(words);
        for (uint32_t i = 0; i < fingerprint->count; i++)
            memcpy(out + i * row, &fingerprint->codes[i], row);
        return Py_BuildValue("(INN)", (unsigned)fingerprint->code_bits, words, positions);
    }
    Py_XDECREF(words);
    Py_XDECREF(positions);
    return NULL;
}

static bool has_short_lanes(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_MINHASH128 || scheme == DOPPEL_SCHEME_MINHASH256;
}

/* Of lanes of `step` bits those that differ. */
static uint32_t count_lanes(const struct doppel_fingerprint *a, const struct doppel_fingerprint *b,
                            unsigned step)
{
    uint32_t differ = 0;
    uint64_t mask = step == 64 ? ~UINT64_C(0) : (UINT64_C(1) << step) - 1;
    for (uint32_t i = 0; i < a->count; i++)
        for (int word = 0; word < 4; word++)
            for (unsigned shift = 0; shift < 64; shift += step)
                differ += ((a->codes[i].word[word] ^ b->codes[i].word[word]) >> shift & mask) != 0;
    return differ;
}

/* The bits in which the codes of the whole differ, of MinHash the lanes. */
PyObject *binding_record_distance(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsules[2];
    if (!binding_parse(args, "OO", &capsules[0], &capsules[1]))
        return NULL;
    const struct doppel_record *a = binding_record_of(capsules[0]);
    const struct doppel_record *b = a ? binding_record_of(capsules[1]) : NULL;
    if (!b)
        return NULL;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(a->scheme);
    if (a->scheme != b->scheme || a->version != b->version)
        return binding_fail(DOPPEL_E_ARGUMENT, "fingerprints of different schemes, or versions of "
                                               "one, have no distance");
    bool lanes = has_short_lanes(a->scheme) || a->scheme == DOPPEL_SCHEME_DATASKETCH;
    if (!scheme || !a->fingerprint.count || a->fingerprint.count != b->fingerprint.count ||
        a->scheme == DOPPEL_SCHEME_WINNOW32) {
        bool image = scheme && a->scheme == DOPPEL_SCHEME_PHASH64 && a->fingerprint.count &&
                     b->fingerprint.count;
        if (!image)
            return binding_fail(DOPPEL_E_ARGUMENT, "sequences of codes have no distance: compare() "
                                                   "says what they share");
    }
    uint32_t distance =
        lanes ? count_lanes(&a->fingerprint, &b->fingerprint, has_short_lanes(a->scheme) ? 16 : 32)
              : doppel_code_distance(&a->fingerprint.codes[0], &b->fingerprint.codes[0],
                                     scheme->code_bits);
    return PyLong_FromUnsignedLong(distance);
}

PyObject *binding_record_from_hex(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name, *hex;
    struct doppel_error error;
    struct doppel_record record = {0};
    if (!binding_parse(args, "ss", &name, &hex))
        return NULL;
    const struct doppel_scheme *scheme = binding_scheme_of(name);
    if (!scheme)
        return NULL;
    if (doppel_fingerprint_from_hex(scheme, hex, &record.fingerprint, &error))
        return binding_raise(&error, NULL);
    record.kind = scheme->kind;
    record.scheme = scheme->id;
    record.version = scheme->version;
    record.quality = 100;
    return binding_record_capsule(&record);
}

/* ---- two of them ---- */

static PyObject *comparison_tuple(bool matches, struct doppel_json *json)
{
    PyObject *said = binding_json_bytes(json);
    return said ? Py_BuildValue("(ON)", matches ? Py_True : Py_False, said) : NULL;
}

/* (run, a, b, max_distance, min_similarity, max_fp_rate, near_misses): whether they match, and what
 * they are to each other. Numbers below 0 are the defaults. */
PyObject *binding_compare(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *capsules[2];
    struct binding_call call;
    struct doppel_comparison pair = {0};
    struct doppel_compare_options options = doppel_compare_options_default();
    struct doppel_json json = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!binding_parse(args, "OOOiddI", &run, &capsules[0], &capsules[1], &options.max_distance,
                       &options.min_similarity, &options.max_false_positives, &options.near_misses))
        return NULL;
    const struct doppel_record *a = binding_record_of(capsules[0]);
    const struct doppel_record *b = a ? binding_record_of(capsules[1]) : NULL;
    if (!b)
        return NULL;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(a->scheme);
    if (scheme && a->scheme == b->scheme && a->version == b->version) {
        options.schemes[scheme->kind] = *scheme; /* by whatever they were made */
        options.schemes[scheme->kind].version = a->version;
    }
    if (!binding_begin(run, &call))
        return NULL;
    bool comparable = doppel_comparable(a, b);
    if (comparable)
        status = doppel_compare(call.run, a, b, &options, &pair, &call.error);
    const bool matches = pair.matches;
    if (!status) {
        doppel_json_object_begin(&json, NULL);
        doppel_compare_result_to_json(&json, a, b, &options, comparable ? &pair : NULL);
        doppel_json_object_end(&json);
        doppel_comparison_free(&pair);
    }
    if (binding_end(&call, status, NULL))
        return comparison_tuple(matches, &json);
    doppel_json_free(&json);
    return NULL;
}

/* ---- kept ----
 *
 * Magic, kind, reading, quality, 0; width, height: u32; digest; pixels; sizes of the two that
 * follow: u64; the fingerprint's portable form; the attachment. Little-endian. */

static const char kept_magic[8] = {'d', 'o', 'p', 'p', 'e', 'l', 'R', '1'};
enum { KEPT_HEAD_BYTES = 8 + 4 + 2 * 4 + 2 * 16 + 2 * 8 };

static void put_kept_number(uint8_t **at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

static uint64_t take_kept_number(const uint8_t **at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t) * (*at)++ << 8 * i;
    return value;
}

PyObject *binding_record_dump(PyObject *module, PyObject *capsule)
{
    (void)module;
    const struct doppel_record *record = binding_record_of(capsule);
    if (!record)
        return NULL;
    size_t size = doppel_fingerprint_size(&record->fingerprint);
    PyObject *bytes = PyByteArray_FromStringAndSize(
        NULL, (Py_ssize_t)(KEPT_HEAD_BYTES + size + record->attachment_size));
    if (!bytes)
        return NULL;
    uint8_t *at = (uint8_t *)PyByteArray_AsString(bytes);
    memcpy(at, kept_magic, sizeof kept_magic);
    at += sizeof kept_magic;
    put_kept_number(&at, record->kind, 1);
    put_kept_number(&at, record->reading, 1);
    put_kept_number(&at, record->quality, 2);
    put_kept_number(&at, record->width, 4);
    put_kept_number(&at, record->height, 4);
    memcpy(at, record->digest.bytes, 16);
    memcpy(at + 16, record->pixels.bytes, 16);
    at += 32;
    put_kept_number(&at, size, 8);
    put_kept_number(&at, record->attachment_size, 8);
    doppel_fingerprint_write(&record->fingerprint, at);
    if (record->attachment_size)
        memcpy(at + size, record->attachment, record->attachment_size);
    return bytes;
}

static enum doppel_status load_parts(const uint8_t *at, uint64_t size, uint64_t attachment,
                                     struct doppel_record *record, struct doppel_error *error)
{
    enum doppel_status status =
        doppel_fingerprint_read(at, (size_t)size, &record->fingerprint, error);
    if (status)
        return status;
    record->scheme = record->fingerprint.scheme;
    record->version = record->fingerprint.version;
    record->attachment = attachment ? malloc((size_t)attachment) : NULL;
    if (attachment && !record->attachment)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a fingerprint");
    record->attachment_size = (size_t)attachment;
    if (attachment)
        memcpy(record->attachment, at + size, (size_t)attachment);
    return DOPPEL_OK;
}

/* Whether it is such as its scheme makes: of one that is not known, nobody can say. */
static bool is_of_its_scheme(const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    return scheme && scheme->kind == record->kind && doppel_record_is_readable(record);
}

PyObject *binding_record_load(PyObject *module, PyObject *args)
{
    (void)module;
    const char *bytes;
    Py_ssize_t length;
    struct doppel_record record = {0};
    struct doppel_error error = {0};
    if (!binding_parse(args, "y#", &bytes, &length))
        return NULL;
    if (length < KEPT_HEAD_BYTES || memcmp(bytes, kept_magic, sizeof kept_magic))
        return binding_fail(DOPPEL_E_CORRUPT, "is no fingerprint that was kept");
    const uint8_t *at = (const uint8_t *)bytes + sizeof kept_magic;
    record.kind = (enum doppel_kind)take_kept_number(&at, 1);
    record.reading = (uint8_t)take_kept_number(&at, 1);
    record.quality = (uint8_t)take_kept_number(&at, 2);
    record.width = (uint32_t)take_kept_number(&at, 4);
    record.height = (uint32_t)take_kept_number(&at, 4);
    memcpy(record.digest.bytes, at, 16);
    memcpy(record.pixels.bytes, at + 16, 16);
    at += 32;
    uint64_t size = take_kept_number(&at, 8), attachment = take_kept_number(&at, 8);
    uint64_t there = (uint64_t)(length - KEPT_HEAD_BYTES);
    if (size > there || attachment != there - size ||
        load_parts(at, size, attachment, &record, &error) || !is_of_its_scheme(&record)) {
        doppel_record_free(&record);
        return binding_fail(error.status == DOPPEL_E_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_E_CORRUPT,
                            "a fingerprint that was kept is damaged");
    }
    return binding_record_capsule(&record);
}
