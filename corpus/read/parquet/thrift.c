/* Thrift's compact protocol, read within bounds. */
#include "corpus/read/parquet/thrift.h"

enum { DEEPEST = 32 };

static uint8_t thrift_byte(struct thrift *thrift)
{
    if (thrift->broken || thrift->at == thrift->end) {
        thrift->broken = true;
        return 0;
    }
    return *thrift->at++;
}

uint64_t thrift_varint(struct thrift *thrift)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = thrift_byte(thrift);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    thrift->broken = true;
    return 0;
}

static int64_t thrift_signed(struct thrift *thrift)
{
    uint64_t value = thrift_varint(thrift);
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

static size_t thrift_left(const struct thrift *thrift)
{
    return (size_t)(thrift->end - thrift->at);
}

static void pass_thrift_bytes(struct thrift *thrift, uint64_t size)
{
    if (size > thrift_left(thrift))
        thrift->broken = true;
    else
        thrift->at += size;
}

bool thrift_next(struct thrift *thrift, struct thrift_field *field)
{
    uint8_t byte = thrift_byte(thrift);
    field->type = byte & 15;
    if (thrift->broken || field->type == THRIFT_STOP)
        return false;
    int64_t id = byte >> 4 ? field->id + (byte >> 4) : thrift_signed(thrift);
    thrift->broken |= id < 0 || id > INT16_MAX;
    field->id = (int)id;
    return !thrift->broken;
}

int64_t thrift_number(struct thrift *thrift, const struct thrift_field *field)
{
    if (field->type == THRIFT_TRUE || field->type == THRIFT_FALSE)
        return field->type == THRIFT_TRUE;
    thrift->broken |= field->type < THRIFT_I16 || field->type > THRIFT_I64;
    return thrift->broken ? 0 : thrift_signed(thrift);
}

const char *thrift_bytes(struct thrift *thrift, const struct thrift_field *field, size_t *out_size)
{
    thrift->broken |= field->type != THRIFT_BINARY;
    uint64_t size = thrift_varint(thrift);
    const char *bytes = (const char *)thrift->at;
    pass_thrift_bytes(thrift, size);
    *out_size = thrift->broken ? 0 : (size_t)size;
    return thrift->broken ? "" : bytes;
}

/* The header of a list. */
static uint64_t begin_thrift_list(struct thrift *thrift, int *out_type)
{
    uint8_t byte = thrift_byte(thrift);
    *out_type = byte & 15;
    uint64_t count = byte >> 4 == 15 ? thrift_varint(thrift) : byte >> 4;
    thrift->broken |= count > thrift_left(thrift);
    return thrift->broken ? 0 : count;
}

size_t thrift_list(struct thrift *thrift, const struct thrift_field *field, int type)
{
    int found;
    thrift->broken |= field->type != THRIFT_LIST;
    uint64_t count = begin_thrift_list(thrift, &found);
    thrift->broken |= count && found != type;
    return thrift->broken ? 0 : (size_t)count;
}

bool thrift_struct(struct thrift *thrift, const struct thrift_field *field)
{
    thrift->broken |= field->type != THRIFT_STRUCT;
    return !thrift->broken;
}

static void skip_thrift_value(struct thrift *thrift, int type, int depth);

static void skip_thrift_elements(struct thrift *thrift, int depth)
{
    int type;
    uint64_t count = begin_thrift_list(thrift, &type);
    for (uint64_t i = 0; i < count && !thrift->broken; i++)
        /* A truth takes a byte in a list, none in a struct. */
        skip_thrift_value(thrift, type <= THRIFT_FALSE ? THRIFT_BYTE : type, depth);
}

/* No deeper than DEEPEST, and no element without a byte: it ends soon. */
static void skip_thrift_value(struct thrift *thrift, int type, int depth)
{
    struct thrift_field field = {0};
    if (depth == DEEPEST)
        thrift->broken = true;
    if (thrift->broken)
        return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        return;
    case THRIFT_BYTE:
        thrift_byte(thrift);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        thrift_varint(thrift);
        return;
    case THRIFT_DOUBLE:
        pass_thrift_bytes(thrift, 8);
        return;
    case THRIFT_BINARY:
        pass_thrift_bytes(thrift, thrift_varint(thrift));
        return;
    case THRIFT_LIST:
        skip_thrift_elements(thrift, depth + 1);
        return;
    case THRIFT_STRUCT:
        while (thrift_next(thrift, &field))
            skip_thrift_value(thrift, field.type, depth + 1);
        return;
    default:
        thrift->broken = true;
    }
}

void thrift_skip(struct thrift *thrift, const struct thrift_field *field)
{
    skip_thrift_value(thrift, field->type, 0);
}
