/* The system calls of a worker: those that decoding and answering need, by what was seen of all
 * formats; on any other the process ends (seccomp, by libseccomp).
 *
 * A refused call comes back as SIGSYS, whose handler notes the call's name for the parent, and ends
 * the process. Nobody can put another handler in its place, as that takes a system call. */
#include "worker/sandbox.h"

#include "worker/progress.h"
#include "core/sanitizer.h"

#ifndef HAVE_SECCOMP

bool filter_system_calls(struct progress_page *page)
{
    (void)page;
    return false;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "worker/process.h"

/* ---- what is allowed ---- */

static const int free_calls[] = {
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    /* the file in hand, and a long answer */
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(close),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(memfd_create),
    SCMP_SYS(pwrite64),
    /* threads */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    /* clocks, chance, and how much memory there is, for which qsort asks */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
#ifdef UNDER_SANITIZER
    /* A report, and the search for leaks at the end: reads the map of memory, runs the program that
     * knows names of functions, stops the other threads by a process that traces this one. */
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(access),
    SCMP_SYS(stat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(getdents64),
    SCMP_SYS(ioctl),
    SCMP_SYS(fcntl),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(clone),
    SCMP_SYS(fork),
    SCMP_SYS(execve),
    SCMP_SYS(wait4),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(dup2),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(prctl),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(prlimit64),
    SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getcwd),
    SCMP_SYS(uname),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(tgkill),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
#endif
};

/* What libraries try that look for fonts, or for tables of characters: they go on without. Nothing
 * is behind it: paths are Landlock's to refuse as well. */
static const int refused_calls[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(stat), SCMP_SYS(lstat),  SCMP_SYS(statx),  SCMP_SYS(readlink),  SCMP_SYS(readlinkat),
};

/* Calls with arguments that make the difference. */
struct bounded_call {
    int call;
    unsigned arguments;
    struct scmp_arg_cmp argument[2];
};

/* A thread of this process, in the name spaces of this process. */
static const scmp_datum_t other_spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                         CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

static bool allow_bounded(scmp_filter_ctx filter)
{
    const struct bounded_call calls[] = {
        /* The parent at the socket, its bell, and standard error, which is /dev/null: nowhere else.
         * What goes into a file in memory is written at an offset, and then sealed. */
        {SCMP_SYS(recvfrom), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDIN_FILENO)}},
        {SCMP_SYS(recvmsg), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDIN_FILENO)}},
        {SCMP_SYS(sendto), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDIN_FILENO)}},
        {SCMP_SYS(sendmsg), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDIN_FILENO)}},
        {SCMP_SYS(write), 1, {SCMP_A0_64(SCMP_CMP_EQ, PROCESS_BELL)}},
        {SCMP_SYS(write), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDERR_FILENO)}},
        {SCMP_SYS(writev), 1, {SCMP_A0_64(SCMP_CMP_EQ, STDERR_FILENO)}},
        {SCMP_SYS(fcntl), 1, {SCMP_A1_64(SCMP_CMP_EQ, F_ADD_SEALS)}},
        {SCMP_SYS(fcntl), 1, {SCMP_A1_64(SCMP_CMP_EQ, F_SETFD)}}, /* FreeType, of a font */
        /* Nothing becomes code. */
        {SCMP_SYS(mmap), 1, {SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
        {SCMP_SYS(mprotect), 1, {SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
        {SCMP_SYS(clone),
         1,
         {SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD | other_spaces, CLONE_THREAD)}},
        {SCMP_SYS(prctl), 1, {SCMP_A0_64(SCMP_CMP_EQ, PR_SET_NAME)}},
#if !defined(__x86_64__) && !defined(__aarch64__)
        /* A path beside the flag would be heeded: answer_fstat does without, where it can. */
        {SCMP_SYS(newfstatat), 1, {SCMP_A3_64(SCMP_CMP_EQ, AT_EMPTY_PATH)}},
#endif
        /* Its own limits, to be read. */
        {SCMP_SYS(prlimit64), 2, {SCMP_A0_64(SCMP_CMP_EQ, 0), SCMP_A2_64(SCMP_CMP_EQ, 0)}},
        /* abort() */
        {SCMP_SYS(tgkill), 1, {SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t)getpid())}},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls[i].call, calls[i].arguments,
                                   calls[i].argument))
            return false;
    return true;
}

