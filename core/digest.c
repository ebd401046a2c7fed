/* XXH3-128 of files, XXH3-64 of memory, and hex. */
#include "core/digest.h"

#include <doppel/core.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As the kernels have it, which add to its states: those of another version may differ. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/checksum_kernels.h"
#include "core/cpu.h"

enum { READ_BYTES = 256 * 1024 };

static struct doppel_digest canonical(XXH128_hash_t hash)
{
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, hash);
    struct doppel_digest digest;
    memcpy(digest.bytes, bytes.digest, sizeof digest.bytes);
    return digest;
}

struct doppel_digest doppel_digest_bytes(const void *data, size_t size)
{
    return canonical(XXH3_128bits(data, size));
}

uint64_t checksum64_portable(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

/* XXH3 has no vectors for so few bytes. */
enum { SHORT_BYTES = 240 };

uint64_t checksum64(const void *data, size_t bytes)
{
#if defined(__x86_64__)
    if (bytes <= SHORT_BYTES)
        return checksum64_portable(data, bytes);
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return checksum64_avx512(data, bytes);
    if (cpu_flags() & CPU_AVX2)
        return checksum64_avx2(data, bytes);
#endif
    return checksum64_portable(data, bytes);
}

static void add_to_digest(XXH3_state_t *state, const void *data, size_t bytes)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT) {
        digest_add_avx512(state, data, bytes);
        return;
    }
    if (cpu_flags() & CPU_AVX2) {
        digest_add_avx2(state, data, bytes);
        return;
    }
#endif
    XXH3_128bits_update(state, data, bytes);
}

/* xxHash's own state, by another name. */
static XXH3_state_t *state_of_digest_stream(const struct digest_stream *stream)
{
    return (XXH3_state_t *)stream;
}

struct digest_stream *digest_stream_new(void)
{
    return (struct digest_stream *)XXH3_createState();
}

void digest_stream_free(struct digest_stream *stream)
{
    XXH3_freeState(state_of_digest_stream(stream));
}

void digest_stream_begin(struct digest_stream *stream)
{
    XXH3_128bits_reset(state_of_digest_stream(stream));
}

void digest_stream_add(struct digest_stream *stream, const void *data, size_t bytes)
{
    add_to_digest(state_of_digest_stream(stream), data, bytes);
}

struct doppel_digest digest_stream_get(const struct digest_stream *stream)
{
    return canonical(XXH3_128bits_digest(state_of_digest_stream(stream)));
}

enum doppel_status digest_fd_with(int fd, digest_taker *taker, void *context,
                                  struct doppel_digest *out, uint64_t *out_size,
                                  struct doppel_error *error)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a digest");
    XXH3_128bits_reset(state);
    uint8_t buffer[READ_BYTES];
    uint64_t size = 0;
    ssize_t got;
    while ((got = pread(fd, buffer, sizeof buffer, (off_t)size)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        add_to_digest(state, buffer, (size_t)got);
        if (taker)
            taker(context, buffer, (size_t)got);
        size += (uint64_t)got;
    }
    struct doppel_digest digest = canonical(XXH3_128bits_digest(state));
    XXH3_freeState(state);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
    *out = digest;
    if (out_size)
        *out_size = size;
    return DOPPEL_OK;
}

enum doppel_status doppel_digest_fd(int fd, struct doppel_digest *out_digest, uint64_t *out_size,
                                    struct doppel_error *error)
{
    return digest_fd_with(fd, NULL, NULL, out_digest, out_size, error);
}

void doppel_hex_encode(const void *data, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static int hex_digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

enum doppel_status doppel_hex_decode(const char *text, void *out, size_t size)
{
    if (strlen(text) != 2 * size)
        return DOPPEL_E_ARGUMENT;
    for (size_t i = 0; i < 2 * size; i++)
        if (hex_digit_value(text[i]) < 0)
            return DOPPEL_E_ARGUMENT;
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(16 * hex_digit_value(text[2 * i]) + hex_digit_value(text[2 * i + 1]));
    return DOPPEL_OK;
}

void doppel_code_to_hex(const struct doppel_code *code, uint32_t bits, char *out)
{
    if (bits == 32)
        snprintf(out, 9, "%08lx", (unsigned long)(code->word[0] & UINT32_MAX));
    for (uint32_t word = 0; word < bits / 64; word++, out += 16)
        snprintf(out, 17, "%016llx", (unsigned long long)code->word[word]);
}

enum doppel_status doppel_code_from_hex(const char *text, uint32_t bits, struct doppel_code *out)
{
    uint8_t bytes[32] = {0};
    if (!bits || (bits != 32 && bits % 64) || bits > 256 ||
        doppel_hex_decode(text, bytes, bits / 8))
        return DOPPEL_E_ARGUMENT;
    struct doppel_code code = {{0}};
    for (uint32_t i = 0; i < bits / 8; i++)
        code.word[i / 8] = code.word[i / 8] << 8 | bytes[i];
    *out = code;
    return DOPPEL_OK;
}
