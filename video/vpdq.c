/* Not built yet. */
#include <doppel/video.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

void doppel_vpdq_free(struct doppel_vpdq *list)
{
}

bool doppel_vpdq_is_text(const char *head, size_t size)
{
    bool nothing = {0};
    return nothing;
}

enum doppel_status doppel_vpdq_parse(const char *text, size_t size, struct doppel_vpdq *out,
                                     struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

size_t doppel_vpdq_print(const struct doppel_vpdq_frame *frame, char out[128])
{
    size_t nothing = {0};
    return nothing;
}
