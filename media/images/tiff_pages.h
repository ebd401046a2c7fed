/* Where the pages of a TIFF lie. */
#ifndef DOPPEL_MEDIA_TIFF_PAGES_H
#define DOPPEL_MEDIA_TIFF_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* So many directories that are no pages are passed over at least. */
enum { TIFF_PAGES_SPARE = 16 };

/* Find the directories of the pages, in their order, by a few bytes of each. Where the file is cut
 * short the last one may not be there.
 * @param out of each page the offset of its directory; room for `most`
 * @return how many there are; `most`: there may be more */
size_t tiff_find_pages(int fd, uint64_t *out, size_t most);

#endif
