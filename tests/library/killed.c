/* Writers that are killed, and waiting. */
#include "tests/library/killed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_MOMENT_US = 20000 };

void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

uint64_t run_and_kill(writer *write, const char *path, uint64_t already, int most)
{
    atomic_ullong *acknowledged =
        mmap(NULL, sizeof *acknowledged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(acknowledged != MAP_FAILED);
    atomic_store(acknowledged, already);
    uint64_t target = already + (uint64_t)(rand() % most);
    pid_t child = fork();
    if (child == 0)
        _exit(write(path, acknowledged));
    int status;
    while (atomic_load(acknowledged) < target && waitpid(child, &status, WNOHANG) == 0)
        sleep_us(100);
    sleep_us(rand() % LONGEST_MOMENT_US);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status))
        fail_msg("the writer ended with %d", WEXITSTATUS(status));
    uint64_t count = atomic_load(acknowledged);
    munmap(acknowledged, sizeof *acknowledged);
    return count;
}
