/* Preloaded (LD_PRELOAD): one call of a process fails, is cut short, or is the last one.
 *
 * $FAULT_PROGRAM  the name of the process that is meant; nothing happens to others
 * $FAULT_COUNTS   a file for the numbers of calls, by name: struct slot, one after the other
 * $FAULT          "CALL NUMBER ERRNO": the call of this number (from 1) fails with it;
 *                 "CALL NUMBER+ ERRNO": so do all after it;
 *                 "CALL NUMBER short": half of the bytes;
 *                 "CALL NUMBER kill": SIGKILL before it, of a write after half of it.
 * CALL may be `change`: any call that changes what is on the disk.
 *
 * Calls of libc to itself are not seen: what stdio reads and writes has calls of its own here. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of the second kind are those that change what is on the disk. */
/* clang-format off */
#define CALLS(READS, CHANGES) \
    READS(malloc) READS(calloc) READS(realloc) READS(aligned_alloc) READS(open_memstream) \
    READS(open) READS(openat) READS(fopen) READS(fdopen) READS(opendir) READS(fdopendir) \
    READS(readdir) READS(scandir) READS(dup) READS(pipe2) READS(socketpair) READS(memfd_create) \
    READS(tmpfile) READS(mkostemp) READS(mkdtemp) READS(read) READS(pread) READS(fread) \
    READS(getdelim) READS(fstat) READS(stat) READS(lstat) READS(fstatat) READS(statvfs) \
    READS(lseek) READS(readlink) READS(readlinkat) READS(realpath) READS(getcwd) \
    READS(getrandom) READS(fgetxattr) READS(flistxattr) READS(mmap) READS(mprotect) READS(flock) \
    READS(lock) READS(posix_spawn) READS(pthread_create) READS(waitpid) READS(poll) \
    READS(sendmsg) READS(recvmsg) READS(send) CHANGES(write) CHANGES(pwrite) CHANGES(fwrite) \
    CHANGES(fflush) CHANGES(fclose) CHANGES(close) CHANGES(fsync) CHANGES(fdatasync) \
    CHANGES(ftruncate) CHANGES(posix_fallocate) CHANGES(fallocate) CHANGES(rename) \
    CHANGES(renameat) CHANGES(renameat2) CHANGES(link) CHANGES(linkat) CHANGES(symlinkat) \
    CHANGES(unlink) CHANGES(unlinkat) CHANGES(remove) CHANGES(mkdir) CHANGES(rmdir) \
    CHANGES(fchmod) CHANGES(fchown) CHANGES(futimens) CHANGES(fsetxattr)
/* clang-format on */

#define NAMED(name) CALL_##name,
#define IS_READ(name) {#name, false},
#define IS_CHANGE(name) {#name, true},

enum call { CALLS(NAMED, NAMED) CALL_COUNT };

static const struct {
    const char *name;
    bool changes;
} calls[] = {CALLS(IS_READ, IS_CHANGE)};

struct slot {
    char name[24];
    atomic_uint_least64_t count;
};

static struct slot *slots; /* of each call; the last: of all that change something */

static struct {
    int call; /* CALL_COUNT: of all that change something */
    uint64_t number;
    bool stays, cuts, kills;
    int reason; /* errno */
} fault;

/* clang-format off */
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
/* clang-format on */

static void read_fault(const char *text)
{
    char name[24], number[24], how[24];
    if (!text || sscanf(text, "%23s %23s %23s", name, number, how) != 3)
        return;
    fault.call = CALL_COUNT;
    for (int i = 0; i < CALL_COUNT; i++)
        if (strcmp(calls[i].name, name) == 0)
            fault.call = i;
    char *end;
    fault.number = strtoull(number, &end, 10);
    fault.stays = *end == '+';
    fault.cuts = strcmp(how, "short") == 0;
    fault.kills = strcmp(how, "kill") == 0;
    fault.reason = atoi(how);
}

