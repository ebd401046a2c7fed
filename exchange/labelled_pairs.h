/* Labelled pairs from a CSV file (RFC 4180): a, b, and whether they are the same. */
#ifndef DOPPEL_EXCHANGE_LABELLED_PAIRS_H
#define DOPPEL_EXCHANGE_LABELLED_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/run.h>

struct label {
    char *a, *b; /* paths; relative ones are joined to the folder of the CSV file */
    bool same;
    uint64_t line; /* that it begins in, from 1 */
};

struct labels {
    struct label *items;
    size_t count, capacity;
};

/**
 * Read all pairs of a file. The first row is left out when its third field is no label: then it is
 * a header. Other rows that cannot be read are reported with file and line, and left out.
 *
 * @param path "-" is standard input: its paths are relative to the working directory
 * @param out  given (labels_free)
 * @return DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY
 */
enum doppel_status labels_read(struct doppel_run *run, const char *path, struct labels *out,
                               struct doppel_error *error);
void labels_free(struct labels *labels);

#endif
