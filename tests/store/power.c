/* A disk that loses what was not synced: preloaded into a process (LD_PRELOAD), it keeps in the
 * folder $POWER_SHADOW what fsync() has made lasting: the bytes of a file as f.INODE, the names in
 * a folder as d.INODE. What is unlinked or replaced lives on in it under another name, so that no
 * inode is used twice. power_cut.c makes of it what a power cut leaves. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
/* clang-format on */

static atomic_uint counter;

static const char *shadow(void)
{
    return getenv("POWER_SHADOW");
}

static void shadow_path(char *out, size_t size, char kind, unsigned long long number)
{
    snprintf(out, size, "%s/%c.%llu", shadow(), kind, number);
}

/* Under a temporary name first: a kill may come at any moment. */
static int begin_copy(char *temporary, size_t size)
{
    snprintf(temporary, size, "%s/t.%u", shadow(), atomic_fetch_add(&counter, 1));
    return open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void keep_file(int fd, unsigned long long inode)
{
    char temporary[512], kept[512], self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int in = open(self, O_RDONLY | O_CLOEXEC), out = begin_copy(temporary, sizeof temporary);
    if (in < 0 || out < 0)
        abort();
    while (sendfile(out, in, NULL, 1 << 20) > 0)
        ;
    close(in);
    close(out);
    shadow_path(kept, sizeof kept, 'f', inode);
    REAL(rename)(temporary, kept);
}

static void keep_folder(int fd, unsigned long long inode)
{
    char temporary[512], kept[512], self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    DIR *folder = opendir(self);
    int out = begin_copy(temporary, sizeof temporary);
    if (!folder || out < 0)
        abort();
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            dprintf(out, "%llu %s\n", (unsigned long long)entry->d_ino, entry->d_name);
    closedir(folder);
    close(out);
    shadow_path(kept, sizeof kept, 'd', inode);
    REAL(rename)(temporary, kept);
}

static int keep(int fd)
{
    struct stat status;
    if (!shadow() || fstat(fd, &status))
        return 0;
    if (S_ISREG(status.st_mode))
        keep_file(fd, status.st_ino);
    if (S_ISDIR(status.st_mode))
        keep_folder(fd, status.st_ino);
    return 0;
}

int fsync(int fd)
{
    return keep(fd);
}

int fdatasync(int fd)
{
    return keep(fd);
}

/* ---- names that go ---- */

static void grave(char *out, size_t size)
{
    snprintf(out, size, "%s/g.%d.%u", shadow(), (int)getpid(), atomic_fetch_add(&counter, 1));
}

int unlink(const char *path)
{
    char to[512];
    if (!shadow())
        return REAL(unlink)(path);
    grave(to, sizeof to);
    return REAL(rename)(path, to);
}

int unlinkat(int folder, const char *path, int flags)
{
    char to[512];
    if (!shadow() || flags)
        return REAL(unlinkat)(folder, path, flags);
    grave(to, sizeof to);
    return renameat(folder, path, AT_FDCWD, to);
}

int rename(const char *from, const char *to)
{
    char old[512];
    if (shadow()) {
        grave(old, sizeof old);
        if (link(to, old)) /* a file that was not there has no earlier version */
            *old = '\0';
    }
    return REAL(rename)(from, to);
}
