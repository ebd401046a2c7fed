/* The fuzz target for corpora without libFuzzer: changed lines and packed files, the same on every
 * run. With a number, so many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

enum { INPUTS = 3000, MOST_BYTES = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char seed_lines[] =
    "{\"id\":\"a\",\"text\":\"one\\n\\ntwo \\u00e4\\uD83D\\uDE00\",\"x\":{\"y\":[1,2,{}]}}\n"
    "\n{\"id\": 12.5e3, \"text\" : \"\" , \"path\":\"p\"}\r\n"
    "{\"i\\u0064\":\"b\",\"source\":\"s\",\"date\":2024,\"text\":\"\\u0000 \xC3\xA4 "
    "\xE4\xB8\xAD\"}\n"
    "{\"text\":\"last\"}";
static const char alphabet[] = "{}[]:,\"\\\\u\n\r \t01-.eE\xFF\xC3\xEF\xBB\xBF\xFE\x00";

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static size_t pack(uint64_t how, const uint8_t *data, size_t size, uint8_t *out)
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

static size_t change(uint64_t *state, uint8_t *data, size_t size, const char *bytes, size_t count)
{
    for (uint64_t changes = next(state) % 5; changes && size; changes--)
        data[next(state) % size] = (uint8_t)bytes[next(state) % count];
    return size && next(state) % 3 == 0 ? next(state) % size : size;
}

int main(int argument_count, char **arguments)
{
    unsigned long inputs = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : INPUTS;
    uint64_t state = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 42;
    for (unsigned long i = 0; i < inputs; i++) {
        static uint8_t plain[MOST_BYTES], packed[2 * MOST_BYTES];
        size_t size = sizeof seed_lines - 1;
        memcpy(plain, seed_lines, size);
        size = change(&state, plain, size, alphabet, sizeof alphabet);
        uint64_t how = next(&state);
        size = pack(how, plain, size, packed);
        if (how % 4 < 2 && how / 4 % 2)
            size = change(&state, packed, size, alphabet, sizeof alphabet);
        LLVMFuzzerTestOneInput(packed, size);
    }
    printf("%lu inputs\n", inputs);
    return 0;
}
