/* Exact pairs: the Jaccard similarity of all texts with each other, by sets of our own making. */
#ifndef TESTS_BENCH_TEXT_TRUTH_H
#define TESTS_BENCH_TEXT_TRUTH_H

#include "documents.h"

struct true_pair {
    uint32_t a, b; /* a < b */
    double similarity;
};

struct true_pairs {
    struct true_pair *items;
    size_t count, capacity;
};

/* All pairs of plain ASCII texts with at least this similarity of their sets of `shingle` words in
 * a row, in lower case, or of characters, with one space between words. By a, then b. */
struct true_pairs true_pairs_of(const struct documents *documents, bool characters,
                                unsigned shingle, double least);

#endif
