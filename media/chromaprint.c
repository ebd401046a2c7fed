/* From an open file to AcoustID's fingerprint. */
#include "media/readers.h"

enum doppel_status doppel_media_read_chromaprint(int fd,
                                                 const struct doppel_samples_options *options,
                                                 struct doppel_chromaprint *out,
                                                 struct doppel_error *error)
{
    struct doppel_samples_options chosen = options ? *options : doppel_samples_options_default();
    chosen.stream = false;
#ifdef HAVE_CHROMAPRINT
    return read_chromaprint(fd, &chosen, out, error);
#else
    (void)fd, (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this build cannot make Chromaprints: libchromaprint was not there");
#endif
}
