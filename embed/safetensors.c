/* Files of tensors: a header in JSON, whose every number is checked, and bytes. */
#include "embed/safetensors.h"

#include <jansson.h>
#include <string.h>

#include "core/bytes.h"

enum { MAX_HEADER = 100 << 20 };

static const struct {
    const char *name;
    enum tensor_type type;
    size_t bytes;
} types[] = {
    {"I8", TENSOR_I8, 1},   {"F16", TENSOR_F16, 2}, {"BF16", TENSOR_BF16, 2},
    {"F32", TENSOR_F32, 4}, {"F64", TENSOR_F64, 8}, {"I32", TENSOR_I32, 4},
    {"I64", TENSOR_I64, 8},
};

static bool take_type(const char *name, struct tensor *out, size_t *out_bytes)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            out->type = types[i].type;
            *out_bytes = types[i].bytes;
            return true;
        }
    return false;
}

/* A number of bytes or elements; false: it is none. */
static bool take_size(const json_t *json, size_t *out)
{
    if (!json_is_integer(json) || json_integer_value(json) < 0)
        return false;
    *out = (size_t)json_integer_value(json);
    return true;
}

static bool take_shape(const json_t *shape, struct tensor *out)
{
    size_t dimensions = json_array_size(shape);
    out->shape[1] = 1;
    out->dimensions = (unsigned)dimensions;
    if (dimensions < 1 || dimensions > 2)
        return false;
    for (size_t i = 0; i < dimensions; i++)
        if (!take_size(json_array_get(shape, i), &out->shape[i]))
            return false;
    return size_multiply(out->shape[0], out->shape[1], &out->count);
}

/* @param data what follows the header */
static enum doppel_status take_tensor(const json_t *entry, const uint8_t *data, size_t size,
                                      const char *path, const char *name, struct tensor *out,
                                      struct doppel_error *error)
{
    size_t begin, end, width, wanted;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    if (!take_type(type, out, &width))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s: '%s' has numbers of type %.20s", path,
                           name, type ? type : "unknown");
    if (!take_shape(json_object_get(entry, "shape"), out))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "%s: '%s' has a shape of other than one or two numbers", path, name);
    if (json_array_size(offsets) != 2 || !take_size(json_array_get(offsets, 0), &begin) ||
        !take_size(json_array_get(offsets, 1), &end) || begin > end || end > size)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: '%s' lies outside of the file", path,
                           name);
    if (!size_multiply(out->count, width, &wanted) || wanted != end - begin)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: '%s' has %zu bytes, which is not what its shape wants", path, name,
                           end - begin);
    out->bytes = data + begin;
    return DOPPEL_OK;
}

/* The name of the only tensor of rows and columns. @param out_other of one more; else NULL */
static const char *name_of_matrix(json_t *json, const char **out_other)
{
    const char *key, *found = NULL;
    json_t *entry;
    *out_other = NULL;
    json_object_foreach(json, key, entry)
    {
        if (json_array_size(json_object_get(entry, "shape")) != 2)
            continue;
        *out_other = found ? key : NULL;
        if (found)
            break;
        found = key;
    }
    return found;
}

enum doppel_status tensor_find(const uint8_t *file, size_t size, const char *path,
                               const char *tensor_name, struct tensor *out,
                               struct doppel_error *error)
{
    uint64_t header = size >= 8 ? get_u64(file) : 0;
    if (size < 8 || header > MAX_HEADER || header > size - 8)
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: no file of safetensors, or cut short",
                           path);
    json_error_t problem;
    struct tensor found = {0};
    enum doppel_status status;
    json_t *json =
        json_loadb((const char *)file + 8, (size_t)header, JSON_REJECT_DUPLICATES, &problem);
    const char *other = NULL;
    tensor_name = tensor_name ? tensor_name : name_of_matrix(json, &other);
    const json_t *entry = tensor_name ? json_object_get(json, tensor_name) : NULL;
    if (!json_is_object(json))
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: its header is damaged (%.160s)", path,
                             json ? "no object" : problem.text);
    else if (other)
        status = doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "%s: has several tensors of rows and columns, '%.60s' and '%.60s' "
                             "among them: say which",
                             path, tensor_name, other);
    else if (!tensor_name)
        status =
            doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: has no tensor of rows and columns", path);
    else if (!entry)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: has no '%s'", path, tensor_name);
    else
        status = take_tensor(entry, file + 8 + header, size - 8 - (size_t)header, path, tensor_name,
                             &found, error);
    json_decref(json);
    if (!status)
        *out = found;
    return status;
}

/* ---- numbers ---- */

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of IEEE 754's half precision. */
static float float_of_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f;
    uint32_t fraction = half & 0x3ff;
    if (exponent == 0) { /* fraction × 2^-24 */
        float small = (float)fraction * 5.9604644775390625e-8f;
        return sign ? -small : small;
    }
    if (exponent == 0x1f)
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

bool tensor_is_float(const struct tensor *tensor)
{
    return tensor->type == TENSOR_F16 || tensor->type == TENSOR_BF16 ||
           tensor->type == TENSOR_F32 || tensor->type == TENSOR_F64;
}

double tensor_double(const struct tensor *tensor, size_t i)
{
    const uint64_t bits = get_u64(tensor->bytes + 8 * i);
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

float tensor_float(const struct tensor *tensor, size_t i)
{
    const uint8_t *bytes = tensor->bytes;
    switch (tensor->type) {
    case TENSOR_I8:
        return (float)(int8_t)bytes[i];
    case TENSOR_F16:
        return float_of_half(get_u16(bytes + 2 * i));
    case TENSOR_BF16:
        return float_of_bits((uint32_t)get_u16(bytes + 2 * i) << 16);
    case TENSOR_F64:
        return (float)tensor_double(tensor, i);
    default:
        return get_f32(bytes + 4 * i);
    }
}

int64_t tensor_integer(const struct tensor *tensor, size_t i)
{
    if (tensor->type == TENSOR_I64)
        return (int64_t)get_u64(tensor->bytes + 8 * i);
    return (int32_t)get_u32(tensor->bytes + 4 * i);
}
