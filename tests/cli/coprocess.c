/* A doppel that is asked line by line. */
#include "coprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

enum { PATIENCE_MS = 20000 };

struct coprocess coprocess_start(const char *option)
{
    int to[2], from[2];
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    struct coprocess coprocess = {.pid = fork(), .to = to[1], .from = from[0]};
    assert_true(coprocess.pid >= 0);
    if (coprocess.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl(DOPPEL_PROGRAM, "doppel", "ingest", "-L", "library", option ? option : "-",
              option ? "-" : NULL, NULL);
        _exit(126);
    }
    close(to[0]);
    close(from[1]);
    return coprocess;
}

void coprocess_read(const struct coprocess *coprocess, char *out, size_t size)
{
    struct pollfd ready = {.fd = coprocess->from, .events = POLLIN};
    size_t used = 0;
    while (used + 1 < size) {
        assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
        assert_int_equal(read(coprocess->from, out + used, 1), 1);
        if (out[used++] == '\n')
            break;
    }
    out[used] = '\0';
}

int coprocess_end(struct coprocess *coprocess)
{
    int status;
    close(coprocess->to);
    close(coprocess->from);
    assert_int_equal(waitpid(coprocess->pid, &status, 0), coprocess->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
