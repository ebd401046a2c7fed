/* What is declared and not written yet: each goes when its file comes. */
#include "text/room.h"

bool looks_like_html(const void *bytes, size_t size)
{
    (void)bytes, (void)size;
    return false;
}

enum doppel_status html_to_text(const void *bytes, size_t size, struct plain_text *out,
                                struct doppel_error *error)
{
    (void)bytes, (void)size, (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "HTML cannot be read yet");
}

enum doppel_status markdown_to_text(const void *bytes, size_t size, struct plain_text *out,
                                    struct doppel_error *error)
{
    (void)bytes, (void)size, (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "Markdown cannot be read yet");
}
