/* JSON strings to the bytes they stand for. */
#ifndef DOPPEL_CORPUS_READ_UNESCAPE_H
#define DOPPEL_CORPUS_READ_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Decode what stands between the quotes. Half a surrogate pair becomes U+FFFD.
 * @param out room for `size`. @return false for an escape that JSON does not know */
bool json_unescape(const char *in, size_t size, char *out, size_t *out_size);

/* Whether there is half a surrogate pair in a token. */
bool json_has_half_surrogate(const char *token, size_t size);

/* With AVX-512: decode up to the end, or to an escape that is none of one letter.
 * @param letters what each of these stands for; 0: no such escape */
void unescape_simple_avx512(const char letters[128], const char **in, const char *end, char **out);

/* With AVX2: decode while there are 64 bytes, or up to such an escape. */
void unescape_simple_avx2(const char **in, const char *end, char **out);

#endif
