/* The fuzz target for files of vectors without libFuzzer: good ones, and changes of them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/bytes.h"
#include "inputs.h"

enum { INPUTS = 20000, SEEDS = 9, MOST_BYTES = 512 };

static const char tensors[] =
    "{\"__metadata__\":{\"a\":\"b\"},\"bias\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":"
    "[0,4]},\"x\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[4,28]}}";
static const char lines[] =
    "{\"id\":\"a\",\"vector\":[0.5,-1e-2,3]}\n\n{\"vector\":[1,2,3],\"id\":12,\"x\":[{}]}\r\n";
static const char bare_lines[] = "{\"vector\":[0.5,-1,3]}\n{\"vector\":[0,0,0]}\n\x1e"
                                 "a b\nc\r\n";

static size_t make_array(const char *type, unsigned version, size_t bytes, uint8_t *out)
{
    char head[96];
    const size_t length = (size_t)snprintf(
        head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (4, 3), }  \n", type);
    const size_t width = version == 1 ? 2 : 4;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    out[7] = 0;
    put_u32(out + 8, (uint32_t)length);
    memcpy(out + 8 + width, head, length);
    memset(out + 8 + width + length, 0x31, bytes);
    return 8 + width + length + bytes;
}

/* A .npz with one array, stored, or as a block of deflate that is not packed. */
static size_t make_archive(bool packed, uint8_t *out)
{
    uint8_t array[MOST_BYTES];
    const size_t size = make_array("<f4", 1, 48, array), stored = size + (packed ? 5 : 0);
    memset(out, 0, 35);
    put_u32(out, 0x04034b50);
    put_u16(out + 26, 5);
    memcpy(out + 30, "x.npy", 5);
    uint8_t *at = out + 35;
    if (packed) {
        *at++ = 1;
        put_u32(at, (uint32_t)size | ~(uint32_t)size << 16);
        at += 4;
    }
    memcpy(at, array, size);
    at += size;
    memset(at, 0, 51 + 22);
    put_u32(at, 0x02014b50);
    put_u16(at + 10, packed ? 8 : 0);
    put_u32(at + 16, (uint32_t)crc32(0, array, (uInt)size));
    put_u32(at + 20, (uint32_t)stored);
    put_u32(at + 24, (uint32_t)size);
    put_u16(at + 28, 5);
    memcpy(at + 46, "x.npy", 5);
    put_u32(at + 51, 0x06054b50);
    put_u32(at + 51 + 12, 51);
    put_u32(at + 51 + 16, (uint32_t)(at - out));
    return (size_t)(at - out) + 51 + 22;
}

static size_t make_vectors(uint8_t *out)
{
    for (size_t i = 0; i < 3; i++) {
        put_u32(out + 12 * i, 2);
        put_f32(out + 12 * i + 4, (float)i);
        put_f32(out + 12 * i + 8, 1);
    }
    return 36;
}

/* Seed number `which`, behind its first byte. @return its size */
static size_t make_vector_seed(unsigned which, uint8_t *out)
{
    const char *text = which == 5 ? lines : bare_lines;
    out[0] = 0;
    switch (which) {
    case 0:
        return 1 + make_array("<f4", 1, 48, out + 1);
    case 1:
        return 1 + make_array("<f2", 2, 24, out + 1);
    case 2:
        return 1 + make_array("<f8", 3, 96, out + 1);
    case 3:
        out[0] = 1;
        return 1 + make_vectors(out + 1);
    case 4:
        put_u64(out + 1, sizeof tensors - 1);
        memcpy(out + 9, tensors, sizeof tensors - 1);
        memset(out + 8 + sizeof tensors, 0x31, 28);
        return 8 + sizeof tensors + 28;
    case 7:
    case 8:
        return 1 + make_archive(which == 8, out + 1);
    default:
        out[0] = which == 5 ? 0 : 2;
        memcpy(out + 1, text, strlen(text));
        return 1 + strlen(text);
    }
}

static void use_changed(struct inputs *inputs, const uint8_t *seed, size_t size)
{
    static const char alphabet[] = "{}[]():,'\"\\\n 01-.eE9LTf<>\xFF\xC3\x00\x01\x80\x1e";
    uint8_t *data = malloc(size); /* of its own, so that a reader beyond it is seen */
    memcpy(data, seed, size);
    for (uint32_t changes = 1 + inputs_random(inputs) % 4; changes; changes--)
        data[1 + inputs_random(inputs) % (size - 1)] =
            (uint8_t)alphabet[inputs_random(inputs) % (sizeof alphabet - 1)];
    bool cut = inputs_random(inputs) % 8 == 0;
    inputs_use(inputs, data, cut ? 1 + inputs_random(inputs) % size : size);
    free(data);
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    static uint8_t seeds[SEEDS][MOST_BYTES];
    size_t sizes[SEEDS];
    for (unsigned i = 0; i < SEEDS; i++) {
        sizes[i] = make_vector_seed(i, seeds[i]);
        inputs_use(&inputs, seeds[i], sizes[i]);
    }
    while (inputs.used < inputs.count) {
        uint32_t which = inputs_random(&inputs) % SEEDS;
        use_changed(&inputs, seeds[which], sizes[which]);
    }
    return 0;
}
