/* What the tests of segments share: one that they make, alter and look at. */
#ifndef TESTS_INDEX_SEGMENTS_H
#define TESTS_INDEX_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "index/segment/segment.h"

enum {
    PARTS = 3,
    HEADER = 4096,     /* as docs/formats.md has it */
    HEADER_SUM = 4088, /* likewise */
    BLOCK = 4096
};

extern const uint64_t part_bytes[PARTS]; /* of parts 0, 2 and 4 */

/* Where the file is, and while it is made; make_folder sets them. */
extern char folder[], path[64], temporary[72];

int make_folder(void **state);
int remove_folder(void **state);

struct segment_plan plan_of(const uint64_t *bytes);

/** @param file NULL: in memory. @return given (segment_release) */
struct segment *make_segment(const char *file, bool durable);

/** Whether all of it is as it was made. */
bool is_whole(const struct segment *segment);

/** What `act` ends a child with: its exit status, or 1000 + the signal. */
int end_of_child(void (*act)(void));

/** Of a file that is no segment. */
void read_another_cut_file(void);

/** cmocka sets a handler of SIGBUS of its own in each test. */
void use_our_handler(void);
extern int end_with_a_handler_before;

#endif
