/* Files of tensors, as safetensors are. */
#ifndef DOPPEL_EMBED_SAFETENSORS_H
#define DOPPEL_EMBED_SAFETENSORS_H

#include <stdbool.h>

#include <doppel/core.h>

enum tensor_type {
    TENSOR_OTHER,
    TENSOR_I8,
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_I32,
    TENSOR_I64
};

/* Its bytes lie within the file, and are as many as its type and shape want. */
struct tensor {
    enum tensor_type type;
    const uint8_t *bytes; /* borrowed from the file */
    size_t shape[2];      /* the second is 1 where there is one only */
    size_t count;         /* of numbers */
    unsigned dimensions;  /* 1 or 2; others are refused */
};

/**
 * Find a tensor in the bytes of a file.
 *
 * @param path for messages
 * @param tensor_name NULL: the only one of two dimensions
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: it has no such tensor; DOPPEL_E_ARGUMENT: it has
 * several without a name to choose by; DOPPEL_E_FORMAT; DOPPEL_E_CORRUPT;
 * DOPPEL_E_UNSUPPORTED: its type or shape. Source: safetensors' README, "Format".
 */
enum doppel_status tensor_find(const uint8_t *file, size_t size, const char *path,
                               const char *tensor_name, struct tensor *out,
                               struct doppel_error *error);

/* Number i as a float; only of I8 and floats. */
float tensor_float(const struct tensor *tensor, size_t i);
/* Number i of F64. */
double tensor_double(const struct tensor *tensor, size_t i);

/* Number i; only of I32 and I64. */
int64_t tensor_integer(const struct tensor *tensor, size_t i);

bool tensor_is_float(const struct tensor *tensor);

#endif
