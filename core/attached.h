/* Schemes whose fingerprints have no codes: what was computed is the attachment of the record. */
#ifndef DOPPEL_CORE_ATTACHED_H
#define DOPPEL_CORE_ATTACHED_H

#include <doppel/core.h>

static inline bool scheme_is_attached(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_PEAKS32 || scheme == DOPPEL_SCHEME_FRAMES64 ||
           scheme == DOPPEL_SCHEME_LOCAL || scheme == DOPPEL_SCHEME_FRAMES128;
}

#endif
