/* Starts doppel in a sandbox, collects what it prints, and looks at its workers. */
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- sandbox ---- */

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

static int open_up(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)walk;
    return type == FTW_D && !S_ISLNK(stat->st_mode) ? chmod(path, 0700) : 0;
}

int sandbox_enter(void **state)
{
    char *folder = strdup("/tmp/doppel-test-XXXXXX");
    *state = folder;
    if (!folder || !mkdtemp(folder) || chmod(folder, 0755) || chdir(folder))
        return -1;
    char home[64];
    snprintf(home, sizeof home, "%s/home", folder);
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_DATA_HOME");
    unsetenv("DOPPEL_LIBRARY");
    setenv("LC_ALL", "C.UTF-8", 1);
    if (mkdir("home", 0777) || chmod("home", 0777) || mkdir("work", 0755))
        return -1;
    return chdir("work");
}

int sandbox_leave(void **state)
{
    char *folder = *state;
    if (chdir("/") == 0 && folder) {
        nftw(folder, open_up, 16, FTW_PHYS);
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    free(folder);
    return 0;
}

/* ---- running ---- */

double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void pause_ms(unsigned milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static int scratch_file(void)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static int input_file(const struct setting *setting)
{
    if (!setting->input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = scratch_file();
    size_t size = setting->input_size ? setting->input_size : strlen(setting->input);
    assert_int_equal(write(fd, setting->input, size), size);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int unread_pipe(void)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    return ends[1];
}

/* Root without the right to pass over the modes of files. (Another user might not reach doppel.) */
static void give_up_power(void)
{
    if (geteuid() == 0 && (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) ||
                           prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0)))
        _exit(125);
}

/* In the child, between fork and exec. */
static void exec_command(const struct setting *setting, const char *const *words, int in, int out,
                         int err)
{
    const char *arguments[MAX_ARGUMENTS + 2];
    const char *program = setting->program ? setting->program : DOPPEL_PROGRAM;
    size_t count = 0;
    arguments[count++] = program;
    while (*words && count <= MAX_ARGUMENTS)
        arguments[count++] = *words++;
    arguments[count] = NULL;
    for (size_t i = 0; i < 4 && setting->environment[i]; i++)
        putenv((char *)setting->environment[i]);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (setting->powerless)
        give_up_power();
    execv(program, (char *const *)arguments);
    _exit(126);
}

struct running command_start(const struct setting *setting, const char *const *words)
{
    static const struct setting usual = {0};
    if (!setting)
        setting = &usual;
    struct running running = {.out = scratch_file(), .err = scratch_file(), .began = now_seconds()};
    int in = input_file(setting);
    int out = setting->closed_pipe ? unread_pipe() : running.out;
    fflush(stdout); /* else the child would print it again */
    running.pid = fork();
    assert_true(running.pid >= 0);
    if (running.pid == 0)
        exec_command(setting, words, in, out, running.err);
    close(in);
    if (out != running.out)
        close(out);
    return running;
}

static char *read_all(int fd, size_t *out_size)
{
    struct stat stat;
    assert_int_equal(fstat(fd, &stat), 0);
    char *data = malloc((size_t)stat.st_size + 1);
    assert_non_null(data);
    size_t size = 0;
    for (ssize_t got; (got = pread(fd, data + size, (size_t)stat.st_size - size, (off_t)size)) > 0;)
        size += (size_t)got;
    data[size] = 0;
    *out_size = size;
    close(fd);
    return data;
}

bool command_ended(struct running *running, struct ran *out)
{
    int status;
    pid_t pid = waitpid(running->pid, &status, WNOHANG);
    assert_true(pid >= 0);
    if (pid == 0)
        return false;
    out->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    out->seconds = now_seconds() - running->began;
    out->out = read_all(running->out, &out->out_size);
    out->err = read_all(running->err, &out->err_size);
    return true;
}

struct ran command_end(struct running *running)
{
    struct ran ran;
    for (unsigned wait = 1; !command_ended(running, &ran); wait = wait < 20 ? wait + 1 : 20) {
        if (now_seconds() - running->began > RUN_SECONDS) {
            kill(running->pid, SIGKILL);
            waitpid(running->pid, NULL, 0);
            fail_msg("doppel hangs");
        }
        pause_ms(wait);
    }
    return ran;
}

struct ran command_run(const struct setting *setting, const char *const *words)
{
    struct running running = command_start(setting, words);
    return command_end(&running);
}

void ran_free(struct ran *ran)
{
    free(ran->out);
    free(ran->err);
    *ran = (struct ran){0};
}

/* ---- expecting ---- */

void command_assert_code(const struct ran *ran, int wanted, const char *file, int line)
{
    if (ran->code == wanted)
        return;
    print_error("exit code %d, not %d\n--- stdout\n%.1500s\n--- stderr\n%.1500s\n", ran->code,
                wanted, ran->out, ran->err);
    _fail(file, line);
}

char *command_output(int code, const char *const *words, const char *file, int line)
{
    struct ran ran = command_run(NULL, words);
    command_assert_code(&ran, code, file, line);
    free(ran.err);
    return ran.out;
}

void command_assert_has(const char *text, const char *part, bool wanted, const char *file, int line)
{
    if ((strstr(text, part) != NULL) == wanted)
        return;
    print_error("%s \"%s\" in:\n%.4000s\n", wanted ? "no" : "unwanted", part, text);
    _fail(file, line);
}

unsigned count_lines(const char *text, const char *part)
{
    unsigned count = 0;
    size_t length = strlen(part);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        count += length == 0 || memmem(text, (size_t)(end - text), part, length) != NULL;
    return count;
}

double number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (!at)
        fail_msg("no \"%s\" in %s", key, json);
    return strtod(at + strlen(quoted), NULL);
}

void assert_number(const char *json, const char *key, double wanted, double tolerance)
{
    double number = number_of(json, key);
    if (!(number >= wanted - tolerance && number <= wanted + tolerance))
        fail_msg("%s is %g, wanted %g, in %s", key, number, wanted, json);
}

bool reported(const char *err, const char *path)
{
    char *start = malloc(strlen(path) + 16);
    assert_non_null(start);
    sprintf(start, "doppel: %s: ", path);
    const char *line = strstr(err, start);
    bool found = line && (line == err || line[-1] == '\n') && line[strlen(start)] >= ' ';
    free(start);
    return found;
}

/* ---- workers ---- */

/* The parent of a process whose name is doppel-worker (of which the kernel keeps 15 letters), else
 * 0. */
static pid_t parent_of_worker(const char *pid)
{
    char path[300], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char *rest = strrchr(text, ')');
    if (strstr(text, "(doppel-worker)") && rest)
        sscanf(rest, ") %*c %d", &parent);
    return parent;
}

size_t workers_of(pid_t parent, pid_t *out, size_t capacity)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    assert_non_null(folder);
    for (struct dirent *entry; count < capacity && (entry = readdir(folder));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            parent_of_worker(entry->d_name) == parent)
            out[count++] = atoi(entry->d_name);
    closedir(folder);
    return count;
}

/* ---- files ---- */

void make_folder(const char *path)
{
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
}

void write_file(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

char *read_file(const char *path, size_t *out_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return read_all(fd, out_size);
}

void copy_part(const char *from, const char *to, size_t size)
{
    size_t all;
    char *data = read_file(from, &all);
    assert_true(size <= all);
    write_file(to, data, size);
    free(data);
}

void copy_file(const char *from, const char *to)
{
    size_t size;
    char *data = read_file(from, &size);
    write_file(to, data, size);
    free(data);
}

/* Source: Marsaglia, "Xorshift RNGs" (2003). */
uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
