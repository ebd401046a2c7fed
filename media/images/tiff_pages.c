/* The pages of a TIFF: its directories, one after the other, but for those of small pictures and
 * masks. Sources: TIFF 6.0, sections 2 and 12; the BigTIFF specification of 2007. */
#include "media/images/tiff_pages.h"

#include <string.h>

#include "core/files/read_at.h"
#include "media/decode.h"

enum { HEAD_BYTES = 16, ENTRY_MOST = 20, TYPE_SHORT = 3, BIG_VERSION = 43 };

/* What a directory's picture is not where it is a page, and what it is by the older tag. */
enum { REDUCED = 1, MASK = 4, SUBFILE_TYPE = 0xff, OLD_REDUCED = 2 };

struct tiff_chain {
    int fd;
    bool big_endian, big; /* big: of 64 bits */
};

static uint64_t get_number(const struct tiff_chain *chain, const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | bytes[chain->big_endian ? i : count - 1 - i];
    return value;
}

static bool read_tiff_number(const struct tiff_chain *chain, uint64_t offset, unsigned count,
                             uint64_t *out)
{
    uint8_t bytes[8];
    if (offset > INT64_MAX || read_at(chain->fd, bytes, count, offset) != (ssize_t)count)
        return false;
    *out = get_number(chain, bytes, count);
    return true;
}

/* Entries ascend by their tags: what kind of picture it is stands first. */
static bool is_page(const struct tiff_chain *chain, uint64_t entry)
{
    uint8_t bytes[ENTRY_MOST];
    size_t size = chain->big ? 20 : 12;
    if (read_at(chain->fd, bytes, size, entry) != (ssize_t)size)
        return false;
    uint64_t tag = get_number(chain, bytes, 2), type = get_number(chain, bytes + 2, 2);
    uint64_t value = get_number(chain, bytes + (chain->big ? 12 : 8), type == TYPE_SHORT ? 2 : 4);
    return tag == TIFF_NEW_SUBFILE_TYPE ? !(value & (REDUCED | MASK))
                                        : tag != SUBFILE_TYPE || value != OLD_REDUCED;
}

static bool open_chain(int fd, struct tiff_chain *out, uint64_t *first)
{
    uint8_t head[HEAD_BYTES];
    if (read_at(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        (memcmp(head, "II", 2) != 0 && memcmp(head, "MM", 2) != 0))
        return false;
    *out = (struct tiff_chain){.fd = fd, .big_endian = head[0] == 'M'};
    out->big = get_number(out, head + 2, 2) == BIG_VERSION;
    *first = out->big ? get_number(out, head + 8, 8) : get_number(out, head + 4, 4);
    return true;
}

/* @param offset of a directory; then of the next, 0 behind the last */
static bool pass_directory(const struct tiff_chain *chain, uint64_t *offset, bool *page)
{
    const unsigned count_bytes = chain->big ? 8 : 2, entry_bytes = chain->big ? 20 : 12;
    uint64_t count;
    if (!read_tiff_number(chain, *offset, count_bytes, &count) || !count || count > UINT16_MAX)
        return false;
    *page = is_page(chain, *offset + count_bytes);
    return read_tiff_number(chain, *offset + count_bytes + count * entry_bytes, chain->big ? 8 : 4,
                            offset);
}

size_t tiff_find_pages(int fd, uint64_t *out, size_t most)
{
    struct tiff_chain chain;
    uint64_t offset, mark = 0;
    size_t found = 0, passed = 0, mark_next = 1;
    bool page;
    if (!open_chain(fd, &chain, &offset))
        return 0;
    while (offset && found < most && passed < 2 * most + TIFF_PAGES_SPARE) {
        const uint64_t at = offset;
        bool more = pass_directory(&chain, &offset, &page);
        if (more ? page : found > 0) /* what is named and not there is a page that is lost */
            out[found++] = at;
        if (!more || offset == mark)
            break; /* cut short, or in a circle */
        if (++passed == mark_next) {
            mark = at;
            mark_next *= 2;
        }
    }
    return found;
}
