/* Files, texts and arrays to records. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>
#include <doppel/intake.h>
#include <doppel/media.h>
#include <doppel/text.h>

#include "core/try.h"

/* How files are read: every kind by default, or by the one scheme that is named. */
static bool read_options_by(const char *name, struct doppel_read_options *out)
{
    *out = doppel_read_options_default();
    if (!name)
        return true;
    const struct doppel_scheme *scheme = binding_scheme_of(name);
    if (!scheme)
        return false;
    for (size_t kind = 0; kind <= DOPPEL_KIND_VIDEO; kind++)
        out->schemes[kind] = (struct doppel_scheme){0};
    out->schemes[scheme->kind] = *scheme;
    out->kind = scheme->kind;
    return true;
}

static PyObject *read_binding_input(PyObject *run, const struct doppel_input *input,
                                    const struct doppel_read_options *options)
{
    struct binding_call call;
    struct doppel_record record = {0};
    if (!binding_begin(run, &call))
        return NULL;
    enum doppel_status status = doppel_fingerprint(call.run, input, options, &record, &call.error);
    if (binding_end(&call, status, input->path))
        return binding_record_capsule(&record);
    if (!status)
        doppel_record_free(&record);
    return NULL;
}

PyObject *binding_read(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = {"run",        "path",         "data",     "descriptor", "scheme",
                            "pcm_format", "pcm_channels", "pcm_rate", "fast",       "no_audio",
                            NULL};
    PyObject *run, *path, *data;
    const char *scheme;
    int descriptor, fast = 0, no_audio = 0;
    unsigned pcm_format = 0;
    struct doppel_pcm pcm = {0};
    struct doppel_input input = {0};
    struct doppel_read_options options;
    struct binding_array bytes = {0};
    if (!binding_parse_keywords(args, keywords, "OOOiz|IIIpp", names, &run, &path, &data,
                                &descriptor, &scheme, &pcm_format, &pcm.channels, &pcm.rate, &fast,
                                &no_audio) ||
        !binding_optional_path(path, &input.path) || !read_options_by(scheme, &options))
        return NULL;
    if (data != Py_None) {
        if (!binding_array_of(data, "data", &bytes))
            return NULL;
        input.bytes = bytes.data;
        input.size = bytes.item;
        for (unsigned i = 0; i < bytes.dimensions; i++)
            input.size *= bytes.shape[i];
        if (!input.size)
            return binding_fail(DOPPEL_E_EMPTY, "has no bytes");
    }
    input.descriptor = input.path || input.bytes ? 0 : descriptor; /* those do not count then */
    options.fast = fast;
    options.no_audio = no_audio;
    pcm.format = (uint8_t)pcm_format;
    options.pcm = pcm;
    return read_binding_input(run, &input, &options);
}

/* ---- texts, in this process ---- */

static unsigned text_wants(enum doppel_scheme_id scheme)
{
    unsigned want = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SIMHASH;
    if (scheme == DOPPEL_SCHEME_WINNOW32)
        return want | DOPPEL_TEXT_PASSAGES;
    return want | DOPPEL_TEXT_SHINGLES |
           (scheme == DOPPEL_SCHEME_SIMHASH64 ? 0 : DOPPEL_TEXT_MINHASH);
}

static enum doppel_status attach_text(const struct doppel_text_result *result,
                                      struct doppel_record *record, struct doppel_error *error)
{
    size_t size = doppel_text_attachment_size(result);
    record->attachment = malloc(size);
    if (!record->attachment)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the shingles of a text");
    record->attachment_size = size;
    doppel_text_attachment_write(result, record->attachment);
    record->reading = (uint8_t)result->reading;
    return DOPPEL_OK;
}

/* A text to be read, and how. */
struct text_question {
    const struct doppel_scheme *scheme;
    struct doppel_text_options options;
    const char *bytes;
    size_t size;
};

