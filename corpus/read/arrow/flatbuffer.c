/* FlatBuffers, read within bounds. */
#include "corpus/read/arrow/flatbuffer.h"

/* Whether so many bytes stand there. */
static bool flat_has(struct flatbuffer *flat, flat_place at, size_t size)
{
    flat->broken |= at > flat->size || size > flat->size - at;
    return !flat->broken;
}

int64_t flat_number(struct flatbuffer *flat, flat_place at, unsigned width)
{
    uint64_t number = 0;
    if (!flat_has(flat, at, width))
        return 0;
    for (unsigned i = 0; i < width; i++)
        number |= (uint64_t)flat->bytes[at + i] << 8 * i;
    if (width < 8 && number >> (8 * width - 1) & 1)
        number |= UINT64_MAX << 8 * width;
    return (int64_t)number;
}

/* What the offset that stands there leads to. */
static flat_place follow_flat_offset(struct flatbuffer *flat, flat_place at)
{
    uint32_t offset = (uint32_t)flat_number(flat, at, 4);
    flat->broken |= !offset;
    return flat_has(flat, at, offset) ? at + offset : 0;
}

flat_place flat_root(struct flatbuffer *flat)
{
    return follow_flat_offset(flat, 0);
}

/* Where a field of a table stands; 0: it is not there. */
static flat_place find_flat_field(struct flatbuffer *flat, flat_place table, unsigned field)
{
    if (!table)
        return 0;
    int64_t back = flat_number(flat, table, 4);
    int64_t names = (int64_t)table - back;
    flat->broken |= names < 0 || (uint64_t)names > flat->size;
    if (flat->broken)
        return 0;
    size_t size = (uint16_t)flat_number(flat, (flat_place)names, 2), entry = 4 + 2 * (size_t)field;
    if (size < entry + 2)
        return 0;
    size_t offset = (uint16_t)flat_number(flat, (flat_place)names + entry, 2);
    return offset && flat_has(flat, table, offset) ? table + offset : 0;
}

int64_t flat_field(struct flatbuffer *flat, flat_place table, unsigned field, unsigned width,
                   int64_t otherwise)
{
    flat_place at = find_flat_field(flat, table, field);
    return at ? flat_number(flat, at, width) : otherwise;
}

flat_place flat_table(struct flatbuffer *flat, flat_place table, unsigned field)
{
    flat_place at = find_flat_field(flat, table, field);
    return at ? follow_flat_offset(flat, at) : 0;
}

struct flat_vector flat_vector_of(struct flatbuffer *flat, flat_place table, unsigned field,
                                  size_t width)
{
    flat_place at = flat_table(flat, table, field);
    if (!at)
        return (struct flat_vector){0};
    size_t count = (uint32_t)flat_number(flat, at, 4);
    return flat_has(flat, at + 4, count * width) ? (struct flat_vector){at + 4, count}
                                                 : (struct flat_vector){0};
}

flat_place flat_table_at(struct flatbuffer *flat, const struct flat_vector *vector, size_t i)
{
    return follow_flat_offset(flat, vector->at + 4 * i);
}
