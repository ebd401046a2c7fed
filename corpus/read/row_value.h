/* Numbers, truths, dates and times of columns, as fields of rows. */
#ifndef DOPPEL_CORPUS_READ_ROW_VALUE_H
#define DOPPEL_CORPUS_READ_ROW_VALUE_H

#include "corpus/read/row.h"

/* What a whole number stands for. */
enum row_meaning {
    ROW_SIGNED,
    ROW_UNSIGNED,
    ROW_DAYS, /* since 1970, as the others */
    ROW_SECONDS,
    ROW_MILLISECONDS,
    ROW_MICROSECONDS,
    ROW_NANOSECONDS
};

/** Dates are strings "2024-05-01", times "2024-05-01T01:02:03Z"; beyond the year 9999 the number.
 */
void row_add_whole(struct row_writer *rows, uint32_t column, enum row_meaning meaning,
                   int64_t number);
/** As short as it can be read again; what is no number has no field. */
void row_add_binary(struct row_writer *rows, uint32_t column, double number, bool is_single);
void row_add_truth(struct row_writer *rows, uint32_t column, bool truth);

#endif
