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

#include "core/files/absolute_path.h"
#include "core/sanitizer.h"

/* A worker starts in another folder than this process: the path must not depend on it. */
static enum doppel_status copy_path(const char *path, char **out, struct doppel_error *error)
{
    char *copy = path[0] == '/' ? strdup(path) : absolute_path(path);
    if (!copy)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    *out = copy;
    return DOPPEL_OK;
}

enum doppel_status process_find_program(const char *wanted, char **out, struct doppel_error *error)
{
    static const char *const places[] = {"doppel-worker", "../libexec/doppel/doppel-worker"};
    static const char *const installed[] = {INSTALLED_WORKERS};
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
    /* Of another program that uses the library. */
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        if (access(installed[i], X_OK) == 0)
            return copy_path(installed[i], out, error);
    return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                       "the program doppel-worker is not beside this one (%s), nor in "
                       "../libexec/doppel, nor where doppel was to be installed (%s): set "
                       "DOPPEL_WORKER to its path",
                       self, installed[0]);
}

/* What a worker gets. */
struct ends {
    int socket, bell, life, progress; /* progress -1: none */
};

/* The socket is descriptor 0; those of process.h follow. Standard output goes nowhere, so that no
 * decoder can write into our results; nothing else is handed on, and no relative path leads to the
 * user's files. */
static int prepare_files(posix_spawn_file_actions_t *files, const struct ends *ends)
{
    int failed = posix_spawn_file_actions_adddup2(files, ends->socket, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(files, ends->bell, PROCESS_BELL);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(files, ends->life, PROCESS_LIFE);
    if (!failed && ends->progress >= 0)
        failed = posix_spawn_file_actions_adddup2(files, ends->progress, PROCESS_PROGRESS);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(
            files, ends->progress >= 0 ? PROCESS_PROGRESS + 1 : PROCESS_LIFE + 1);
    if (!failed)
        failed = posix_spawn_file_actions_addchdir_np(files, "/");
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

/* Variables hold tokens and passwords, and say to libraries what to load: a worker has none but a
 * zone without a file, so that dates without a zone are the same everywhere. A sanitizer is told by
 * variables what to do. */
static char *const *worker_environment(void)
{
#ifdef UNDER_SANITIZER
    extern char **environ;
    return environ;
#else
    static char *const zone[] = {"TZ=UTC0", NULL};
    return zone;
#endif
}

/* 0, or an errno. */
static int spawn(const char *program, const struct ends *ends, pid_t *out)
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
    failed = prepare_files(&files, ends);
    if (!failed)
        failed = prepare_signals(&attributes);
    char name[] = "doppel-worker";
    char *arguments[] = {name, NULL};
    if (!failed)
        failed = posix_spawn(out, program, &files, &attributes, arguments, worker_environment());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static void close_ends(const struct ends *ends)
{
    close(ends->socket);
    close(ends->bell);
    close(ends->life);
    if (ends->progress >= 0)
        close(ends->progress);
}

/* The same file above every descriptor that the child's own are put at; the old one is closed. */
static int lift(int fd)
{
    int above = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, PROCESS_PROGRESS + 1) : -1;
    if (fd >= 0)
        close(fd);
    return above;
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static bool connect_ends(struct process *process, struct ends *ends)
{
    int sockets[2], bell[2], life[2], page;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return false;
    if (pipe2(bell, O_CLOEXEC | O_NONBLOCK)) {
        close_both(sockets);
        return false;
    }
    if (pipe2(life, O_CLOEXEC)) {
        close_both(sockets);
        close_both(bell);
        return false;
    }
    *process = (struct process){.socket = sockets[0],
                                .bell = bell[0],
                                .life = life[1],
                                .progress = progress_page_make(&page)};
    *ends = (struct ends){lift(sockets[1]), lift(bell[1]), lift(life[0]), lift(page)};
    return true;
}

static void process_close(const struct process *process)
{
    close(process->socket);
    close(process->bell);
    close(process->life);
}

enum doppel_status process_start(const char *program, struct process *out,
                                 struct doppel_error *error)
{
    struct process process;
    struct ends ends;
    if (!connect_ends(&process, &ends))
        return doppel_fail(error, DOPPEL_E_IO, "no socket for a worker: %s", strerror(errno));
    bool short_of = ends.socket < 0 || ends.bell < 0 || ends.life < 0;
    int failed = short_of ? EMFILE : spawn(program, &ends, &process.pid);
    close_ends(&ends);
    if (failed) {
        process_close(&process);
        progress_page_free(process.progress);
        bool missing = failed == ENOENT || failed == EACCES || failed == ENOEXEC;
        return doppel_fail(error, missing ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "the program %s cannot be started: %s", program, strerror(failed));
    }
    *out = process;
    return DOPPEL_OK;
}

struct ending process_end(struct process *process)
{
    struct ending ending = {.status = -1};
    process_close(process);
    kill(process->pid, SIGKILL);
    pid_t reaped;
    do
        reaped = waitpid(process->pid, &ending.status, 0);
    while (reaped < 0 && errno == EINTR);
    if (reaped < 0)
        ending.status = -1;
    progress_read_refused(process->progress, ending.refused);
    progress_page_free(process->progress);
    *process = (struct process){.socket = -1, .bell = -1, .life = -1};
    return ending;
}
