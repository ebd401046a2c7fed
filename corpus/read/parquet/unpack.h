/* Pages of Parquet, unpacked. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_UNPACK_H
#define DOPPEL_CORPUS_READ_PARQUET_UNPACK_H

#include <doppel/core.h>

/** Whether it is none, snappy, gzip or zstd. */
bool parquet_codec_is_known(int codec);

/** @return false: they are not exactly `to_size` bytes of this codec */
bool parquet_unpack(int codec, const uint8_t *from, size_t size, uint8_t *to, size_t to_size);

#endif
