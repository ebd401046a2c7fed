/* Arrays of NumPy: a header that is a dictionary of Python, and numbers. Source: NEP 1, "A simple
 * file format for NumPy arrays", and numpy.lib.format for versions 2 and 3. */
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/brought/brought.h"

enum { MAGIC_BYTES = 8, MOST_HEADER = 1 << 16, LONGEST_TYPE = 32, SHAPE_MOST = 32 };

/* What is left of a header. */
struct npy_text {
    const char *at, *end;
};

struct npy_head {
    char type[LONGEST_TYPE];
    bool has_type, fields; /* of several numbers each */
    bool has_order, fortran;
    bool has_shape;
    unsigned dimensions;
    size_t shape[SHAPE_MOST];
};

static bool skip_blanks(struct npy_text *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at)
        text->at++;
    return text->at < text->end;
}

static bool take_char(struct npy_text *text, char wanted)
{
    if (!skip_blanks(text) || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static bool take_npy_word(struct npy_text *text, const char *word)
{
    size_t size = strlen(word);
    if (!skip_blanks(text) || (size_t)(text->end - text->at) < size ||
        memcmp(text->at, word, size) != 0)
        return false;
    text->at += size;
    return true;
}

/* Without escapes, which none of these has. */
static bool take_quoted(struct npy_text *text, char *out, size_t room)
{
    if (!skip_blanks(text) || (*text->at != '\'' && *text->at != '"'))
        return false;
    const char *begin = text->at + 1;
    const char *end = memchr(begin, *text->at, (size_t)(text->end - begin));
    if (!end || (size_t)(end - begin) >= room)
        return false;
    memcpy(out, begin, (size_t)(end - begin));
    out[end - begin] = '\0';
    text->at = end + 1;
    return true;
}

static bool take_length(struct npy_text *text, size_t *out)
{
    size_t value = 0;
    if (!skip_blanks(text) || *text->at < '0' || *text->at > '9')
        return false;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (!size_multiply(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(*text->at - '0'), &value))
            return false;
    (void)take_char(text, 'L'); /* of Python 2 */
    *out = value;
    return true;
}

/* "(3, 4)", "(3,)", "()" */
static bool take_npy_shape(struct npy_text *text, struct npy_head *head)
{
    if (!take_char(text, '('))
        return false;
    while (!take_char(text, ')')) {
        if (head->dimensions == SHAPE_MOST || !take_length(text, &head->shape[head->dimensions++]))
            return false;
        if (!take_char(text, ',') && (!skip_blanks(text) || *text->at != ')'))
            return false;
    }
    return true;
}

static bool take_npy_entry(struct npy_text *text, struct npy_head *head)
{
    char key[LONGEST_TYPE];
    if (!take_quoted(text, key, sizeof key) || !take_char(text, ':'))
        return false;
    if (strcmp(key, "descr") == 0 && !head->has_type) {
        head->has_type = true;
        head->fields = skip_blanks(text) && *text->at == '[';
        return head->fields || take_quoted(text, head->type, sizeof head->type);
    }
    if (strcmp(key, "fortran_order") == 0 && !head->has_order) {
        head->has_order = true;
        head->fortran = take_npy_word(text, "True");
        return head->fortran || take_npy_word(text, "False");
    }
    if (strcmp(key, "shape") == 0 && !head->has_shape) {
        head->has_shape = true;
        return take_npy_shape(text, head);
    }
    return false;
}

/* @return false: it is none; with `fields` the rest was not looked at */
static bool parse_head(struct npy_text text, struct npy_head *out)
{
    if (!take_char(&text, '{'))
        return false;
    while (!take_char(&text, '}')) {
        if (!take_npy_entry(&text, out))
            return false;
        if (out->fields)
            return true;
        if (!take_char(&text, ',') && (!skip_blanks(&text) || *text.at != '}'))
            return false;
    }
    return !skip_blanks(&text) && out->has_type && out->has_order && out->has_shape;
}

/* Where the header lies. */
static enum doppel_status find_head(const uint8_t *bytes, size_t file_size, const char *path,
                                    struct npy_text *out, struct doppel_error *error)
{
    const unsigned version = file_size > 6 ? bytes[6] : 0;
    const size_t width = version == 1 ? 2 : 4;
    if (file_size < MAGIC_BYTES + width || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: is cut short within its header", path);
    if (version < 1 || version > 3 || bytes[7] != 0)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "%s: is a .npy of version %u.%u; versions 1.0 to 3.0 are read", path,
                           version, bytes[7]);
    const size_t size = version == 1 ? get_u16(bytes + MAGIC_BYTES) : get_u32(bytes + MAGIC_BYTES);
    if (size > MOST_HEADER)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s: its header is of %zu bytes", path,
                           size);
    if (size > file_size - MAGIC_BYTES - width)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: is cut short within its header", path);
    out->at = (const char *)bytes + MAGIC_BYTES + width;
    out->end = out->at + size;
    return DOPPEL_OK;
}

static enum doppel_status take_npy_type(const struct npy_head *head, const char *path,
                                        struct tensor *out, size_t *out_width,
                                        struct doppel_error *error)
{
    static const struct {
        const char *name;
        enum tensor_type type;
        size_t width;
    } types[] = {{"<f2", TENSOR_F16, 2}, {"<f4", TENSOR_F32, 4}, {"<f8", TENSOR_F64, 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types && !head->fields; i++)
        if (strcmp(types[i].name, head->type) == 0) {
            out->type = types[i].type;
            *out_width = types[i].width;
            return DOPPEL_OK;
        }
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "%s: holds numbers of type '%s'; read are float16, float32 and float64, "
                       "little-endian ('<f2', '<f4', '<f8')",
                       path, head->fields ? "several fields" : head->type);
}

/* @param size of what follows the header */
static enum doppel_status take_array(const struct npy_head *head, size_t size, const char *path,
                                     struct tensor *out, struct doppel_error *error)
{
    size_t width = 0, wanted = 0;
    enum doppel_status status;
    TRY(take_npy_type(head, path, out, &width, error));
    if (head->dimensions != 2)
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "%s: its array has %u as its number of dimensions; 2 are wanted", path,
                        head->dimensions));
    if (head->fortran)
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "%s: is in Fortran order; save numpy.ascontiguousarray of it", path));
    out->dimensions = 2;
    out->shape[0] = head->shape[0];
    out->shape[1] = head->shape[1];
    if (!size_multiply(out->shape[0], out->shape[1], &out->count) ||
        !size_multiply(out->count, width, &wanted) || wanted != size)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                        "%s: has %zu bytes of numbers, which is not what its shape wants", path,
                        size));
done:
    return status;
}

enum doppel_status read_npy(const struct vector_input *input, const uint8_t *bytes, size_t size,
                            struct doppel_vector_file *file, struct doppel_error *error)
{
    struct npy_text text;
    struct npy_head head = {0};
    struct tensor matrix = {0};
    enum doppel_status status;
    TRY(find_head(bytes, size, input->path, &text, error));
    if (!parse_head(text, &head))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: its header is damaged", input->path));
    matrix.bytes = (const uint8_t *)text.end;
    TRY(take_array(&head, (size_t)(bytes + size - matrix.bytes), input->path, &matrix, error));
    TRY(take_vector_matrix(input, &matrix, file, error));
done:
    return status;
}
