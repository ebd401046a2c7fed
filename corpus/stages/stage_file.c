/* The file format of parts. */
#include "corpus/stages/stage_file.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "core/try.h"

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "rows are written as they lie in memory");
_Static_assert(sizeof(struct stage_head) == 64, "docs/formats.md");
_Static_assert(sizeof(struct stage_section) == 32, "docs/formats.md");

enum { STAGE_FILE_VERSION = 1, MAX_SECTIONS = 1 << 19 };

static const char stage_magic[8] = "doppelst";

static size_t table_bytes(const struct stage_head *head)
{
    return head->sections * sizeof(struct stage_section);
}

/* Where the first section begins: behind head, table, and the digest of both. */
static uint64_t body_offset(const struct stage_head *head)
{
    return sizeof *head + table_bytes(head) + sizeof(struct doppel_digest);
}

static enum doppel_status no_memory_for_stage(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory for a part of a stage");
}

static struct doppel_digest digest_of_head(struct digest_stream *digest,
                                           const struct stage_head *head,
                                           const struct stage_section *sections)
{
    digest_stream_begin(digest);
    digest_stream_add(digest, head, sizeof *head);
    digest_stream_add(digest, sections, table_bytes(head));
    return digest_stream_get(digest);
}

/* ---- writing ---- */

enum doppel_status stage_writer_open(const struct doppel_stages *stages, enum doppel_stage stage,
                                     struct doppel_stage_part part, uint32_t sections,
                                     struct stage_writer *out, struct doppel_error *error)
{
    char name[STAGE_NAME_BYTES];
    *out = (struct stage_writer){.head = {.version = STAGE_FILE_VERSION,
                                          .stage = stage,
                                          .run = stages->run,
                                          .part = part.number,
                                          .parts = part.count,
                                          .sections = sections}};
    memcpy(out->head.magic, stage_magic, sizeof stage_magic);
    out->sections = calloc(sections ? sections : 1, sizeof *out->sections);
    out->digest = digest_stream_new();
    enum doppel_status status;
    TRY(out->sections && out->digest ? DOPPEL_OK : no_memory_for_stage(error));
    stage_file_name_print(&(struct stage_file_name){doppel_stage_name(stage), part}, name);
    TRY(hidden_file_open(stages->folder, name, &out->file, error));
    out->head.bytes = body_offset(&out->head);
    if (fseeko(out->file.stream, (off_t)out->head.bytes, SEEK_SET) != 0)
        TRY(hidden_file_failed(&out->file, error));
done:
    if (status)
        stage_writer_drop(out);
    return status;
}

/* The section that was begun last has what was added. */
static void end_stage_section(struct stage_writer *writer)
{
    if (!writer->section)
        return;
    struct stage_section *section = &writer->sections[writer->section - 1];
    section->size = writer->head.bytes - section->offset;
    section->digest = digest_stream_get(writer->digest);
}

void stage_writer_begin(struct stage_writer *writer)
{
    end_stage_section(writer);
    writer->sections[writer->section++].offset = writer->head.bytes;
    digest_stream_begin(writer->digest);
}

enum doppel_status stage_writer_add(struct stage_writer *writer, const void *bytes, size_t size,
                                    struct doppel_error *error)
{
    if (!size)
        return DOPPEL_OK;
    digest_stream_add(writer->digest, bytes, size);
    writer->head.bytes += size;
    return fwrite(bytes, 1, size, writer->file.stream) == size
               ? DOPPEL_OK
               : hidden_file_failed(&writer->file, error);
}

enum doppel_status stage_writer_finish(struct stage_writer *writer, uint64_t records,
                                       struct doppel_error *error)
{
    FILE *stream = writer->file.stream;
    end_stage_section(writer);
    writer->head.records = records;
    struct doppel_digest digest = digest_of_head(writer->digest, &writer->head, writer->sections);
    if (fseeko(stream, 0, SEEK_SET) != 0 ||
        fwrite(&writer->head, sizeof writer->head, 1, stream) != 1 ||
        (writer->head.sections &&
         fwrite(writer->sections, table_bytes(&writer->head), 1, stream) != 1) ||
        fwrite(&digest, sizeof digest, 1, stream) != 1)
        return hidden_file_failed(&writer->file, error);
    return hidden_file_finish(&writer->file, error);
}

