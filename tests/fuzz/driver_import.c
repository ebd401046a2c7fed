/* The fuzz target for imports without libFuzzer: changed lines, the same on every run. With a
 * number, so many. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 60000, MOST_BYTES = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const seeds[] = {
    "{\"item\":1,\"path\":\"/a\",\"path_base64\":\"L2E=\",\"size\":1,\"mtime_ns\":-1,\"digest\":"
    "\"00000000000000000000000000000001\",\"kind\":\"image\",\"scheme\":\"imagehash\",\"version\":"
    "1,"
    "\"quality\":9,\"bits\":64,\"sequence\":[[\"0123456789abcdef\",0],[\"0123456789abcdee\",3]],"
    "\"attachment\":\"AAAA\",\"labels\":[\"a\",\"b\"],\"meta\":{\"x\":[1]},\"leader\":2}",
    "{\"exact\":\"md5:d41d8cd98f00b204e9800998ecf8427e\",\"external_id\":\"x\"}",
    "{\"scheme\":\"pdq\",\"code\":"
    "\"f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22\",\"path\":\"b\"}",
    "{\"scheme\":\"peaks32\",\"code\":\"01234567\"}",
    "{\"text\":3,\"record_id\":\"r\",\"content\":\"00000000000000000000000000000001\",\"words\":2,"
    "\"shingle_total\":2,\"shingles\":[1,2],\"decision\":\"new\",\"leads\":true,\"lanes\":\"00\"}",
    "{\"mark\":\"same\",\"a\":\"00000000000000000000000000000001\",\"b\":"
    "\"00000000000000000000000000000002\",\"note\":\"n\"}",
    "{\"list\":\"l\",\"state\":\"benign\"}",
    "{\"source_pattern\":\"*.org\",\"authority\":5}",
    "{\"policy\":[\"date\",\"size\"]}",
    "{\"text_options\":{\"lanes\":128,\"shingle\":5,\"min_similarity\":0.7}}",
    "{\"doppel_export\":1}",
};
static const char alphabet[] = "{}[]:,\"\\\n 01-.eE9afz=/\xFF\xC3";

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

int main(int argument_count, char **arguments)
{
    unsigned long inputs = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : INPUTS;
    uint64_t state = 42;
    for (unsigned long i = 0; i < inputs; i++) {
        const char *seed = seeds[next(&state) % (sizeof seeds / sizeof *seeds)];
        size_t size = strlen(seed);
        uint8_t *data = malloc(MOST_BYTES); /* of its own, so that a reader beyond it is seen */
        if (!data)
            return 1;
        memcpy(data, seed, size);
        for (uint64_t changes = next(&state) % 4; changes; changes--)
            data[next(&state) % size] = (uint8_t)alphabet[next(&state) % (sizeof alphabet - 1)];
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
