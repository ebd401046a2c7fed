/* What a worker lays on itself: no new privileges, no file system, no network, no signals to others
 * (Landlock), the system calls of decoding alone (syscall_filter.c), no descriptors but its own. */
#include "worker/sandbox.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/process.h"
#include "core/sanitizer.h"

/* ---- Landlock ---- */

/* As the kernel has it (Documentation/userspace-api/landlock.rst); headers of older systems know
 * less. A kernel that knows less takes zeros for what follows. */
struct landlock_rules {
    uint64_t files, network, scopes;
};

enum { LANDLOCK_ASK_VERSION = 1 };

/* Rights on files that each version of the ABI has, one bit each, from the lowest. */
static const unsigned file_rights[] = {0, 13, 14, 15, 15, 16};

enum landlock_right {
    RIGHT_EXECUTE = 1 << 0,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_FOLDER = 1 << 3,
    RIGHTS_OF_TCP = 3,  /* bind, connect; from ABI 4 */
    RIGHTS_OF_SCOPE = 3 /* abstract sockets, signals; from ABI 6 */
};

enum { ABI_TCP = 4, ABI_SCOPES = 6 };

static uint64_t rights_on_files(uint32_t abi)
{
    uint32_t last = sizeof file_rights / sizeof *file_rights - 1;
    uint64_t rights = (UINT64_C(1) << file_rights[abi < last ? abi : last]) - 1;
#ifdef UNDER_SANITIZER
    /* A report reads /proc/self/maps, and runs the program that knows names of functions. */
    rights &= ~(uint64_t)(RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_FOLDER);
#endif
    return rights;
}

/* A set of rules without one that allows anything. */
static void forbid_by_landlock(struct doppel_confinement *out)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_ASK_VERSION);
    out->landlock_abi = abi > 0 ? (uint32_t)abi : 0;
    if (abi <= 0)
        return;
    struct landlock_rules rules = {.files = rights_on_files(out->landlock_abi),
                                   .network = abi >= ABI_TCP ? RIGHTS_OF_TCP : 0,
                                   .scopes = abi >= ABI_SCOPES ? RIGHTS_OF_SCOPE : 0};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0)
        return;
    out->files = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
    out->network = out->files && rules.network;
    out->scopes = out->files && rules.scopes;
    close(fd);
}

/* ---- all of it ---- */

/* Libraries may have left some open. */
static void close_others(int stream)
{
    unsigned first = PROCESS_PROGRESS; /* whose page is mapped already */
    if (stream >= (int)first) {
        if (stream > (int)first)
            close_range(first, (unsigned)stream - 1, 0);
        first = (unsigned)stream + 1;
    }
    close_range(first, ~0u, 0);
}

static enum doppel_status refuse_less(const struct doppel_confinement *held,
                                      struct doppel_error *error)
{
    if (held->no_new_privileges && held->files && held->calls)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "the decoders cannot be held as --sandbox require asks: %s is missing here "
                       "('doppel doctor' says what there is)",
                       !held->files   ? "Landlock"
                       : !held->calls ? "the filter of system calls (seccomp)"
                                      : "PR_SET_NO_NEW_PRIVS");
}

enum doppel_status sandbox_enter(enum doppel_sandbox wanted, int stream, struct progress_page *page,
                                 struct doppel_confinement *out, struct doppel_error *error)
{
    struct doppel_confinement held = {0};
    if (wanted != DOPPEL_SANDBOX_NONE) {
        close_others(stream);
        held.no_new_privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
        forbid_by_landlock(&held);
        held.calls = filter_system_calls(page);
    }
    *out = held;
    return wanted == DOPPEL_SANDBOX_REQUIRE ? refuse_less(&held, error) : DOPPEL_OK;
}
