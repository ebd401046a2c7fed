/* What the files of the kinds share. */
#ifndef TESTS_LIBRARY_KEPT_INTERNAL_H
#define TESTS_LIBRARY_KEPT_INTERNAL_H

#include "tests/library/kept_kinds.h"

uint64_t kept_mix(uint64_t z);

/** What is found. */
struct tally {
    size_t count;
    uint64_t id;
};
bool kept_tally(void *context, const struct doppel_found *found);

/** An item at a path of its own, the same bytes whenever it is put in. */
enum doppel_status kept_add_item(struct doppel_library *library, uint64_t number,
                                 struct doppel_record *record, uint64_t *out_id,
                                 struct doppel_error *error);

enum doppel_status kept_put_text(const struct kept_kind *kind, struct doppel_library *library,
                                 uint64_t number, uint64_t *out_id, struct doppel_error *error);
enum doppel_status kept_find_text(const struct kept_kind *kind, struct doppel_library *library,
                                  uint64_t number, size_t *out_count, uint64_t *out_id,
                                  struct doppel_error *error);
enum doppel_status kept_put_record(const struct kept_kind *kind, struct doppel_library *library,
                                   uint64_t number, uint64_t *out_id, struct doppel_error *error);
enum doppel_status kept_prepare_records(struct doppel_library *library, struct doppel_error *error);
enum doppel_status kept_find_passage(const struct kept_kind *kind, struct doppel_library *library,
                                     uint64_t number, size_t *out_count, uint64_t *out_id,
                                     struct doppel_error *error);

#endif
