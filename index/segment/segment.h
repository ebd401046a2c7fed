/*
 * A segment: an immutable table in one piece of memory, anonymous or a mapped file, divided into
 * parts. What the parts mean, each table says (hamming.h, bands.h, postings.h). Its life: create,
 * fill the parts, seal; from then on read-only and shared by reference count.
 *
 * File: little-endian, versioned; a header with parameters and the parts' sizes, the parts, and a
 * checksum for each block. A block of a mapped file is checked when it is first touched. A file
 * that is cut while it is mapped reads as zeros from there on, and counts as damaged (fault.h).
 *
 * Threads: a sealed or opened segment is read by any number; each holds a reference.
 */
#ifndef DOPPEL_INDEX_SEGMENT_SEGMENT_H
#define DOPPEL_INDEX_SEGMENT_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>

enum { SEGMENT_PARTS_MAX = 24, SEGMENT_PARAMETERS = 24 };

enum segment_table {
    SEGMENT_HAMMING = 1,
    SEGMENT_BANDS = 2,
    SEGMENT_POSTINGS = 3,
    SEGMENT_LINEAR = 4, /* few codes, or such that are searched at large radii */
    SEGMENT_VECTORS = 6 /* 5 lay in another order */
};

/* What a segment is to hold, before it is filled; unused entries are 0. */
struct segment_plan {
    enum segment_table table;
    uint64_t parameters[SEGMENT_PARAMETERS]; /* the table's own; still 0 may be set until sealed */
    uint64_t part_bytes[SEGMENT_PARTS_MAX];
};

/* Where a segment goes, and the payloads that were removed from all older segments: they travel in
 * the newer one until a merge has dropped their codes. */
struct segment_target {
    const char *path;        /* NULL: in memory */
    bool durable;            /* survives power loss once sealed: fsync of file and folder */
    const uint64_t *removed; /* ascending; borrowed */
    size_t removed_count;
};

struct segment {
    struct segment_plan plan; /* after open: as read, the sizes checked against the file's */
    const uint8_t *parts[SEGMENT_PARTS_MAX]; /* aligned to 4096 bytes, followed by ≥ 64 readable */
    _Atomic uint64_t unchecked; /* blocks that no one has touched; 0: nothing left to check */
    /* The rest is segment.c's. */
    struct segment_file *file;
};

/**
 * Make room for a segment, filled with zeros and writable. A file has a temporary name until
 * sealed.
 * @param out given: one reference (segment_release)
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; _IO (also: no space, over RLIMIT_FSIZE)
 */
enum doppel_status segment_create(const struct segment_plan *plan,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error);

/** A part to be filled, before sealing. */
uint8_t *segment_fill(struct segment *segment, unsigned part);

/** Make it final: parameters and checksums are written, the file gets its name. Not called, or
 * failed: releasing the segment removes the file. @return DOPPEL_OK; DOPPEL_E_IO */
enum doppel_status segment_seal(struct segment *segment, struct doppel_error *error);

/**
 * Map a segment file, without reading it whole.
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; _CORRUPT; _VERSION; _FORMAT; _IO; _MEMORY
 */
enum doppel_status segment_open(const char *path, struct segment **out, struct doppel_error *error);

struct segment *segment_retain(struct segment *segment);
void segment_release(struct segment *segment);

/** The removed payloads that came with it, ascending; borrowed. */
const uint64_t *segment_removed(const struct segment *segment, size_t *out_count);

/** Bytes of the file, or of memory. */
uint64_t segment_bytes(const struct segment *segment);

/** It is to be read from its begin to its end. */
void segment_read_ahead(const struct segment *segment);

/** Read it into memory, in large pages where they are free; so that look-ups read none from the
 * disk. Some of its file after the other, until `cancelled` (may be NULL) says so. */
void segment_read_in(const struct segment *segment, bool (*cancelled)(void *context),
                     void *context);

/** Whether the page of this byte is in memory, as far as the system says. */
bool segment_in_memory(const struct segment *segment, const void *at);

/** These bytes are going to be touched: begin to read them, with their checksums, from the disk. */
void segment_want(const struct segment *segment, const void *at, size_t bytes);

/** Check all blocks of a file now, also those that were checked before. DOPPEL_OK or
 * DOPPEL_E_CORRUPT. */
enum doppel_status segment_verify(const struct segment *segment, struct doppel_error *error);

/** The slow half of segment_touch. */
bool segment_check(const struct segment *segment, const void *at, size_t bytes);

/** To be called before bytes of a part are read, which have been bounds-checked: their blocks'
 * checksums are compared at the first touch. Never fails: damage is remembered (segment_damage),
 * the bytes may still be read, and may be anything. */
static inline void segment_touch(const struct segment *segment, const void *at, size_t bytes)
{
    if (atomic_load_explicit(&segment->unchecked, memory_order_acquire))
        (void)segment_check(segment, at, bytes);
}

/** Whether all blocks of a part were checked: then none of it need be touched any more. Costs next
 * to nothing, however often it is asked. Thread-safe. */
bool segment_part_is_checked(const struct segment *segment, unsigned part);

/** What a table checks itself, and found damaged. */
void segment_found_damaged(const struct segment *segment);

/** Whether a touched block was damaged or lies beyond the end of a file that was cut meanwhile
 * (SIGBUS): to be asked after every search, whose results are void then. DOPPEL_OK or
 * DOPPEL_E_CORRUPT with the path. */
enum doppel_status segment_damage(const struct segment *segment, struct doppel_error *error);

#endif
