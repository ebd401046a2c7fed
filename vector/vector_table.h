/**
 * doppel/vector_table.h: vectors that are kept, in cells, and searched one by one. A table is some
 * arrays in memory or in mapped files, of which the caller takes care: doppel/index.h does. Part of
 * doppel/vector.h.
 */
#ifndef DOPPEL_VECTOR_TABLE_H
#define DOPPEL_VECTOR_TABLE_H

#include <doppel/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Part 0 are the rows, as in struct doppel_vectors. */
enum { DOPPEL_VECTOR_TABLE_PARTS = 19, DOPPEL_VECTOR_TABLE_PARAMETERS = 7 };

/** What a table takes. The first two parameters are the dimension and the count. */
struct doppel_vector_table_plan {
    uint64_t parameters[DOPPEL_VECTOR_TABLE_PARAMETERS];
    uint64_t part_bytes[DOPPEL_VECTOR_TABLE_PARTS];
};

/** @param count below 2^31. @param dimension 1 to DOPPEL_VECTOR_DIMENSION_MAX. Thread-safe, as all
 * that follows. */
DOPPEL_API struct doppel_vector_table_plan doppel_vector_table_plan(uint32_t dimension,
                                                                    uint64_t count);

/** Whether a plan that was kept, with the parameters of a table that was filled, is one. */
DOPPEL_API bool doppel_vector_table_plan_is_valid(const struct doppel_vector_table_plan *plan);

/** Parts: each aligned to 8 bytes, with 64 bytes behind it that can be read. Borrowed. */
struct doppel_vector_table {
    struct doppel_vector_table_plan plan;
    const uint8_t *parts[DOPPEL_VECTOR_TABLE_PARTS];
};

/**
 * Fill all parts but the rows, which are there.
 *
 * @param plan as it was made; parameters are set that are known only now
 * @param parts of the sizes of the plan, zeros
 * @return DOPPEL_OK; DOPPEL_E_FORMAT: a row holds what is no number, or too large or small a one;
 *     DOPPEL_E_MEMORY: it takes about dimension + 100 bytes a vector, for a while
 */
DOPPEL_API enum doppel_status doppel_vector_table_fill(struct doppel_vector_table_plan *plan,
                                                       uint8_t *const *parts,
                                                       struct doppel_error *error);

/** What is searched for, and what that took. */
struct doppel_vector_search {
    float min_cosine; /**< -1 to 1 */
    float recall;     /**< the share to find at least, as far as a sample of the vectors of the
                         table can say; 0: all. All is found also where more than a hundred are
                         near, and of a query that lies off all vectors of the table */
    uint64_t nearest; /**< so many are wanted; 0: all */
    /** A row that is near. @return the lowest cosine that is wanted from now on; above 1: no more
     */
    float (*visit)(void *context, uint64_t row, float cosine);
    /** Called before some bytes of the parts are read; NULL: never */
    void (*touch)(void *context, const void *at, size_t bytes);
    void *context;       /**< of both */
    uint64_t cells;      /**< added to: that were visited */
    uint64_t candidates; /**< added to: vectors that were looked at beyond their prefixes */
    bool damaged;        /**< set where the parts do not fit together; else left alone */
};

/**
 * Visit the vectors that are near one, in no order. Whatever the parts hold, nothing else is read.
 *
 * @param query as many floats as the table has dimensions, of any length
 * @return DOPPEL_OK, also when it has no direction; DOPPEL_E_FORMAT: it holds what is no number, or
 *     too large or small a one; DOPPEL_E_MEMORY
 *
 * As doppel_vectors_join: prefixes, bytes and floats, in the cells that can have such a vector; or
 * in those that are nearest to the query.
 */
DOPPEL_API enum doppel_status doppel_vector_table_search(const struct doppel_vector_table *table,
                                                         const float *query,
                                                         struct doppel_vector_search *search,
                                                         struct doppel_error *error);

/** Whether a cosine with it can be computed. @param out_has_direction it is not of zeros */
DOPPEL_API bool doppel_vector_is_valid(const float *row, uint32_t dimension,
                                       bool *out_has_direction);

#ifdef __cplusplus
}
#endif

#endif
