/* Files that can be read only once, kept so that they can be read twice. */
#ifndef DOPPEL_CORPUS_READ_SPOOL_H
#define DOPPEL_CORPUS_READ_SPOOL_H

#include <doppel/corpus.h>

struct spool {
    const char **paths; /* to be read: those given, or of copies */
    const char *const *shown;
    char **names; /* of copies; NULL: none */
    int *fds;
    size_t count;
};

/** Copy standard input and pipes among `files` to files without a name in `folder`.
 * @param files borrowed until spool_free. @param out given. DOPPEL_OK; DOPPEL_E_IO; _MEMORY */
enum doppel_status spool_files(const struct doppel_corpus_files *files, const char *folder,
                               struct spool *out, struct doppel_error *error);
void spool_free(struct spool *spool);

/** The path as it was given. */
const char *spool_shown(const struct spool *spool, const char *path);

#endif
