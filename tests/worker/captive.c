/*
 * A decoder that somebody took over: a worker in its sandbox. The number in each file says which of
 * the attempts it makes (captive.h); it answers DOPPEL_E_CORRUPT if that got through, and
 * DOPPEL_E_UNSUPPORTED, with the reason, if not. Most attempts end it.
 */
#include "captive.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sys/ipc.h>
#include <netinet/in.h>

#include "worker/bell.h"
#include "worker/confine.h"
#include "worker/process.h"
#include "worker/sandbox.h"

enum { SOCKET = STDIN_FILENO };

static int file_fd; /* that it was given */
static struct progress_page *page;
static char room[4096];
static pid_t parent;

/* Calls that newer machines do not have. */
#ifndef SYS_open
#define SYS_open 100000
#define SYS_creat 100000
#define SYS_stat 100000
#define SYS_readlink 100000
#define SYS_fork 100000
#endif

/* ---- files ---- */

#define ATTEMPT(name, expression)                                                                  \
    static long name(void)                                                                         \
    {                                                                                              \
        return (long)(expression);                                                                 \
    }

static const struct open_how read_only = {.flags = O_RDONLY};
static char empty[1];
static char *no_words[] = {NULL};
static char *words[] = {(char *)"/bin/true", NULL};

ATTEMPT(try_open, syscall(SYS_open, "/etc/passwd", O_RDONLY))
ATTEMPT(try_openat, syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY))
ATTEMPT(try_openat_beside, syscall(SYS_openat, file_fd, "..", O_RDONLY))
ATTEMPT(try_openat2, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &read_only, sizeof read_only))
ATTEMPT(try_creat, syscall(SYS_creat, "/tmp/doppel-captive", 0600))
ATTEMPT(try_open_path, open("/", O_PATH))
ATTEMPT(try_open_temporary, open("/tmp", O_TMPFILE | O_WRONLY, 0600))
ATTEMPT(try_open_by_handle, syscall(SYS_open_by_handle_at, AT_FDCWD, room, O_RDONLY))
ATTEMPT(try_open_own_memory, open("/proc/self/mem", O_RDWR))
ATTEMPT(try_open_parent_memory, open("/proc/1/mem", O_RDWR))
ATTEMPT(try_open_own_file_again, open("/proc/self/fd/0", O_RDWR))
ATTEMPT(try_stat, syscall(SYS_stat, "/etc/passwd", room))
ATTEMPT(try_fstatat, syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", room, 0))
ATTEMPT(try_statx, syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, 0xfff, room))
ATTEMPT(try_access, syscall(SYS_faccessat, AT_FDCWD, "/etc/passwd", R_OK))
ATTEMPT(try_readlink, syscall(SYS_readlink, "/proc/self/exe", room, sizeof room))
ATTEMPT(try_getdents, syscall(SYS_getdents64, file_fd, room, sizeof room))
ATTEMPT(try_getcwd, syscall(SYS_getcwd, room, sizeof room))
ATTEMPT(try_chdir, syscall(SYS_chdir, "/tmp"))
ATTEMPT(try_chroot, syscall(SYS_chroot, "/tmp"))
ATTEMPT(try_mkdir, syscall(SYS_mkdirat, AT_FDCWD, "/tmp/doppel-captive", 0700))
ATTEMPT(try_unlink, syscall(SYS_unlinkat, AT_FDCWD, "/tmp/doppel-captive", 0))
ATTEMPT(try_rename, syscall(SYS_renameat2, AT_FDCWD, "/tmp/a", AT_FDCWD, "/tmp/b", 0))
ATTEMPT(try_link, syscall(SYS_linkat, AT_FDCWD, "/etc/passwd", AT_FDCWD, "/tmp/b", 0))
ATTEMPT(try_symlink, syscall(SYS_symlinkat, "/etc/passwd", AT_FDCWD, "/tmp/b"))
ATTEMPT(try_mount, syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, NULL))
ATTEMPT(try_fsopen, syscall(SYS_fsopen, "tmpfs", 0))
ATTEMPT(try_watch, syscall(SYS_inotify_init1, 0))

/* ---- descriptors that it has ---- */

ATTEMPT(try_write_file, write(file_fd, "x", 1))
ATTEMPT(try_pwrite_file, pwrite(file_fd, "x", 1, 0))
ATTEMPT(try_truncate_file, ftruncate(file_fd, 0))
ATTEMPT(try_allocate_file, syscall(SYS_fallocate, file_fd, 0, 0, 10))
ATTEMPT(try_chmod_file, fchmod(file_fd, 0777))
ATTEMPT(try_chown_file, fchown(file_fd, 1, 1))
ATTEMPT(try_lock_file, syscall(SYS_flock, file_fd, 2))
ATTEMPT(try_lease_file, fcntl(file_fd, F_SETLEASE, F_RDLCK))
ATTEMPT(try_seal_file, fcntl(file_fd, F_ADD_SEALS, F_SEAL_WRITE))
ATTEMPT(try_ioctl_file, syscall(SYS_ioctl, file_fd, 0x5421 /* FIONBIO */, room))
ATTEMPT(try_share_file,
        mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file_fd, 0) == MAP_FAILED ? -1 : 0)
