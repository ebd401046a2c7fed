/* How much one input may cost, and the sentences for "too big" and "too little". */
#include "media/decode.h"

struct doppel_media_limits doppel_media_limits_default(void)
{
    return (struct doppel_media_limits){
        .max_bytes = UINT64_C(1) << 30,
        .max_pixels = 500000000,
        .max_memory = UINT64_C(448) << 20,
    };
}

enum doppel_status check_pixels(const struct doppel_media_limits *limits, uint64_t width,
                                uint64_t height, struct doppel_error *error)
{
    if (!width || !height)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "declares a picture of %llu x %llu pixels",
                           (unsigned long long)width, (unsigned long long)height);
    if (width > UINT32_MAX || height > UINT32_MAX || width * height > limits->max_pixels)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "declares %llu x %llu pixels, over the limit of %llu (--max-pixels)",
                           (unsigned long long)width, (unsigned long long)height,
                           (unsigned long long)limits->max_pixels);
    return DOPPEL_OK;
}

/* The command's --max-memory is a worker's whole memory; a decoder gets most of it. */
enum doppel_status check_memory(const struct doppel_media_limits *limits, uint64_t bytes,
                                struct doppel_error *error)
{
    if (bytes <= limits->max_memory)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "needs %llu MiB to decode, over the limit of %llu MiB (--max-memory)",
                       (unsigned long long)((bytes + 0xfffff) >> 20),
                       (unsigned long long)(limits->max_memory >> 20));
}

enum doppel_status check_rows(const char *format_name, uint32_t rows, uint32_t height,
                              struct doppel_error *error)
{
    if (rows && (uint64_t)rows * 10 >= height)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the %s is cut short after %u of %u rows",
                       format_name, rows, height);
}
