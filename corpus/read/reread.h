/* A part of a corpus file, read once more. */
#ifndef DOPPEL_CORPUS_READ_REREAD_H
#define DOPPEL_CORPUS_READ_REREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <doppel/corpus.h>

struct corpus_file {
    char *path;
    bool opened, regular;
    bool is_archive; /* WARC: its lines are made as it is read */
    enum doppel_packing packing;
    enum doppel_corpus_format format;
    char *head; /* what stands before its records; NULL: nothing */
    size_t head_size;
    struct row_layout *layout; /* NULL: it has no columns */
    int fd;                    /* kept to read again, or -1 */
    bool passed_over;          /* nothing of it is read */
    uint64_t from, to;         /* bytes that are read of it; both 0: all */
    uint64_t lines;            /* newlines of what was read */
    struct stat status;        /* as it was opened */
};

struct reread_part {
    uint64_t offset;
    size_t size;
    char *buffer; /* of `size` and PARSE_SLACK bytes, which become zeros */
    bool known;   /* who reads it knows by the bytes whether they are what they were: nobody asks
                     when the file was written */
};

/** DOPPEL_OK; DOPPEL_E_CHANGED, when the file is not what it was; DOPPEL_E_IO */
enum doppel_status reread(const struct corpus_file *file, const struct reread_part *part,
                          struct doppel_error *error);

/** Whether two looks at a file found the same one, unchanged. */
bool is_same_file_stat(const struct stat *a, const struct stat *b);

#endif
