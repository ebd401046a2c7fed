/* kept_process write|durable|merge|read FOLDER: works on the index of FOLDER until it is killed.
 * A writer goes on with the history where it stands, and says on stdout how many transactions are
 * committed, 8 bytes each time. A reader looks again and again, and ends when something is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/store/kept.h"

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "kept_process: %s: %s\n", what, why);
    return 1;
}

static bool acknowledge(uint64_t done)
{
    return write(STDOUT_FILENO, &done, sizeof done) == sizeof done;
}

/* Now and then what a commit does not do by itself. */
static enum doppel_status tend(struct kept *kept, uint64_t done, uint64_t *state,
                               struct doppel_error *error)
{
    uint64_t drawn = kept_random(state) % 40;
    (void)done;
    if (drawn == 0)
        return doppel_store_index_compact(kept->index, true, error);
    if (drawn == 1)
        return doppel_store_index_compact(kept->index, false, error);
    return drawn == 2 ? doppel_store_index_flush(kept->index, error) : DOPPEL_OK;
}

static int write_on(const char *folder, const struct kept_options *options)
{
    struct kept kept;
    struct doppel_error error = {0};
    uint64_t done, state = (uint64_t)getpid();
    if (kept_open(folder, options, &kept, &error))
        return complain("open", error.message);
    const char *wrong = kept_check(doppel_store_index_get(kept.index), &done, &error);
    if (wrong)
        return complain("found", wrong);
    if (!acknowledge(done))
        return 1;
    for (;;) {
        if (kept_transact(&kept, done, &error))
            return complain("transaction", error.message);
        done++;
        if (!acknowledge(done))
            return 0; /* the test has ended */
        if (tend(&kept, done, &state, &error))
            return complain("segments", error.message);
    }
}

/* @return NULL, or what is wrong */
static const char *look(struct kept *kept, uint64_t *last, struct doppel_error *error)
{
    uint64_t done;
    const char *wrong = kept_check(doppel_store_index_get(kept->index), &done, error);
    if (!wrong && done < *last)
        wrong = "an older state than before";
    *last = done;
    return wrong;
}

static int read_on(const char *folder)
{
    const struct kept_options reading = {.read_only = true};
    const struct timespec pause = {.tv_nsec = 1000000};
    struct kept kept;
    struct doppel_error error = {0};
    uint64_t last = 0;
    while (getppid() != 1) {
        if (kept_open(folder, &reading, &kept, &error))
            return complain("reader's open", error.message);
        for (int i = 0; i < 20; i++) {
            const char *wrong = look(&kept, &last, &error);
            if (wrong)
                return complain("reader", wrong);
            nanosleep(&pause, NULL);
            if (doppel_store_index_refresh(kept.index, NULL, &error))
                return complain("refresh", error.message);
        }
        kept_close(&kept);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "read") == 0)
        return read_on(argv[2]);
    const struct kept_options options = {.durable = strcmp(argv[1], "durable") == 0,
                                         .merge = strcmp(argv[1], "merge") == 0};
    return write_on(argv[2], &options);
}