ATTEMPT(try_write_output, write(STDOUT_FILENO, "x", 1))
ATTEMPT(try_write_socket, write(SOCKET, "x", 1))
ATTEMPT(try_duplicate, dup(SOCKET))
ATTEMPT(try_send_elsewhere, send(file_fd, "x", 1, 0))
ATTEMPT(try_splice, syscall(SYS_splice, file_fd, NULL, PROCESS_BELL, NULL, 1, 0))
ATTEMPT(try_sendfile, syscall(SYS_sendfile, STDERR_FILENO, file_fd, NULL, 1))

/* ---- code ---- */

ATTEMPT(try_run_page, mprotect((void *)((uintptr_t)page & ~UINT64_C(4095)), 1, PROT_EXEC))
ATTEMPT(try_map_page,
        mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_SHARED, PROCESS_PROGRESS, 0) == MAP_FAILED ? -1
                                                                                            : 0)
ATTEMPT(try_map_code, mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0) == MAP_FAILED
                          ? -1
                          : 0)
ATTEMPT(try_map_file_code,
        mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_fd, 0) == MAP_FAILED ? -1 : 0)
ATTEMPT(try_key_protect, syscall(SYS_pkey_mprotect, page, 1, PROT_EXEC, -1))
ATTEMPT(try_execve, execve("/bin/true", words, no_words))
ATTEMPT(try_execveat, syscall(SYS_execveat, file_fd, empty, no_words, no_words, AT_EMPTY_PATH))
ATTEMPT(try_persona, syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */))

/* ---- processes ---- */

/* Where it gets through, the child ends at once. */
static long end_child(long process)
{
    if (process == 0)
        _exit(0);
    return process;
}

ATTEMPT(try_fork, end_child(syscall(SYS_fork)))
ATTEMPT(try_vfork, end_child(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0)))
ATTEMPT(try_clone_process, end_child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))
ATTEMPT(try_clone3, syscall(SYS_clone3, room, 64))
ATTEMPT(try_new_user, syscall(SYS_unshare, CLONE_NEWUSER))
ATTEMPT(try_enter_space, syscall(SYS_setns, file_fd, 0))
ATTEMPT(try_kill_parent, kill(parent, 0))
ATTEMPT(try_kill_group, syscall(SYS_kill, 0, 0))
ATTEMPT(try_kill_thread, syscall(SYS_tgkill, parent, parent, 0))
ATTEMPT(try_tkill, syscall(SYS_tkill, parent, 0))
ATTEMPT(try_queue_signal, syscall(SYS_rt_sigqueueinfo, parent, SIGUSR1, room))
ATTEMPT(try_pidfd, syscall(SYS_pidfd_open, parent, 0))
ATTEMPT(try_own_by_signal, fcntl(PROCESS_LIFE, F_SETOWN, parent))
ATTEMPT(try_ptrace, syscall(SYS_ptrace, PTRACE_ATTACH, parent, 0, 0))
ATTEMPT(try_be_traced, syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0))
ATTEMPT(try_read_process, syscall(SYS_process_vm_readv, parent, room, 1, room, 1, 0))
ATTEMPT(try_write_process, syscall(SYS_process_vm_writev, parent, room, 1, room, 1, 0))
ATTEMPT(try_compare_process, syscall(SYS_kcmp, parent, parent, 0, 0, 0))
ATTEMPT(try_priority, setpriority(PRIO_PROCESS, 0, 1))
ATTEMPT(try_limit, syscall(SYS_prlimit64, 0, RLIMIT_CORE, room, NULL))
ATTEMPT(try_limit_parent, syscall(SYS_prlimit64, parent, RLIMIT_CORE, NULL, room))
ATTEMPT(try_dumpable, prctl(PR_SET_DUMPABLE, 1))
ATTEMPT(try_other_handler, syscall(SYS_rt_sigaction, SIGSYS, room, NULL, 8))
ATTEMPT(try_another_filter, syscall(SYS_seccomp, 1, 0, room))
ATTEMPT(try_set_user, syscall(SYS_setuid, 0))
ATTEMPT(try_capabilities, syscall(SYS_capset, room, room))
ATTEMPT(try_reboot, syscall(SYS_reboot, 0, 0, 0, 0))

/* ---- sockets ---- */

