/* FlatBuffers, as far as Arrow's metadata is written in them, read within bounds. */
#ifndef DOPPEL_CORPUS_READ_ARROW_FLATBUFFER_H
#define DOPPEL_CORPUS_READ_ARROW_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once it is broken all reads give zeros. */
struct flatbuffer {
    const uint8_t *bytes;
    size_t size;
    bool broken;
};

/* A place in it: of a table, or of the first element of a vector. 0: there is none. */
typedef size_t flat_place;

struct flat_vector {
    flat_place at;
    size_t count; /* of as many bytes as were asked for */
};

/** A number of 1, 2, 4 or 8 bytes, little end first, of which the highest bit is the sign. */
int64_t flat_number(struct flatbuffer *flat, flat_place at, unsigned width);

flat_place flat_root(struct flatbuffer *flat);
/** Fields of a table, by their number; one that is not there is `otherwise`, 0 or empty. */
int64_t flat_field(struct flatbuffer *flat, flat_place table, unsigned field, unsigned width,
                   int64_t otherwise);
flat_place flat_table(struct flatbuffer *flat, flat_place table, unsigned field);
/** @param width bytes of an element */
struct flat_vector flat_vector_of(struct flatbuffer *flat, flat_place table, unsigned field,
                                  size_t width);
/** The table that an element of a vector of offsets is. */
flat_place flat_table_at(struct flatbuffer *flat, const struct flat_vector *vector, size_t i);

#endif
