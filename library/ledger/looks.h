/* Images of a library beside each other, for the choice of the one to keep. */
#ifndef DOPPEL_LIBRARY_LEDGER_LOOKS_H
#define DOPPEL_LIBRARY_LEDGER_LOOKS_H

#include <doppel/library.h>

/* doppel_candidates_compare_images of two items by what the library holds of them. What is no
 * image, or cannot be loaded, stays as it is. */
void candidates_load_looks(struct doppel_library *library, const uint64_t ids[2],
                           struct doppel_candidate candidates[2]);

#endif
