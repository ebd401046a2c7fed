/* What becomes of texts on their way: other datelines, cuts, wrong characters. Fixed seeds. */
#ifndef TESTS_BENCH_TEXT_CHANGES_H
#define TESTS_BENCH_TEXT_CHANGES_H

#include "documents.h"

/* A text that grows. */
struct draft {
    char *text; /* free */
    size_t size, capacity;
};

void draft_add(struct draft *draft, const char *text, size_t size);

/* Where the strange parts come from. */
struct change_source {
    const struct documents *documents;
    uint64_t seed;
};

uint64_t next_random(uint64_t *seed);

typedef void change_function(const struct document *document, double amount,
                             struct change_source *source, struct draft *out);

struct change {
    const char *name;
    change_function *apply;
    double amount;
};

/* Each document, which is borrowed, and after it a changed copy; the changes take turns. */
struct documents documents_with_copies(const struct documents *documents);
void documents_free_copies(struct documents *all);

extern const struct change changes[];
extern const size_t change_count;
extern const struct change code_changes[];
extern const size_t code_change_count;

#endif