void stage_writer_drop(struct stage_writer *writer)
{
    hidden_file_drop(&writer->file);
    free(writer->sections);
    digest_stream_free(writer->digest);
    *writer = (struct stage_writer){0};
}

/* ---- reading ---- */

static const char *stage_of_head(const struct stage_file *file)
{
    return doppel_stage_name((enum doppel_stage)file->head.stage);
}

/* What is wrong, and what to do. @param file its part and stage are those that were asked for */
static enum doppel_status stage_file_damaged(const struct stage_file *file, const char *what,
                                             struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "%s is damaged: %s; run its part again: --stage %s --part %u/%u", file->path,
                       what, stage_of_head(file), file->head.part, file->head.parts);
}

/* Its checksums fit, so its part would find it done. */
enum doppel_status stage_file_is_odd(const struct stage_file *file, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "%s is damaged: what it holds does not go together; remove it, and run its "
                       "part again: --stage %s --part %u/%u",
                       file->path, stage_of_head(file), file->head.part, file->head.parts);
}

static enum doppel_status read_stage_bytes(const struct stage_file *file, int fd, uint64_t offset,
                                           void *out, size_t size, struct doppel_error *error)
{
    ssize_t got = read_at(fd, out, size, offset);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", file->path,
                           strerror(errno));
    return (size_t)got == size ? DOPPEL_OK : stage_file_damaged(file, "it ends too early", error);
}

static bool is_same_run(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* @param file has the head that is wanted, and gets the one that is there */
static enum doppel_status check_stage_head(struct stage_file *file, const struct stage_head *head,
                                           struct doppel_error *error)
{
    const struct stage_head *wanted = &file->head;
    if (memcmp(head->magic, wanted->magic, sizeof head->magic) != 0)
        return stage_file_damaged(file, "it does not begin as such a file does", error);
    if (head->version != wanted->version)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "%s is of version %u, and this doppel writes version %u: run all stages "
                           "by one doppel, in a new folder",
                           file->path, head->version, wanted->version);
    if (head->stage != wanted->stage || head->part != wanted->part ||
        head->parts != wanted->parts || head->sections > MAX_SECTIONS ||
        (wanted->sections && head->sections != wanted->sections))
        return stage_file_damaged(file, "its head is that of another file", error);
    if (!is_same_run(&head->run, &wanted->run))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s is of another run, with other inputs or options; remove it, and run "
                           "--stage %s --part %u/%u again",
                           file->path, stage_of_head(file), wanted->part, wanted->parts);
    file->head = *head;
    return DOPPEL_OK;
}

static enum doppel_status check_stage_table(const struct stage_file *file,
                                            struct doppel_error *error)
{
    uint64_t at = body_offset(&file->head);
    for (uint32_t i = 0; i < file->head.sections; i++) {
        if (file->sections[i].offset != at || file->sections[i].size > file->head.bytes - at)
            return stage_file_damaged(file, "its table is not in order", error);
        at += file->sections[i].size;
    }
    return at == file->head.bytes ? DOPPEL_OK
                                  : stage_file_damaged(file, "its table is not in order", error);
}

static enum doppel_status read_stage_table(struct stage_file *file, int fd,
                                           struct doppel_error *error)
{
    struct doppel_digest digest, wanted;
    struct digest_stream *stream = digest_stream_new();
    size_t size = table_bytes(&file->head);
    file->sections = malloc(size ? size : 1);
    enum doppel_status status;
    TRY(stream && file->sections ? DOPPEL_OK : no_memory_for_stage(error));
    TRY(read_stage_bytes(file, fd, sizeof file->head, file->sections, size, error));
    TRY(read_stage_bytes(file, fd, sizeof file->head + size, &wanted, sizeof wanted, error));
    digest = digest_of_head(stream, &file->head, file->sections);
    if (!is_same_run(&digest, &wanted))
        TRY(stage_file_damaged(file, "its head is not what was written", error));
    TRY(check_stage_table(file, error));
done:
    digest_stream_free(stream);
    return status;
}