static enum doppel_status sketch_question(const struct text_question *question,
                                          struct doppel_text *text, struct doppel_record *record,
                                          struct doppel_error *error)
{
    struct doppel_datasketch *sketch;
    uint64_t values[DOPPEL_DATASKETCH_VALUES];
    enum doppel_status status = doppel_datasketch_new(DOPPEL_DATASKETCH_VALUES, 1, &sketch, error);
    if (status)
        return status;
    status = doppel_datasketch_text(sketch, text, question->bytes, question->size, values, error);
    doppel_datasketch_free(sketch);
    return status ? status
                  : doppel_datasketch_fingerprint(&question->options, values, &record->fingerprint,
                                                  error);
}

static enum doppel_status read_asked_text(const struct text_question *question,
                                          struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_text *text = NULL;
    struct doppel_text_result result;
    bool sketched = question->scheme->id == DOPPEL_SCHEME_DATASKETCH;
    enum doppel_status status;
    TRY(doppel_text_new(&question->options, &text, error));
    if (sketched)
        TRY(sketch_question(question, text, record, error));
    TRY(doppel_text_read(text, question->bytes, question->size, text_wants(question->scheme->id),
                         &result, error));
    if (question->scheme->id == DOPPEL_SCHEME_WINNOW32 && !result.key_count)
        TRY(doppel_fail(error, DOPPEL_E_FLAT, "has too few words to share a passage"));
    if (!sketched)
        TRY(doppel_text_fingerprint(question->scheme->id, &question->options, &result,
                                    &record->fingerprint, error));
    TRY(attach_text(&result, record, error));
done:
    doppel_text_free(text);
    return status;
}

static bool parse_question(PyObject *args, PyObject *keywords, struct text_question *out)
{
    static char *names[] = {"text", "scheme", "format", "shingle", "characters", NULL};
    const char *name;
    Py_ssize_t size;
    int format, characters;
    *out = (struct text_question){.options = doppel_text_options_default()};
    if (!binding_parse_keywords(args, keywords, "y#siIp", names, &out->bytes, &size, &name, &format,
                                &out->options.shingle, &characters))
        return false;
    out->size = (size_t)size;
    out->scheme = binding_scheme_of(name);
    if (!out->scheme)
        return false;
    if (out->scheme->kind != DOPPEL_KIND_TEXT)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s is no scheme of texts", name);
    out->options.format = (enum doppel_text_format)format;
    if (characters)
        out->options.unit = DOPPEL_TEXT_CHARACTERS;
    if (out->scheme->id == DOPPEL_SCHEME_MINHASH256)
        out->options.lanes = 256;
    return true;
}

PyObject *binding_read_text(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    struct text_question question;
    struct doppel_error error;
    struct doppel_record record = {.kind = DOPPEL_KIND_TEXT};
    if (!parse_question(args, keywords, &question))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    record.digest = doppel_digest_bytes(question.bytes, question.size);
    enum doppel_status status = read_asked_text(&question, &record, &error);
    record.scheme = question.scheme->id;
    record.version = record.fingerprint.version;
    PyEval_RestoreThread(thread);
    if (!status)
        return binding_record_capsule(&record);
    doppel_record_free(&record);
    return binding_raise(&error, NULL);
}

/* ---- planes of images, in this process ---- */

/* The luma of a pixel as files' is computed: ITU-R BT.601 in 16 bits, rounded. */
static uint8_t luma_of_pixel(const uint8_t *pixel)
{
    return (uint8_t)((19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] + 32768) >> 16);
}

/* @param out given (free), unless the array is a plane itself */
static enum doppel_status plane_of_array(const struct binding_array *array,
                                         struct doppel_plane *out, uint8_t **out_luma,
                                         struct doppel_error *error)
{
    size_t height = array->shape[0], width = array->shape[1];
    size_t channels = array->dimensions == 3 ? array->shape[2] : 1;
    const uint8_t *pixels = array->data;
    *out_luma = NULL;
    if (channels > 1) {
        uint8_t *luma = malloc(width * height);
        if (!luma)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu pixels", width * height);
        for (size_t i = 0; i < width * height; i++)
            luma[i] = luma_of_pixel(pixels + i * channels);
        *out_luma = luma;
        pixels = luma;
    }
    *out = (struct doppel_plane){pixels, (uint32_t)width, (uint32_t)height, width};
    return DOPPEL_OK;
}

