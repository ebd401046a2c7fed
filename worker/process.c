/* One worker process: where its program is, starting it, ending it. */
#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static enum doppel_status copy_path(const char *path, char **out, struct doppel_error *error)
{
    char *copy = strdup(path);
    if (!copy)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    *out = copy;
    return DOPPEL_OK;
}

enum doppel_status process_find_program(const char *wanted, char **out, struct doppel_error *error)
{
    static const char *const places[] = {"doppel-worker", "../libexec/doppel/doppel-worker"};
    if (!wanted)
        wanted = secure_getenv("DOPPEL_WORKER");
    if (wanted && *wanted)
        return copy_path(wanted, out, error);
    char self[PATH_MAX], path[PATH_MAX + 40];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", self, places[i]);
        if (access(path, X_OK) == 0)
            return copy_path(path, out, error);
    }
    return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                       "the program doppel-worker is not beside this one (%s), nor in "
                       "../libexec/doppel: set DOPPEL_WORKER to its path",
                       self);
}

/* The socket is descriptor 0, the bell 3; standard output goes nowhere, so that no decoder can
 * write into our results; nothing else is handed on. */
static int prepare_files(posix_spawn_file_actions_t *files, int socket, int bell)
{
    int failed = posix_spawn_file_actions_adddup2(files, socket, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(files, bell, PROCESS_BELL);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(files, PROCESS_BELL + 1);
    return failed;
}

/* Signals as a fresh program has them, but SIGINT blocked for good: at a terminal it reaches the
 * whole process group, and it is the parent that decides what comes of it. */
static int prepare_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, blocked;
    sigfillset(&all);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    int failed = posix_spawnattr_setsigdefault(attributes, &all);
    if (!failed)
        failed = posix_spawnattr_setsigmask(attributes, &blocked);
    if (!failed)
        failed =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return failed;
}

/* 0, or an errno. */
static int spawn(const char *program, int socket, int bell, pid_t *out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    failed = prepare_files(&files, socket, bell);
    if (!failed)
        failed = prepare_signals(&attributes);
    char name[] = "doppel-worker";
    char *arguments[] = {name, NULL};
    if (!failed)
        failed = posix_spawn(out, program, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* The two ends that the worker gets: [0] its socket, [1] its bell, above every descriptor that the
 * child's own are put at. */
static bool connect_ends(struct process *process, int ends[2])
{
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
    int above = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ||
        pipe2(pipes, O_CLOEXEC | O_NONBLOCK) ||
        (above = fcntl(pipes[1], F_DUPFD_CLOEXEC, PROCESS_BELL + 1)) < 0)
        goto failed;
    close(pipes[1]);
    *process = (struct process){.socket = sockets[0], .bell = pipes[0]};
    ends[0] = sockets[1];
    ends[1] = above;
    return true;
failed:
    for (int i = 0; i < 2; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        if (pipes[i] >= 0)
            close(pipes[i]);
    }
    return false;
}

enum doppel_status process_start(const char *program, struct process *out,
                                 struct doppel_error *error)
{
    struct process process;
    int ends[2];
    if (!connect_ends(&process, ends))
        return doppel_fail(error, DOPPEL_E_IO, "no socket for a worker: %s", strerror(errno));
    int failed = spawn(program, ends[0], ends[1], &process.pid);
    close(ends[0]);
    close(ends[1]);
    if (failed) {
        close(process.socket);
        close(process.bell);
        bool missing = failed == ENOENT || failed == EACCES || failed == ENOEXEC;
        return doppel_fail(error, missing ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "the program %s cannot be started: %s", program, strerror(failed));
    }
    *out = process;
    return DOPPEL_OK;
}

int process_end(struct process *process)
{
    int status = -1;
    close(process->socket);
    close(process->bell);
    kill(process->pid, SIGKILL);
    pid_t reaped;
    do
        reaped = waitpid(process->pid, &status, 0);
    while (reaped < 0 && errno == EINTR);
    *process = (struct process){.socket = -1, .bell = -1};
    return reaped < 0 ? -1 : status;
}
