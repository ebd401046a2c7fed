/* Files of vectors that the tests make, and what is read of them. */
#ifndef DOPPEL_TESTS_EMBED_VECTOR_FILES_H
#define DOPPEL_TESTS_EMBED_VECTOR_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "embed/brought/brought.h"
#include "made_model.h"

enum { ROWS = 7, COLUMNS = 5, NUMBERS = ROWS * COLUMNS, MOST_FILE = 1 << 16 };

#define HEAD(type, fortran, shape)                                                                 \
    "{'descr': '" type "', 'fortran_order': " fortran ", 'shape': " shape ", }"

/* Numbers that all formats have: quarters, and a row of zeros. */
float number_at(size_t i);

/* All of them. @param type as of '<f4', "F32"; 'b' is bfloat16 */
size_t put_numbers(uint8_t *out, char type);

/* A .npy whose header is this text, and so many bytes of numbers behind it. */
size_t npy_of(uint8_t *out, unsigned version, const char *header, const void *numbers, size_t size);

/* The same of safetensors. */
size_t tensors_of(uint8_t *out, const char *header, const void *numbers, size_t size);

size_t fvecs_of(uint8_t *out);

/* @param ids "text", "number" or "" */
size_t lines_of(char *out, const char *ids, const char *end);

struct reading {
    struct made_folder folder;
    struct doppel_run *run;
    char notice[512];
    bool cancelled;
};

/* cmocka's setup and teardown. */
int begin_reading(void **state);
int end_reading(void **state);
#define WHILE_READING(test) cmocka_unit_test_setup_teardown(test, begin_reading, end_reading)

enum doppel_status open_made(struct reading *reading, const char *name, const char *ids,
                             struct doppel_vector_file **out, struct doppel_error *error);
struct doppel_vector_file *open_good(struct reading *reading, const char *name, const char *ids);

/* The numbers are read from a file of these bytes. @return whether its rows lie where they were */
bool assert_reads(struct reading *reading, const char *name, const void *bytes, size_t size);

#endif
