/* The SIGBUS handler, and the list of mappings it looks after. */
#include "index/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Never freed, so that the handler can walk the list at any moment; used again instead. */
struct fault_watch {
    _Atomic uintptr_t start; /* 0: free */
    _Atomic uintptr_t end;
    _Atomic bool happened;
    _Atomic bool taken;
    struct fault_watch *next; /* set before it is in the list */
};

/* A signal handler can reach nothing but globals. */
static _Atomic(struct fault_watch *) watches;
static struct sigaction previous;
static uintptr_t page_bytes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct fault_watch *watch_of(uintptr_t address)
{
    for (struct fault_watch *watch = atomic_load(&watches); watch; watch = watch->next) {
        uintptr_t start = atomic_load(&watch->start);
        /* An entry that changes meanwhile is none of the faulting thread, which keeps its own. */
        if (start && address >= start && address < atomic_load(&watch->end) &&
            atomic_load(&watch->start) == start)
            return watch;
    }
    return NULL;
}

/* Let the signal do what it would have done without us. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal_number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal_number);
    } else if (info->si_code > 0 || previous.sa_handler == SIG_DFL) {
        struct sigaction by_default = {.sa_handler = SIG_DFL};
        sigaction(signal_number, &by_default, NULL);
        if (info->si_code <= 0) /* sent by someone: a fault comes again by itself */
            raise(signal_number);
    }
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    struct fault_watch *watch = info->si_code > 0 ? watch_of(address) : NULL;
    if (watch) {
        atomic_store(&watch->happened, true);
        if (mmap((void *)(address & ~(page_bytes - 1)), page_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
            return;
    }
    pass_on(signal_number, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGBUS, NULL, &previous);
    sigaction(SIGBUS, &action, NULL);
}

static struct fault_watch *take_fault(void)
{
    for (struct fault_watch *watch = atomic_load(&watches); watch; watch = watch->next)
        if (!atomic_exchange(&watch->taken, true))
            return watch;
    struct fault_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    atomic_store(&watch->taken, true);
    watch->next = atomic_load(&watches);
    while (!atomic_compare_exchange_weak(&watches, &watch->next, watch))
        ;
    return watch;
}

struct fault_watch *fault_watch(const void *start, size_t bytes)
{
    pthread_once(&once, install);
    struct fault_watch *watch = take_fault();
    if (!watch)
        return NULL;
    atomic_store(&watch->happened, false);
    atomic_store(&watch->end, (uintptr_t)start + bytes);
    atomic_store(&watch->start, (uintptr_t)start);
    return watch;
}

void fault_unwatch(struct fault_watch *watch)
{
    if (!watch)
        return;
    atomic_store(&watch->start, 0);
    atomic_store(&watch->taken, false);
}

bool fault_happened(const struct fault_watch *watch)
{
    return atomic_load_explicit(&watch->happened, memory_order_relaxed);
}