static enum doppel_status read_stage_head(struct stage_file *file, int fd,
                                          struct doppel_error *error)
{
    struct stage_head head;
    struct stat now;
    enum doppel_status status;
    TRY(read_stage_bytes(file, fd, 0, &head, sizeof head, error));
    TRY(check_stage_head(file, &head, error));
    if (fstat(fd, &now) != 0 || (uint64_t)now.st_size != file->head.bytes)
        TRY(stage_file_damaged(file, "it has another size than when it was written", error));
    TRY(read_stage_table(file, fd, error));
done:
    return status;
}

enum doppel_status stage_file_open(const struct doppel_stages *stages, enum doppel_stage stage,
                                   struct doppel_stage_part part, uint32_t sections,
                                   struct stage_file *out, struct doppel_error *error)
{
    char name[STAGE_NAME_BYTES];
    int fd = -1;
    struct stage_file file = {.head = {.version = STAGE_FILE_VERSION,
                                       .stage = stage,
                                       .run = stages->run,
                                       .part = part.number,
                                       .parts = part.count,
                                       .sections = sections}};
    memcpy(file.head.magic, stage_magic, sizeof stage_magic);
    stage_file_name_print(&(struct stage_file_name){doppel_stage_name(stage), part}, name);
    enum doppel_status status;
    TRY(asprintf(&file.path, "%s/%s", stages->folder, name) < 0 ? no_memory_for_stage(error)
                                                                : DOPPEL_OK);
    TRY(stage_path_open(file.path, &fd, error));
    TRY(read_stage_head(&file, fd, error));
done:
    if (fd >= 0)
        close(fd);
    if (status)
        stage_file_close(&file);
    else
        *out = file;
    return status;
}

void stage_file_close(struct stage_file *file)
{
    free(file->path);
    free(file->sections);
    *file = (struct stage_file){0};
}

static bool make_section_room(struct stage_bytes *bytes, uint64_t size)
{
    if (size < bytes->capacity)
        return true;
    char *grown = size < SIZE_MAX ? realloc(bytes->items, (size_t)size + 1) : NULL;
    if (!grown)
        return false;
    bytes->items = grown;
    bytes->capacity = (size_t)size + 1;
    return true;
}

enum doppel_status stage_file_read(const struct stage_file *file, uint32_t number,
                                   struct stage_bytes *into, struct doppel_error *error)
{
    const struct stage_section *section = &file->sections[number];
    int fd;
    enum doppel_status status = stage_path_open(file->path, &fd, error);
    if (status)
        return status;
    if (!make_section_room(into, section->size))
        TRY(no_memory_for_stage(error));
    into->size = (size_t)section->size;
    TRY(read_stage_bytes(file, fd, section->offset, into->items, into->size, error));
    struct doppel_digest digest = doppel_digest_bytes(into->items, into->size);
    if (!is_same_run(&digest, &section->digest))
        TRY(stage_file_damaged(file, "it does not hold what was written", error));
done:
    close(fd);
    return status;
}

enum doppel_status stage_file_read_rows(const struct stage_file *file, uint32_t section,
                                        size_t row_bytes, struct stage_bytes *into,
                                        size_t *out_count, struct doppel_error *error)
{
    enum doppel_status status = stage_file_read(file, section, into, error);
    if (!status && into->size % row_bytes)
        status = stage_file_is_odd(file, error);
    if (!status)
        *out_count = into->size / row_bytes;
    return status;
}

bool stage_file_is_whole(const struct doppel_stages *stages, enum doppel_stage stage,
                         struct doppel_stage_part part)
{
    struct stage_file file;
    struct stage_bytes bytes = {0};
    enum doppel_status status = stage_file_open(stages, stage, part, 0, &file, NULL);
    if (status)
        return false;
    for (uint32_t i = 0; i < file.head.sections && !status; i++)
        status = stage_file_read(&file, i, &bytes, NULL);
    free(bytes.items);
    stage_file_close(&file);
    return !status;
}
