/* What every fuzz target is made of: formats to seed from, and one call. */
#ifndef DOPPEL_TESTS_FUZZ_H
#define DOPPEL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <doppel/media.h>

/** libFuzzer's entry; each target has one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Formats that the target reads, ended by DOPPEL_FORMAT_UNKNOWN: the driver makes its seeds of
 * them. */
extern const enum doppel_format fuzz_formats[];

/** Read the bytes as a picture if they are of one of `fuzz_formats`. */
void fuzz_read(const uint8_t *data, size_t size);

#endif
