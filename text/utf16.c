/* UTF-16 to UTF-8: what some systems still save text as. */
#include "text/text_internal.h"

#include <stdlib.h>
#include <utf8proc.h>

bool is_utf16(const void *bytes, size_t size)
{
    const uint8_t *mark = bytes;
    return size >= 2 &&
           ((mark[0] == 0xff && mark[1] == 0xfe) || (mark[0] == 0xfe && mark[1] == 0xff));
}

static size_t write_point(uint32_t point, char *out)
{
    return (size_t)utf8proc_encode_char((int32_t)point, (utf8proc_uint8_t *)out);
}

enum doppel_status utf16_to_text(const void *bytes, size_t size, struct plain_text *out,
                                 struct doppel_error *error)
{
    const uint8_t *from = bytes;
    size_t low = from[0] == 0xff ? 0 : 1; /* where the low byte of a unit stands */
    size_t room = out->size + size / 2 * 3 + 1;
    char *grown = room > out->capacity ? realloc(out->bytes, room) : out->bytes;
    if (!grown)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu bytes of UTF-16", size);
    out->bytes = grown;
    out->capacity = room > out->capacity ? room : out->capacity;
    for (size_t i = 2; i + 1 < size; i += 2) {
        uint32_t unit = (uint32_t)(from[i + low] | from[i + 1 - low] << 8);
        uint32_t next = i + 3 < size ? (uint32_t)(from[i + 2 + low] | from[i + 3 - low] << 8) : 0;
        if ((unit & 0xf800) != 0xd800) {
            out->size += write_point(unit, out->bytes + out->size);
        } else if (unit < 0xdc00 && (next & 0xfc00) == 0xdc00) {
            uint32_t point = 0x10000 + ((unit & 0x3ff) << 10 | (next & 0x3ff));
            out->size += write_point(point, out->bytes + out->size);
            i += 2;
        } else {
            out->bytes[out->size++] = '\xff';
        }
    }
    if (size % 2)
        out->bytes[out->size++] = '\xff';
    return DOPPEL_OK;
}
