/* Code points of UTF-8, good and bad. */
#include "text/normaliser.h"

static bool continues(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* What a first byte promises: how many follow, and which second bytes may. */
struct lead {
    size_t more;
    uint8_t least, most;
};

static struct lead lead_of(uint8_t byte)
{
    if (byte >= 0xc2 && byte <= 0xdf)
        return (struct lead){1, 0x80, 0xbf};
    if (byte >= 0xe0 && byte <= 0xef)
        return (struct lead){2, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
    if (byte >= 0xf0 && byte <= 0xf4)
        return (struct lead){3, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
    return (struct lead){0};
}

/* Bad bytes go by the longest beginning of a good sequence: the Unicode Standard, "U+FFFD
 * Substitution of Maximal Subparts", and what browsers and Python do. */
size_t decode(const uint8_t *bytes, size_t size, uint32_t *out_point, bool *out_bad)
{
    *out_bad = false;
    *out_point = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    struct lead lead = lead_of(bytes[0]);
    uint32_t point = bytes[0] & (0x3fu >> lead.more);
    size_t taken = 1;
    while (taken <= lead.more && taken < size && continues(bytes[taken]) &&
           (taken > 1 || (bytes[1] >= lead.least && bytes[1] <= lead.most)))
        point = point << 6 | (bytes[taken++] & 0x3f);
    *out_bad = lead.more == 0 || taken <= lead.more;
    *out_point = *out_bad ? 0xfffd : point;
    return taken;
}