static enum doppel_status hash_views(const struct doppel_plane *plane,
                                     const struct doppel_scheme *scheme,
                                     struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_image_features features;
    enum doppel_status status = doppel_image_features(plane, &features, error);
    if (status)
        return status;
    record->fingerprint = features.fingerprint;
    record->fingerprint.scheme = scheme->id;
    record->fingerprint.version = scheme->version;
    record->quality = features.quality;
    record->attachment = malloc(DOPPEL_IMAGE_ATTACHMENT_MOST);
    if (!record->attachment)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    record->attachment_size = doppel_image_attachment_write(&features, record->attachment);
    return DOPPEL_OK;
}

static enum doppel_status hash_plane(const struct doppel_plane *plane,
                                     const struct doppel_scheme *scheme,
                                     struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_code code;
    enum doppel_status status = DOPPEL_OK;
    record->quality = doppel_image_quality(plane);
    switch (scheme->id) {
    case DOPPEL_SCHEME_PHASH64:
        return hash_views(plane, scheme, record, error);
    case DOPPEL_SCHEME_PHASH256:
        code = doppel_image_phash(plane);
        break;
    case DOPPEL_SCHEME_IMAGEHASH:
        status = doppel_image_imagehash(plane, &code, error);
        break;
    case DOPPEL_SCHEME_PDQ:
        status = doppel_image_pdq(plane, &code, &record->quality, error);
        break;
    default:
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s is no scheme of arrays of pixels",
                           scheme->name);
    }
    if (!status)
        status = doppel_fingerprint_make(scheme, scheme->code_bits, 1, &record->fingerprint, error);
    if (!status)
        record->fingerprint.codes[0] = code;
    return status;
}

static bool is_picture(const struct binding_array *array)
{
    bool shaped = array->dimensions == 2 ||
                  (array->dimensions == 3 &&
                   (array->shape[2] == 1 || array->shape[2] == 3 || array->shape[2] == 4));
    return shaped && array->kind == 'u' && array->item == 1 && array->shape[0] && array->shape[1] &&
           array->shape[0] <= INT32_MAX && array->shape[1] <= INT32_MAX;
}

/* Bytes have one dimension; where their number is another one, they are no picture. */
static void shape_pixels(struct binding_array *bytes, size_t height, size_t width, size_t channels)
{
    bool fits = bytes->dimensions == 1 && width && channels &&
                bytes->shape[0] / channels / width == height &&
                bytes->shape[0] == height * width * channels;
    if (fits)
        *bytes = (struct binding_array){bytes->data, 'u', 1, 3, {height, width, channels}};
}

PyObject *binding_read_plane(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object;
    const char *name;
    unsigned height = 0, width = 0, channels = 1;
    struct binding_array array;
    struct doppel_plane plane;
    uint8_t *luma;
    struct doppel_error error;
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE};
    if (!binding_parse(args, "Os|III", &object, &name, &height, &width, &channels) ||
        !binding_array_of(object, "pixels", &array))
        return NULL;
    if (height)
        shape_pixels(&array, height, width, channels);
    const struct doppel_scheme *scheme = binding_scheme_of(name);
    if (!scheme)
        return NULL;
    if (!is_picture(&array))
        return binding_fail(DOPPEL_E_ARGUMENT, "pixels: an array of uint8, height × width or "
                                               "height × width × 1, 3 or 4, is wanted");
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = plane_of_array(&array, &plane, &luma, &error);
    if (!status)
        status = hash_plane(&plane, scheme, &record, &error);
    free(luma);
    PyEval_RestoreThread(thread);
    record.scheme = scheme->id;
    record.version = scheme->version;
    record.width = (uint32_t)array.shape[1];
    record.height = (uint32_t)array.shape[0];
    if (!status)
        return binding_record_capsule(&record);
    doppel_record_free(&record);
    return binding_raise(&error, NULL);
}