static bool allow_all(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < sizeof free_calls / sizeof *free_calls; i++)
        if (free_calls[i] >= 0 && seccomp_rule_add(filter, SCMP_ACT_ALLOW, free_calls[i], 0))
            return false;
#ifndef UNDER_SANITIZER
    for (size_t i = 0; i < sizeof refused_calls / sizeof *refused_calls; i++)
        if (refused_calls[i] >= 0 &&
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused_calls[i], 0))
            return false;
#endif
    /* Its arguments lie in memory, where a filter does not look: the C library takes clone then. */
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0))
        return false;
    return allow_bounded(filter);
}

/* ---- what is refused ---- */

enum { MOST_CALLS = 512 };

/* For the handler, which cannot look them up. */
static char names[MOST_CALLS][PROGRESS_NAME_BYTES];
static struct progress_page *noted_in;

static void learn_names(void)
{
    for (int i = 0; i < MOST_CALLS; i++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
        snprintf(names[i], sizeof names[i], "%s", name ? name : "");
        free(name);
    }
}

/* C libraries ask for a file's size by a call that takes a path as well, which is empty then, and
 * which the filter cannot see: it is answered here, of the descriptor alone. With a path it is one
 * of those that are refused. */
static bool answer_fstat(const siginfo_t *refused, ucontext_t *context)
{
#if defined(__x86_64__)
    greg_t *registers = context->uc_mcontext.gregs;
    if (refused->si_syscall != SYS_newfstatat)
        return false;
    long result = -1;
    errno = EACCES;
    if (registers[REG_R10] == AT_EMPTY_PATH)
        result = syscall(SYS_fstat, (int)registers[REG_RDI], registers[REG_RDX]);
    registers[REG_RAX] = result ? -errno : 0;
    return true;
#elif defined(__aarch64__)
    unsigned long long *registers = context->uc_mcontext.regs;
    if (refused->si_syscall != SYS_newfstatat)
        return false;
    long result = -1;
    errno = EACCES;
    if (registers[3] == AT_EMPTY_PATH)
        result = syscall(SYS_fstat, (int)registers[0], registers[2]);
    registers[0] = (unsigned long long)(result ? -errno : 0);
    return true;
#else
    (void)refused;
    (void)context;
    return false;
#endif
}

static void refuse_call(int number, siginfo_t *refused, void *context)
{
    int reason = errno;
    (void)number;
    if (answer_fstat(refused, context)) {
        errno = reason;
        return;
    }
    int call = refused->si_syscall;
    if (noted_in && call >= 0 && call < MOST_CALLS)
        memcpy(noted_in->refused, names[call], sizeof noted_in->refused);
    /* Not allowed either, and SIGSYS is blocked here: the kernel ends the process, by SIGSYS. */
    kill(getpid(), SIGSYS);
    _exit(1);
}

static bool handle_refusals(struct progress_page *page)
{
    struct sigaction action = {.sa_sigaction = refuse_call, .sa_flags = SA_SIGINFO};
    noted_in = page;
    learn_names();
    return sigaction(SIGSYS, &action, NULL) == 0;
}

/* ---- the filter ---- */

static void *end_at_once(void *context)
{
    return context;
}

/* With its first thread a process gets a handler from the C library, for which decoders of HEIC and
 * AVIF would ask too late. The stack is kept, and counts as memory: a small one. */
static void start_first_thread(void)
{
    pthread_attr_t small;
    pthread_t thread;
    if (pthread_attr_init(&small))
        return;
    if (pthread_attr_setstacksize(&small, 256 << 10) == 0 &&
        pthread_create(&thread, &small, end_at_once, NULL) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}

bool filter_system_calls(struct progress_page *page)
{
    start_first_thread();
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    bool held = filter && handle_refusals(page) &&
                seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
                seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && allow_all(filter) &&
                seccomp_load(filter) == 0;
    seccomp_release(filter);
    return held;
}

#endif
