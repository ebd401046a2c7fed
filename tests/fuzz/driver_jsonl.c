/* The fuzz target for corpora without libFuzzer: changed lines and packed files. */
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "inputs.h"

enum { INPUTS = 3000, MOST_BYTES = 1 << 12 };

static const char seed_lines[] =
    "{\"id\":\"a\",\"text\":\"one\\n\\ntwo \\u00e4\\uD83D\\uDE00\",\"x\":{\"y\":[1,2,{}]}}\n"
    "\n{\"id\": 12.5e3, \"text\" : \"\" , \"path\":\"p\"}\r\n"
    "{\"i\\u0064\":\"b\",\"source\":\"s\",\"date\":2024,\"text\":\"\\u0000 \xC3\xA4 "
    "\xE4\xB8\xAD\"}\n"
    "{\"text\":\"last\"}";
static const char alphabet[] = "{}[]:,\"\\\\u\n\r \t01-.eE\xFF\xC3\xEF\xBB\xBF\xFE\x00";

static size_t pack(uint32_t how, const uint8_t *data, size_t size, uint8_t *out)
{
    if (how % 4 == 0)
        return ZSTD_compress(out, 2 * MOST_BYTES, data, size, 1);
    if (how % 4 == 1) {
        z_stream stream = {.next_in = (Bytef *)(uintptr_t)data,
                           .avail_in = (uInt)size,
                           .next_out = out,
                           .avail_out = 2 * MOST_BYTES};
        deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        deflate(&stream, Z_FINISH);
        deflateEnd(&stream);
        return stream.total_out;
    }
    memcpy(out, data, size);
    return size;
}

static size_t change(struct inputs *inputs, uint8_t *data, size_t size)
{
    for (uint32_t changes = inputs_random(inputs) % 5; changes && size; changes--) {
        size_t at = inputs_random(inputs) % size;
        data[at] = (uint8_t)alphabet[inputs_random(inputs) % sizeof alphabet];
    }
    return size && inputs_random(inputs) % 3 == 0 ? inputs_random(inputs) % size : size;
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        static uint8_t plain[MOST_BYTES], packed[2 * MOST_BYTES];
        size_t size = sizeof seed_lines - 1;
        memcpy(plain, seed_lines, size);
        size = change(&inputs, plain, size);
        uint32_t how = inputs_random(&inputs);
        size = pack(how, plain, size, packed);
        if (how % 4 < 2 && how / 4 % 2)
            size = change(&inputs, packed, size);
        inputs_use(&inputs, packed, size);
    }
    return 0;
}