__attribute__((constructor)) static void start(void)
{
    const char *program = getenv("FAULT_PROGRAM"), *path = getenv("FAULT_COUNTS");
    const size_t size = sizeof *slots * (CALL_COUNT + 1);
    if (!program || !path || strcmp(program_invocation_short_name, program) != 0)
        return;
    read_fault(getenv("FAULT"));
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size))
        abort();
    struct slot *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (made == MAP_FAILED)
        abort();
    for (int i = 0; i < CALL_COUNT; i++)
        strcpy(made[i].name, calls[i].name);
    strcpy(made[CALL_COUNT].name, "change");
    slots = made;
}

static bool is_struck(int call)
{
    uint64_t number = atomic_fetch_add(&slots[call].count, 1) + 1;
    return fault.number && call == fault.call &&
           (fault.stays ? number >= fault.number : number == fault.number);
}

enum strike { PASSES, FAILS, CUT };

/* `fd` is what a call writes to, if it does: not the terminal. */
static enum strike strike_at(enum call call, int fd)
{
    if (!slots || fd == STDERR_FILENO)
        return PASSES;
    bool struck = is_struck(call);
    struck |= calls[call].changes && fd != STDOUT_FILENO && is_struck(CALL_COUNT);
    if (!struck)
        return PASSES;
    if (fault.cuts)
        return CUT;
    if (fault.kills && call != CALL_write && call != CALL_pwrite)
        kill(getpid(), SIGKILL);
    errno = fault.reason;
    return fault.kills ? CUT : FAILS;
}

static enum strike strike(enum call call)
{
    return strike_at(call, -1);
}

static bool fails(enum call call)
{
    return strike(call) == FAILS;
}

/* After half of a write. */
static void die_if_killed(void)
{
    if (fault.kills)
        kill(getpid(), SIGKILL);
}

/* `failed` is what the caller gets. */
#define FAILING(type, failed, name, parameters, arguments)                                         \
    type name parameters                                                                           \
    {                                                                                              \
        return fails(CALL_##name) ? (failed) : REAL(name) arguments;                               \
    }

#if __has_attribute(copy)
#define LIKE(name) __attribute__((copy(name)))
#else
#define LIKE(name)
#endif

/* The same under the name that programs with 64-bit offsets use. */
#define ALSO(name, other)                                                                          \
    extern __typeof__(name) also_##other __asm__(#other) LIKE(name) __attribute__((alias(#name)));

/* ---- memory ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

/* Where AddressSanitizer is a library of its own (-shared-libasan), memory is the sanitizer's. */
extern void *__interceptor_malloc(size_t size) __attribute__((weak));
extern void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));

void *malloc(size_t size)
{
    if (fails(CALL_malloc))
        return NULL;
    return __interceptor_malloc ? __interceptor_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (fails(CALL_calloc))
        return NULL;
    return __interceptor_calloc ? __interceptor_calloc(count, size) : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    if (fails(CALL_realloc))
        return NULL;
    return __interceptor_realloc ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
}

FAILING(void *, NULL, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FAILING(FILE *, NULL, open_memstream, (char **text, size_t *size), (text, size))
FAILING(void *, MAP_FAILED, mmap,
        (void *at, size_t size, int rights, int flags, int fd, off_t from),
        (at, size, rights, flags, fd, from))
ALSO(mmap, mmap64)
FAILING(int, -1, mprotect, (void *at, size_t size, int rights), (at, size, rights))

/* ---- opening ---- */

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(CALL_open) ? -1 : REAL(open)(path, flags, mode);
}
ALSO(open, open64)

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(CALL_openat) ? -1 : REAL(openat)(folder, path, flags, mode);
}
ALSO(openat, openat64)

/* What _FORTIFY_SOURCE makes of them. */
int __open64_2(const char *path, int flags)
{
    return open(path, flags);
}

int __openat64_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}

