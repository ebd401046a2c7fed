/* `doppel ingest` as a coprocess: a line is written, and its answer read. */
#ifndef DOPPEL_TESTS_COPROCESS_H
#define DOPPEL_TESTS_COPROCESS_H

#include <stddef.h>
#include <sys/types.h>

struct coprocess {
    pid_t pid;
    int to, from; /* its input and output */
};

/* Into the library "library". @param option before the "-" of the stream; NULL: none */
struct coprocess coprocess_start(const char *option);

/* One line of answer, or the test fails. */
void coprocess_read(const struct coprocess *coprocess, char *out, size_t size);

/* End its input. @return its exit code, 128 and more: a signal */
int coprocess_end(struct coprocess *coprocess);

#endif
