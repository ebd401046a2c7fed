/* Short English texts that Debian's packages ship, without such as repeat each other. */
#ifndef TESTS_BENCH_MEANING_DEBIAN_SAMPLES_H
#define TESTS_BENCH_MEANING_DEBIAN_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

enum sample_kind {
    SAMPLE_SENTENCES, /* of 60 to 240 bytes, mostly letters, with an end */
    SAMPLE_RECORDS,   /* of 156 bytes, to the end of a word */
    SAMPLE_PARAGRAPHS /* of 400 bytes to 4 KB */
};

/* Text i is texts[i], of document documents[i]; those of a document stand together, in order. */
struct samples {
    char **texts;
    uint32_t *documents;
    size_t count;
};

/* Of the documents of one half of the packages below /usr/share/doc (debian_text.h). A text of
 * which more than half of the runs of five words came before is left out. What is found is kept. */
void samples_find(struct samples *samples, enum sample_kind kind, unsigned half);

#endif
