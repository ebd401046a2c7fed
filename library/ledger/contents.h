/* What two pictures show beside each other, for the choice of the one to keep. */
#ifndef DOPPEL_LIBRARY_LEDGER_CONTENTS_H
#define DOPPEL_LIBRARY_LEDGER_CONTENTS_H

#include <doppel/library.h>

/* doppel_candidates_compare_contents of two items by what the library holds of them. What is no
 * picture, has no frame or cannot be loaded stays as it is. */
void candidates_load_contents(struct doppel_library *library, const uint64_t ids[2],
                              struct doppel_candidate candidates[2]);

#endif
