/* The members of an archive by libarchive, each as a file in memory. */
#include "documents/members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "core/try.h"
#include "documents/mail.h"
#include "documents/mapped.h"

#ifdef HAVE_DOCUMENTS
#include "documents/unpack.h"
#endif

struct visiting {
    archive_visitor *visitor;
    void *context;
    uint64_t most;
    bool ended; /* by the visitor */
};

/* Nobody changes it while it is read. */
enum { MEMBER_SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK };

static bool write_member(int fd, const char *bytes, size_t size, uint64_t at)
{
    while (size) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)at);
        if (written < 0 && errno != EINTR)
            return false;
        size -= written > 0 ? (size_t)written : 0;
        bytes += written > 0 ? written : 0;
        at += written > 0 ? (uint64_t)written : 0;
    }
    return true;
}

static int open_member(struct doppel_error *error)
{
    int fd = memfd_create("member", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a member");
    return fd;
}

/* @param fd taken; -1: there is an error */
static void visit_member(struct visiting *visiting, struct archive_member *member, int fd,
                         const struct doppel_error *error)
{
    member->fd = error->status ? -1 : fd;
    member->error = error;
    visiting->ended = !visiting->visitor(visiting->context, member);
    if (fd >= 0)
        close(fd);
}

/* ---- messages ---- */

static enum doppel_status visit_message(struct visiting *visiting, struct mail_span message,
                                        unsigned number)
{
    char name[16];
    struct doppel_error error = {0};
    struct archive_member member = {.name = name, .size = message.size};
    snprintf(name, sizeof name, "#%u", number);
    int fd = -1;
    if (message.size > visiting->most)
        doppel_fail(&error, DOPPEL_E_LIMIT, "has more than %llu bytes (--max-bytes)",
                    (unsigned long long)visiting->most);
    else if ((fd = open_member(&error)) >= 0 && (!write_member(fd, message.at, message.size, 0) ||
                                                 fcntl(fd, F_ADD_SEALS, MEMBER_SEALS)))
        doppel_fail(&error, DOPPEL_E_MEMORY, "no memory for a message");
    visit_member(visiting, &member, fd, &error);
    return visiting->ended ? DOPPEL_E_CANCELLED : DOPPEL_OK;
}

static enum doppel_status visit_messages(int fd, const struct document_limits *limits,
                                         struct visiting *visiting, struct doppel_error *error)
{
    struct mapped_document file = {0};
    struct mail_span box, message;
    unsigned number = 0;
    enum doppel_status status = map_document(fd, &file, error);
    if (status)
        return status;
    box = (struct mail_span){file.bytes, file.size};
    while (!status && next_message(&box, &message))
        status = number == limits->max_members
                     ? doppel_fail(error, DOPPEL_E_LIMIT, "has more than %u messages", number)
                     : visit_message(visiting, message, ++number);
    unmap_document(&file);
    return status;
}

/* ---- archives ---- */

#ifdef HAVE_DOCUMENTS

static struct archive *archive_of_any_kind(void)
{
    struct archive *archive = archive_read_new();
    if (!archive)
        return NULL;
    archive_read_support_format_zip(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_7zip(archive);
    archive_read_support_format_rar(archive);
    archive_read_support_format_rar5(archive);
    archive_read_support_filter_gzip(archive);
    archive_read_support_filter_bzip2(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_zstd(archive);
    return archive;
}

/* What is wrong with a member alone is its error; what ends the archive comes back. Holes count as
 * what they are read as. */
static enum doppel_status unpack_into(struct unpacking *unpacking, int fd, uint64_t most,
                                      uint64_t *out_size, struct doppel_error *member_error,
                                      struct doppel_error *error)
{
    const void *bytes;
    size_t size;
    la_int64_t at;
    int result;
    while ((result = archive_read_data_block(unpacking->archive, &bytes, &size, &at)) ==
           ARCHIVE_OK) {
        enum doppel_status status = count_unpacked(unpacking, size, error);
        if (status)
            return status;
        if (at < 0 || (uint64_t)at > most || size > most - (uint64_t)at) {
            doppel_fail(member_error, DOPPEL_E_LIMIT,
                        "unpacks to more than %llu bytes (--max-bytes)", (unsigned long long)most);
            return DOPPEL_OK;
        }
        if ((uint64_t)at > *out_size &&
            (status = count_unpacked(unpacking, (size_t)at - *out_size, error)))
            return status;
        if (!write_member(fd, bytes, size, (uint64_t)at))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a member");
        if ((uint64_t)at + size > *out_size)
            *out_size = (uint64_t)at + size;
    }
    if (result != ARCHIVE_EOF && result != ARCHIVE_FATAL)
        describe_archive(unpacking->archive, member_error);
    return result == ARCHIVE_FATAL ? describe_archive(unpacking->archive, error) : DOPPEL_OK;
}

/* Whether fewer bytes came than it has, as of the last one in a volume. */
static bool member_is_cut(struct archive_entry *entry, uint64_t size)
{
    return archive_entry_size_is_set(entry) && !archive_entry_sparse_count(entry) &&
           archive_entry_size(entry) > 0 && (uint64_t)archive_entry_size(entry) > size;
}

static enum doppel_status visit_file_member(struct visiting *visiting, struct unpacking *unpacking,
                                            struct archive_entry *entry, const char *name,
                                            struct doppel_error *error)
{
    struct doppel_error wrong = {0};
    struct archive_member member = {.name = name, .mtime_s = archive_entry_mtime(entry)};
    enum doppel_status status = DOPPEL_OK;
    int fd = -1;
    if (archive_entry_is_encrypted(entry))
        doppel_fail(&wrong, DOPPEL_E_UNSUPPORTED, "is encrypted");
    else if ((fd = open_member(&wrong)) >= 0)
        status = unpack_into(unpacking, fd, visiting->most, &member.size, &wrong, error);
    if (!status && !wrong.status && member_is_cut(entry, member.size))
        doppel_fail(&wrong, DOPPEL_E_CORRUPT, "is cut: %llu of %llu bytes are there",
                    (unsigned long long)member.size, (unsigned long long)archive_entry_size(entry));
    if (!status && !wrong.status && fcntl(fd, F_ADD_SEALS, MEMBER_SEALS))
        doppel_fail(&wrong, DOPPEL_E_MEMORY, "no memory for a member");
    if (status)
        close(fd);
    else
        visit_member(visiting, &member, fd, &wrong);
    return status ? status : visiting->ended ? DOPPEL_E_CANCELLED : DOPPEL_OK;
}

static enum doppel_status visit_archive(int fd, const struct document_limits *limits,
                                        struct visiting *visiting, struct doppel_error *error)
{
    struct unpacking *unpacking = NULL;
    struct archive_entry *entry;
    enum doppel_status status;
    TRY(unpacking_open(fd, archive_of_any_kind(), limits, &unpacking, error));
    while ((status = unpacking_next(unpacking, &entry, error)) == DOPPEL_OK) {
        const char *name = archive_entry_pathname(entry);
        unsigned type = archive_entry_filetype(entry); /* 0: the archive does not say */
        if ((type == AE_IFREG || type == 0) && !archive_entry_hardlink(entry))
            TRY(visit_file_member(visiting, unpacking, entry, name ? name : "?", error));
    }
    if (status == DOPPEL_E_NOT_FOUND)
        status = DOPPEL_OK;
    if (status == DOPPEL_E_CORRUPT && !archive_format(unpacking->archive))
        status = doppel_fail(error, DOPPEL_E_FORMAT, "is no archive");
done:
    unpacking_free(unpacking);
    return status;
}

#else

static enum doppel_status visit_archive(int fd, const struct document_limits *limits,
                                        struct visiting *visiting, struct doppel_error *error)
{
    (void)fd, (void)limits, (void)visiting;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel opens no archives: it was built without libarchive");
}

#endif

enum doppel_status archive_visit(int fd, const struct document_limits *limits, uint64_t most,
                                 archive_visitor *visitor, void *context,
                                 struct doppel_error *error)
{
    enum { PROBE_BYTES = 4096 };
    uint8_t head[PROBE_BYTES];
    struct visiting visiting = {.visitor = visitor, .context = context, .most = most};
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    ssize_t size = read_at(fd, head, sizeof head, 0);
    if (size > 0)
        (void)doppel_media_probe(head, (size_t)size, &format);
    return format == DOPPEL_FORMAT_MAIL ? visit_messages(fd, limits, &visiting, error)
                                        : visit_archive(fd, limits, &visiting, error);
}
