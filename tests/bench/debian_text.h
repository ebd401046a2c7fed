/* Text, mostly English, that Debian packages ship, in memory. */
#ifndef TESTS_BENCH_DEBIAN_TEXT_H
#define TESTS_BENCH_DEBIAN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Documents one after the other: document i is bytes[starts[i] .. starts[i + 1]). */
struct debian_text {
    char *bytes;
    size_t *starts;
    size_t count, size;
};

/* Add the files under `folder`, unpacked, that are English prose of 1 KB to 1 MB: up to `limit`
 * bytes in all, in order of their names. `keep` of 0 or 1 takes one half of the packages, the other
 * half is for those who tune; 2 takes both. */
void debian_text_find(struct debian_text *text, const char *folder, size_t limit, unsigned keep);

/** Add the files right under `folder` that are of 1 KB to 1 MB, whatever their language; of one
 * half of the names, as above. */
void debian_text_find_any(struct debian_text *text, const char *folder, size_t limit,
                          unsigned keep);

void debian_text_free(struct debian_text *text);

#endif
