/* What two pictures show beside each other, for the choice of the one to keep. */
#ifndef DOPPEL_LIBRARY_LEDGER_CONTENTS_H
#define DOPPEL_LIBRARY_LEDGER_CONTENTS_H

#include <doppel/library.h>

/* Say of two items that are pictures how much they show, and which one is framed: of candidates of
 * their ids. What cannot be loaded stays as it is. */
void candidates_compare_contents(struct doppel_library *library, uint64_t id_a,
                                 struct doppel_candidate *a, uint64_t id_b,
                                 struct doppel_candidate *b);

#endif
