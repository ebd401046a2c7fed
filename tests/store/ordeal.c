/* Writers that are killed, and disks that lose power. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/store/ordeal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/store/kept.h"
#include "tests/store/power_cut.h"

static void sleep_us(long us)
{
    const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

struct process process_start(const char *how, const char *folder, const char *shadow)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL);
    struct process process = {fork(), ends[0]};
    assert_true(process.pid >= 0);
    if (process.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
#ifdef POWER_LIBRARY /* else nobody asks for a shadow */
        if (shadow) {
            setenv("POWER_SHADOW", shadow, 1);
            setenv("LD_PRELOAD", POWER_LIBRARY, 1);
        }
#else
        (void)shadow;
#endif
        execl(KEPT_PROCESS, KEPT_PROCESS, how, folder, NULL);
        _exit(126);
    }
    close(ends[1]);
    return process;
}

/* The next number; false at the end. */
static bool read_acknowledged(int in, uint64_t *out)
{
    uint64_t number;
    if (read(in, &number, sizeof number) != sizeof number)
        return false;
    *out = number;
    return true;
}

uint64_t process_kill(struct process *process, unsigned most)
{
    uint64_t acknowledged = 0;
    unsigned target = (unsigned)rand() % most;
    for (unsigned i = 0; i <= target; i++)
        if (!read_acknowledged(process->out, &acknowledged))
            break;
    sleep_us(rand() % 5000);
    kill(process->pid, SIGKILL);
    while (read_acknowledged(process->out, &acknowledged))
        ;
    int status;
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    if (!WIFSIGNALED(status))
        fail_msg("the writer ended with %d", WEXITSTATUS(status));
    close(process->out);
    return acknowledged;
}

void process_end_reader(struct process *process)
{
    int status;
    if (waitpid(process->pid, &status, WNOHANG) != 0)
        fail_msg("the reader ended");
    kill(process->pid, SIGKILL);
    waitpid(process->pid, &status, 0);
    close(process->out);
}

static uint64_t state_as(const char *folder, bool read_only)
{
    const struct kept_options options = {.read_only = read_only};
    struct doppel_error error = {0};
    struct kept kept;
    uint64_t count;
    if (kept_open(folder, &options, &kept, &error))
        fail_msg("open: %s", error.message);
    const char *wrong = kept_check(doppel_store_index_get(kept.index), &count, &error);
    if (wrong)
        fail_msg("%s", wrong);
    kept_close(&kept);
    return count;
}

uint64_t state_of(const char *folder)
{
    uint64_t seen = state_as(folder, true), count = state_as(folder, false);
    /* A commit that was cut off after its last frame in SQLite's log comes to light when the log is
     * recovered, which is when the last process that had it open is gone. */
    assert_in_range(count, seen, seen + 1);
    assert_int_equal(state_as(folder, true), count);
    return count;
}

uint64_t ordeal_of_kills(const char *folder, unsigned rounds)
{
    static const char *const ways[] = {"write", "merge", "durable"};
    struct kept kept;
    uint64_t there = 0;
    assert_int_equal(kept_open(folder, &(struct kept_options){0}, &kept, NULL), DOPPEL_OK);
    kept_close(&kept);
    struct process reader = process_start("read", folder, NULL);
    for (unsigned round = 0; round < rounds; round++) {
        struct process writer = process_start(ways[round % 3], folder, NULL);
        uint64_t acknowledged = process_kill(&writer, 60);
        there = state_of(folder);
        /* All that was acknowledged, and at most the one that was under way. */
        assert_in_range(there, acknowledged, acknowledged + 1);
    }
    process_end_reader(&reader);
    return there;
}

uint64_t ordeal_of_power(const char *folder, bool lucky)
{
    char before[512], shadow[512], after[512];
    snprintf(before, sizeof before, "%s/before", folder);
    snprintf(shadow, sizeof shadow, "%s/shadow", folder);
    snprintf(after, sizeof after, "%s/after", folder);
    mkdir(before, 0700);
    mkdir(shadow, 0700);
    struct process writer = process_start("durable", before, shadow);
    uint64_t acknowledged = process_kill(&writer, 200);
    power_cut(before, shadow, lucky, after);
    if (acknowledged) /* before that, the database itself may not be there */
        assert_in_range(state_of(after), acknowledged, acknowledged + 1);
    return acknowledged;
}