ATTEMPT(try_socket_unix, socket(AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(try_socket_tcp, socket(AF_INET, SOCK_STREAM, 0))
ATTEMPT(try_socket_udp, socket(AF_INET, SOCK_DGRAM, 0))
ATTEMPT(try_socket_tcp6, socket(AF_INET6, SOCK_STREAM, 0))
ATTEMPT(try_socket_raw, socket(AF_INET, SOCK_RAW, 1))
ATTEMPT(try_socket_packet, socket(AF_PACKET, SOCK_RAW, 0))
ATTEMPT(try_socket_netlink, socket(AF_NETLINK, SOCK_RAW, 0))
ATTEMPT(try_socket_crypto, socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0))
ATTEMPT(try_socket_host, socket(40 /* AF_VSOCK */, SOCK_STREAM, 0))
ATTEMPT(try_socketpair, syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, room))
ATTEMPT(try_connect, syscall(SYS_connect, SOCKET, room, 2))
ATTEMPT(try_bind, syscall(SYS_bind, SOCKET, room, 2))
ATTEMPT(try_accept, syscall(SYS_accept, SOCKET, NULL, NULL))
ATTEMPT(try_socket_option, setsockopt(SOCKET, SOL_SOCKET, SO_PASSCRED, room, 4))

/* ---- what else a kernel offers ---- */

ATTEMPT(try_keyctl, syscall(SYS_keyctl, 0, -3, 1))
ATTEMPT(try_add_key, syscall(SYS_add_key, "user", "captive", "x", 1, -3))
ATTEMPT(try_io_uring, syscall(SYS_io_uring_setup, 4, room))
ATTEMPT(try_aio, syscall(SYS_io_setup, 1, room))
ATTEMPT(try_userfaultfd, syscall(SYS_userfaultfd, 1))
ATTEMPT(try_bpf, syscall(SYS_bpf, 0, room, 64))
ATTEMPT(try_perf, syscall(SYS_perf_event_open, room, 0, -1, -1, 0))
ATTEMPT(try_shared_memory, syscall(SYS_shmget, 1, 4096, IPC_CREAT | 0600))
ATTEMPT(try_message_queue, syscall(SYS_msgget, 1, IPC_CREAT | 0600))
ATTEMPT(try_queue_by_name, syscall(SYS_mq_open, "captive", O_CREAT, 0600, NULL))
ATTEMPT(try_module, syscall(SYS_finit_module, file_fd, "", 0))
ATTEMPT(try_kexec, syscall(SYS_kexec_load, 0, 0, NULL, 0))
ATTEMPT(try_clock, syscall(SYS_clock_settime, 0, room))
ATTEMPT(try_timer, syscall(SYS_timer_create, 0, NULL, room))
ATTEMPT(try_alarm, syscall(SYS_setitimer, 0, room, NULL))
ATTEMPT(try_swap, syscall(SYS_swapon, "/tmp/x", 0))
ATTEMPT(try_kernel_log, syscall(SYS_syslog, 3, room, 10))
ATTEMPT(try_secret_memory, syscall(SYS_memfd_secret, 0))
ATTEMPT(try_no_such_call, syscall(100000))

struct attempt {
    const char *name;
    long (*act)(void);
};

/* A name is that of its function. */
#define NAMED(name) {#name, try_##name},

static const struct attempt attempts[] = {CAPTIVE_ATTEMPTS(NAMED)};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

/* ---- the worker ---- */

static void answer(uint64_t serial, enum doppel_status status, const char *sentence)
{
    struct doppel_outcome outcome = {.tag = serial};
    doppel_fail(&outcome.error, status, "%s", sentence);
    answer_send(SOCKET, &outcome);
}

static void obey(const char *word, uint64_t serial)
{
    unsigned long number = strtoul(word, NULL, 10);
    if (number >= ATTEMPTS) {
        answer(serial, DOPPEL_E_NOT_FOUND, "no such attempt");
        return;
    }
    char text[200];
    errno = 0;
    long result = attempts[number].act();
    snprintf(text, sizeof text, "%s: %s", attempts[number].name,
             result >= 0 ? "got through" : strerror(errno));
    answer(serial, result >= 0 ? DOPPEL_E_CORRUPT : DOPPEL_E_UNSUPPORTED, text);
}

int main(void)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES], ready[READY_MOST_BYTES];
    struct worker_limits limits;
    struct worker_order orders[PROTOCOL_BATCH];
    struct bell bell = {.fd = PROCESS_BELL};
    struct doppel_confinement held;
    if (recv(SOCKET, frame, sizeof frame, 0) != (ssize_t)sizeof frame ||
        !hello_read(frame, sizeof frame, &limits) || confine(&limits, NULL))
        return 1;
    parent = getppid();
    page = progress_page_take(PROCESS_PROGRESS);
    if (sandbox_enter((enum doppel_sandbox)limits.sandbox, -1, page, &held, NULL))
        return 2;
    frame_send(SOCKET, ready, ready_write(&held, ready));
    for (size_t count; (count = bell_take_orders(&bell, SOCKET, orders)) > 0;)
        for (size_t i = 0; i < count; i++) {
            char word[64] = "";
            file_fd = orders[i].fd;
            if (pread(file_fd, word, sizeof word - 1, 0) >= 0)
                obey(word, orders[i].serial);
            close(file_fd);
            bell_answered(&bell);
        }
    return 0;
}
