/* Corpus files for tests, and all records that the reader finds in them. */
#ifndef TESTS_CORPUS_FILES_H
#define TESTS_CORPUS_FILES_H

#include "corpus/read/reader.h"

/* A new folder; free its name after folder_remove. */
char *folder_make(void);
void folder_remove(char *folder);

/* `folder`/`name`; free it. */
char *path_in(const char *folder, const char *name);

/* Bytes that grow. */
struct bytes {
    char *data;
    size_t size, capacity;
};
void bytes_add(struct bytes *bytes, const void *data, size_t size);
void bytes_add_text(struct bytes *bytes, const char *text);
void bytes_free(struct bytes *bytes);

/* Append a gzip member, a zstd frame. */
void bytes_add_gzip(struct bytes *bytes, const void *data, size_t size);
void bytes_add_zstd(struct bytes *bytes, const void *data, size_t size);

void write_file(const char *path, const void *data, size_t size);

/* A record as it was read; of strings a copy, NULL where there is none. */
struct seen {
    uint32_t file;
    uint64_t line, offset;
    size_t size;
    char *id, *text, *path;
    size_t text_size;
    enum doppel_status status;
    char message[512];
};

struct seen_list {
    struct seen *items;
    size_t count, capacity;
    size_t blocks;
};

/* Read all of some paths. @param max_line_bytes 0: the default */
struct seen_list read_paths(const char *const *paths, size_t count, uint64_t max_line_bytes);
struct seen_list read_path(const char *path);
struct seen_list read_files(const struct doppel_corpus_files *files);
void seen_free(struct seen_list *list);

/* xorshift */
uint64_t random_next(uint64_t *state);

#endif
