/* Parquet's hybrid of run lengths and packed bits. */
#include "corpus/read/parquet/levels.h"

static void begin_level_run(struct parquet_levels *levels)
{
    struct thrift *bytes = &levels->bytes;
    while (!levels->left && !bytes->broken) {
        uint64_t header = thrift_varint(bytes);
        size_t at_hand = (size_t)(bytes->end - bytes->at);
        size_t size = (levels->width + 7) / 8;
        levels->packed = header & 1;
        levels->left = header >> 1;
        if (levels->packed) {
            bytes->broken |= levels->left > UINT32_MAX;
            uint64_t wanted = levels->left * levels->width;
            levels->left = levels->left * 8;
            levels->numbers = bytes->at;
            levels->bit = 0;
            size = wanted < at_hand ? (size_t)wanted : at_hand; /* the last may be cut */
            if (levels->width && levels->left > (uint64_t)size * 8 / levels->width)
                levels->left = (uint64_t)size * 8 / levels->width;
            bytes->broken |= levels->width && !levels->left && wanted;
        } else if (size > at_hand) {
            bytes->broken = true;
        } else {
            levels->repeated = 0;
            for (size_t i = 0; i < size; i++)
                levels->repeated |= (uint32_t)bytes->at[i] << 8 * i;
        }
        if (!bytes->broken)
            bytes->at += size;
    }
}

uint32_t parquet_levels_next(struct parquet_levels *levels)
{
    if (!levels->left)
        begin_level_run(levels);
    if (levels->bytes.broken)
        return 0;
    levels->left--;
    if (!levels->packed)
        return levels->repeated;
    uint64_t value = 0;
    unsigned shift = levels->bit & 7, wanted = shift + levels->width;
    const uint8_t *at = levels->numbers + levels->bit / 8;
    for (unsigned i = 0; i * 8 < wanted; i++)
        value |= (uint64_t)at[i] << 8 * i;
    levels->bit += levels->width;
    return (uint32_t)(value >> shift & ((UINT64_C(1) << levels->width) - 1));
}
