/* A small dedup in stages, and its files as they are when they are good. */
#ifndef DOPPEL_TESTS_FUZZ_STAGE_IMAGES_H
#define DOPPEL_TESTS_FUZZ_STAGE_IMAGES_H

#include "corpus/stages/stage_file.h"

enum { STAGED = 66 /* records */, STAGED_IMAGES = 9 };

/* A file of the run. */
struct stage_image {
    char name[STAGE_NAME_BYTES + 8];
    enum doppel_stage stage; /* 0: the manifest; emit: the digest of an output */
    struct doppel_stage_part part;
    uint8_t *bytes;
    size_t size;
};

struct staged_run {
    bool made;
    struct stage_image images[STAGED_IMAGES];
    struct doppel_digest emitted; /* of all decisions */
};

/** Do all stages, once, in a folder that the end of the program removes. */
void staged_make(struct staged_run *run);

/** Open the run. @param out given (doppel_stages_free) */
enum doppel_status staged_open(const struct staged_run *run, struct doppel_stages **out,
                               struct doppel_error *error);
/** Do a part of any stage but emit. */
enum doppel_status staged_do(struct doppel_stages *stages, enum doppel_stage stage,
                             struct doppel_stage_part part, struct doppel_error *error);
/** Visit all decisions. @param out the digest of all that they hold */
enum doppel_status staged_emit(struct doppel_stages *stages, struct doppel_digest *out,
                               struct doppel_error *error);

/** A file of the run. @return its bytes (free); NULL: there is none */
uint8_t *staged_read(const struct staged_run *run, const char *name, size_t *out_size);
void staged_write(const struct staged_run *run, const char *name, const uint8_t *bytes,
                  size_t size);
void staged_remove(const struct staged_run *run, const char *name);

#endif
