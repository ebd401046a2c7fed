/* Vectors of short texts of Debian's documentation. */
#ifndef TESTS_BENCH_MEANING_MADE_VECTORS_H
#define TESTS_BENCH_MEANING_MADE_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records of 156 bytes, to the end of a word, of the English prose of /usr/share/doc and man,
 * each text once, by a model of a folder; less the mean of all, of length 1.
 * @param count most that are wanted; how many there are
 * @return given (free) */
float *made_vectors(const char *models, const char *model, size_t *count, uint32_t *dimension);

#ifdef __cplusplus
}
#endif

#endif