FAILING(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
ALSO(fopen, fopen64)
FAILING(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
FAILING(DIR *, NULL, opendir, (const char *path), (path))
FAILING(DIR *, NULL, fdopendir, (int fd), (fd))
FAILING(struct dirent *, NULL, readdir, (DIR * folder), (folder))
ALSO(readdir, readdir64)
FAILING(int, -1, scandir,
        (const char *path, struct dirent ***names, int (*wanted)(const struct dirent *),
         int (*order)(const struct dirent **, const struct dirent **)),
        (path, names, wanted, order))
ALSO(scandir, scandir64)
FAILING(int, -1, dup, (int fd), (fd))
FAILING(int, -1, pipe2, (int ends[2], int flags), (ends, flags))
FAILING(int, -1, socketpair, (int family, int type, int protocol, int ends[2]),
        (family, type, protocol, ends))
FAILING(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
FAILING(FILE *, NULL, tmpfile, (void), ())
ALSO(tmpfile, tmpfile64)
FAILING(int, -1, mkostemp, (char *name, int flags), (name, flags))
ALSO(mkostemp, mkostemp64)
FAILING(char *, NULL, mkdtemp, (char *name), (name))

/* ---- reading ---- */

static size_t half(size_t size)
{
    return size > 1 ? size / 2 : size;
}

ssize_t read(int fd, void *out, size_t size)
{
    enum strike struck = strike(CALL_read);
    return struck == FAILS ? -1 : REAL(read)(fd, out, struck == CUT ? half(size) : size);
}

ssize_t pread(int fd, void *out, size_t size, off_t from)
{
    enum strike struck = strike(CALL_pread);
    return struck == FAILS ? -1 : REAL(pread)(fd, out, struck == CUT ? half(size) : size, from);
}
ALSO(pread, pread64)

ssize_t __pread64_chk(int fd, void *out, size_t size, off_t from, size_t room)
{
    return size > room ? (abort(), 0) : pread(fd, out, size, from);
}

/* As stdio does when what it calls fails; _IO_ERR_SEEN of glibc. */
static void set_error(FILE *stream)
{
    stream->_flags |= 0x20;
}

size_t fread(void *out, size_t size, size_t count, FILE *stream)
{
    if (!fails(CALL_fread))
        return REAL(fread)(out, size, count, stream);
    set_error(stream);
    return 0;
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *stream)
{
    if (!fails(CALL_getdelim))
        return REAL(getdelim)(line, room, end, stream);
    set_error(stream);
    return -1;
}
ALSO(getdelim, __getdelim)

ssize_t getline(char **line, size_t *room, FILE *stream)
{
    return getdelim(line, room, '\n', stream);
}

FAILING(int, -1, fstat, (int fd, struct stat *out), (fd, out))
ALSO(fstat, fstat64)
FAILING(int, -1, stat, (const char *path, struct stat *out), (path, out))
ALSO(stat, stat64)
FAILING(int, -1, lstat, (const char *path, struct stat *out), (path, out))
ALSO(lstat, lstat64)
FAILING(int, -1, fstatat, (int folder, const char *path, struct stat *out, int flags),
        (folder, path, out, flags))
ALSO(fstatat, fstatat64)
FAILING(int, -1, statvfs, (const char *path, struct statvfs *out), (path, out))
ALSO(statvfs, statvfs64)
FAILING(off_t, -1, lseek, (int fd, off_t offset, int from), (fd, offset, from))
ALSO(lseek, lseek64)
FAILING(ssize_t, -1, readlink, (const char *path, char *out, size_t size), (path, out, size))
FAILING(ssize_t, -1, readlinkat, (int folder, const char *path, char *out, size_t size),
        (folder, path, out, size))
FAILING(char *, NULL, realpath, (const char *path, char *out), (path, out))
FAILING(char *, NULL, getcwd, (char *out, size_t size), (out, size))
FAILING(ssize_t, -1, getrandom, (void *out, size_t size, unsigned flags), (out, size, flags))
FAILING(ssize_t, -1, fgetxattr, (int fd, const char *name, void *out, size_t size),
        (fd, name, out, size))
FAILING(ssize_t, -1, flistxattr, (int fd, char *out, size_t size), (fd, out, size))

/* ---- writing ---- */

ssize_t write(int fd, const void *bytes, size_t size)
{
    enum strike struck = strike_at(CALL_write, fd);
    ssize_t written =
        struck == FAILS ? -1 : REAL(write)(fd, bytes, struck == CUT ? half(size) : size);
    if (struck == CUT)
        die_if_killed();
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    enum strike struck = strike_at(CALL_pwrite, fd);
    ssize_t written =
        struck == FAILS ? -1 : REAL(pwrite)(fd, bytes, struck == CUT ? half(size) : size, at);
    if (struck == CUT)
        die_if_killed();
    return written;
}
ALSO(pwrite, pwrite64)

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    if (strike_at(CALL_fwrite, fileno(stream)) != FAILS)
        return REAL(fwrite)(bytes, size, count, stream);
    set_error(stream);
    return 0;
}

int fflush(FILE *stream)
{
    if (!stream || strike_at(CALL_fflush, fileno(stream)) != FAILS)
        return REAL(fflush)(stream);
    set_error(stream);
    return EOF;
}

/* The descriptor goes, and what was written may be lost. */
int fclose(FILE *stream)
{
    bool failed = strike_at(CALL_fclose, fileno(stream)) == FAILS;
    int reason = errno, result = REAL(fclose)(stream);
    if (!failed)
        return result;
    errno = reason;
    return EOF;
}

int close(int fd)
{
    bool failed = strike_at(CALL_close, fd) == FAILS;
    int reason = errno, result = REAL(close)(fd);
    if (!failed)
        return result;
    errno = reason;
    return -1;
}

FAILING(int, -1, fsync, (int fd), (fd))
FAILING(int, -1, fdatasync, (int fd), (fd))
FAILING(int, -1, ftruncate, (int fd, off_t size), (fd, size))
ALSO(ftruncate, ftruncate64)
FAILING(int, errno, posix_fallocate, (int fd, off_t from, off_t size), (fd, from, size))
ALSO(posix_fallocate, posix_fallocate64)
FAILING(int, -1, fallocate, (int fd, int mode, off_t from, off_t size), (fd, mode, from, size))
ALSO(fallocate, fallocate64)

/* ---- names ---- */

FAILING(int, -1, rename, (const char *from, const char *to), (from, to))
FAILING(int, -1, renameat, (int from_folder, const char *from, int to_folder, const char *to),
        (from_folder, from, to_folder, to))
FAILING(int, -1, renameat2,
        (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
        (from_folder, from, to_folder, to, flags))
FAILING(int, -1, link, (const char *from, const char *to), (from, to))
FAILING(int, -1, linkat,
        (int from_folder, const char *from, int to_folder, const char *to, int flags),
        (from_folder, from, to_folder, to, flags))
FAILING(int, -1, symlinkat, (const char *target, int folder, const char *path),
        (target, folder, path))
FAILING(int, -1, unlink, (const char *path), (path))
FAILING(int, -1, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
FAILING(int, -1, remove, (const char *path), (path))
FAILING(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, -1, rmdir, (const char *path), (path))
FAILING(int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(int, -1, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
FAILING(int, -1, futimens, (int fd, const struct timespec times[2]), (fd, times))
FAILING(int, -1, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
        (fd, name, value, size, flags))

/* ---- locks, processes, threads, sockets ---- */

FAILING(int, -1, flock, (int fd, int how), (fd, how))

/* Of fcntl() the locks, which are SQLite's. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    bool locks = command == F_SETLK || command == F_SETLKW;
    return locks && fails(CALL_lock) ? -1 : REAL(fcntl)(fd, command, argument);
}
ALSO(fcntl, fcntl64)

FAILING(int, errno, posix_spawn,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
        (pid, path, actions, attributes, arguments, environment))
FAILING(int, errno, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*body)(void *),
         void *context),
        (thread, attributes, body, context))
FAILING(pid_t, -1, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
FAILING(int, -1, poll, (struct pollfd * descriptors, nfds_t count, int ms),
        (descriptors, count, ms))
FAILING(ssize_t, -1, sendmsg, (int fd, const struct msghdr *message, int flags),
        (fd, message, flags))
FAILING(ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
FAILING(ssize_t, -1, send, (int fd, const void *bytes, size_t size, int flags),
        (fd, bytes, size, flags))
