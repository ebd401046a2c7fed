/* What searching a Hamming table costs, in ns, measured on a Zen 5 server: what its shape, and the
 * shares of each query, are chosen by. */
#ifndef DOPPEL_INDEX_HAMMING_COSTS_H
#define DOPPEL_INDEX_HAMMING_COSTS_H

static const float FETCH_NS = 5.5f, /* a bucket that was fetched ahead */
    LINE_NS = 2.3f,                 /* each of its cache lines */
    ORDERED_LINE_NS = 2.4f,         /* one that is read in order */
    PASS_NS = 8,                    /* a code whose remainder is within the limit */
    WORD_NS = .6f;                  /* a word of codes that lie apart, read in order */

#endif
