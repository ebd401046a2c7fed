/* English texts that Debian packages ship: their documentation and man pages, as plain ASCII. */
#ifndef TESTS_BENCH_TEXT_DOCUMENTS_H
#define TESTS_BENCH_TEXT_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document {
    char *path;
    char *text; /* ends in NUL */
    size_t size;
    uint64_t family; /* of its source package */
};

struct documents {
    struct document *items;
    size_t count, capacity;
};

/* What to take. The halves have no source package in common. */
struct documents_wish {
    const char *const *folders; /* up to NULL */
    const char *const *endings; /* of file names, up to NULL; NULL: texts by their names */
    bool held;                  /* the half that is reported; else the one to tune on */
    size_t min_words, max_count;
    size_t cut_words; /* after so many words; 0: never */
    bool own_words;   /* no licences and no changelogs: many packages have the same ones */
};

/* Where Debian keeps documentation, in English. */
extern const char *const document_folders[];

/* At most max_count of them, spread over all that is there, each text once; the same on every run
 * on the same machine. Ends the program where a folder cannot be read. */
struct documents documents_load(const struct documents_wish *wish);
void documents_free(struct documents *documents);

/* Words: runs of letters and digits. */
size_t count_words(const char *text, size_t size);

/* Where the first `words` words end. */
size_t words_end(const char *text, size_t size, size_t words);

/* A hash for deciding by names. */
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
