/* The files of a library's items: there, unchanged, of the same bytes. */
#include "tools/output/messages.h"
#include "tools/verbs/verify/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intake/reader.h"
#include "tools/signals.h"

struct file_check {
    const struct settings *settings;
    struct report *report;
    doppel_problem_visitor *visitor;
    void *context;
    uint64_t seen, problems;
};

static bool report_file_problem(struct file_check *check, const struct doppel_item *item,
                                const char *detail)
{
    const struct doppel_problem problem = {
        .problem = "file", .id = item->id, .path = item->path, .detail = detail};
    check->problems++;
    return check->visitor(check->context, &problem);
}

/* @return a sentence, or NULL when the bytes are the same */
static const char *compare_bytes(const struct doppel_item *item)
{
    struct doppel_digest digest;
    int fd = open(item->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return strerror(errno);
    enum doppel_status status = doppel_digest_fd(fd, &digest, NULL, NULL);
    close(fd);
    if (status)
        return "the file cannot be read";
    return memcmp(&digest, &item->record.digest, sizeof digest) == 0
               ? NULL
               : "the file has other bytes; add it again";
}

static const char *compare_with_file(const struct file_check *check, const struct doppel_item *item)
{
    struct stat status;
    if (stat(item->path, &status))
        return errno == ENOENT || errno == ENOTDIR ? "the file is gone" : strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "there is no file any more, but something else";
    if (check->settings->all_bytes)
        return compare_bytes(item);
    struct doppel_file_stamp stamp = doppel_file_stamp_of(&status);
    if (doppel_file_stamp_equal(&stamp, &item->stamp))
        return NULL;
    if (stamp.size == item->stamp.size && stamp.mtime_ns == item->stamp.mtime_ns)
        return compare_bytes(item); /* a copy of it, as undo and backups make them */
    return "the file was changed or replaced; add it again, or use --digest to see whether its "
           "bytes are the same";
}

static bool check_file_item(void *context, const struct doppel_item *item)
{
    struct file_check *check = context;
    progress_update(&check->report->progress, ++check->seen, check->problems);
    if (signals_stopped())
        return false;
    if (item->record.error.status || item->path[0] != '/') /* told already; or known by a code */
        return true;
    const char *problem = compare_with_file(check, item);
    return !problem || report_file_problem(check, item, problem);
}

enum doppel_status verify_files(const struct settings *settings, struct report *report,
                                struct doppel_library *library, doppel_problem_visitor *visitor,
                                void *context, struct doppel_error *error)
{
    struct file_check check = {
        .settings = settings, .report = report, .visitor = visitor, .context = context};
    struct doppel_library_stats stats;
    enum doppel_status status = doppel_library_stats(library, &stats, error);
    if (status)
        return status;
    progress_begin(&report->progress, "files", stats.items);
    status = doppel_library_each(library, check_file_item, &check, error);
    progress_end(&report->progress);
    return status;
}
