/* The distance of two codes as PostgreSQL has them. */
#ifndef DOPPEL_POSTGRES_HAMMING_H
#define DOPPEL_POSTGRES_HAMMING_H

#include <postgres.h>

#include <access/htup.h>
#include <utils/varbit.h>

/* What is asked: (query, radius). */
struct code_ball {
    VarBit *code; /* NULL: no code is within, as the query or the radius is NULL */
    int64 radius;
};

/* Read a row of a code and a whole number; an error of PostgreSQL for any other. */
struct code_ball read_code_ball(HeapTupleHeader row);

#endif
