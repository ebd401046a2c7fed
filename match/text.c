/* Judging two texts by what is known of them. */
#include <doppel/match.h>

struct doppel_text_limits doppel_text_limits_default(void)
{
    return (struct doppel_text_limits){.min_similarity = 0.7, .min_containment = 0.9};
}
