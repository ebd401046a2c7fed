/* Scans kept in a file, written group by group: a line each, between a first and a last one. */
#include <doppel/group.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/files/absolute_path.h"
#include "core/files/output_file.h"
#include "group/saved_scan.h"

static const char beginning[] = "{\"doppel_scan\":";

bool doppel_is_saved_scan(const char *path)
{
    char head[sizeof beginning - 1];
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    FILE *stream = fopen(path, "rbe");
    size_t size = stream ? fread(head, 1, sizeof head, stream) : 0;
    if (stream)
        (void)fclose(stream);
    return size == sizeof head && memcmp(head, beginning, sizeof head) == 0;
}

struct doppel_scan_saver {
    struct output_file file;
    struct doppel_json line; /* used again for each group */
    char *path;
    uint64_t groups, links;
};

/* A file that may be somebody's work stays. */
static bool is_other_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size &&
           !doppel_is_saved_scan(path);
}

static enum doppel_status write_saved_line(struct doppel_scan_saver *saver,
                                           struct doppel_error *error)
{
    struct doppel_json *line = &saver->line;
    enum doppel_status status = doppel_json_status(line, error);
    if (!status && line->size >= LONGEST_LINE)
        status =
            doppel_fail(error, DOPPEL_E_LIMIT, "%s: a group is too large to be saved", saver->path);
    if (!status) /* a full disk is told when it is closed */
        fwrite(line->bytes, 1, line->size, saver->file.stream);
    doppel_json_clear(line);
    return status;
}

static enum doppel_status write_saved_header(struct doppel_scan_saver *saver,
                                             struct doppel_error *error)
{
    struct doppel_json *line = &saver->line;
    char *folder = absolute_path("."), made[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", &parts);
    doppel_json_object_begin(line, NULL);
    doppel_json_integer(line, "doppel_scan", SAVED_VERSION);
    doppel_json_text(line, "doppel", doppel_version());
    doppel_json_text(line, "made", made);
    doppel_json_path(line, "folder", folder);
    doppel_json_object_end(line);
    doppel_json_end_line(line);
    bool known = folder != NULL;
    free(folder);
    return known ? write_saved_line(saver, error)
                 : doppel_fail(error, DOPPEL_E_IO, "the working folder has no path");
}

enum doppel_status doppel_scan_save_begin(const char *path, struct doppel_scan_saver **out,
                                          struct doppel_error *error)
{
    struct doppel_scan_saver *saver = NULL;
    enum doppel_status status;
    if (is_other_file(path))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: is no saved scan, left alone; choose another name", path);
    saver = calloc(1, sizeof *saver);
    if (!saver || !(saver->path = strdup(path))) {
        free(saver);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to save a scan");
    }
    status = output_file_open(saver->path, NULL, &saver->file, error);
    if (!status && (status = write_saved_header(saver, error)))
        output_file_close(&saver->file, status, NULL);
    if (!status) {
        *out = saver;
        return DOPPEL_OK;
    }
    doppel_json_free(&saver->line);
    free(saver->path);
    free(saver);
    return status;
}

enum doppel_status doppel_scan_save_group(void *context, const struct doppel_group *group,
                                          struct doppel_error *error)
{
    struct doppel_scan_saver *saver = context;
    saver->groups++;
    doppel_group_to_json(&saver->line, NULL, group, DOPPEL_GROUP_DIGESTS | DOPPEL_GROUP_STAMPS);
    doppel_json_end_line(&saver->line);
    return write_saved_line(saver, error);
}

/* @return false: it is gone */
static bool stamp_linked(struct doppel_group_linked *linked)
{
    struct stat now;
    if (linked->inode)
        return true;
    if (stat(linked->path, &now))
        return false;
    const struct doppel_file_stamp stamp = doppel_file_stamp_of(&now);
    linked->size_bytes = stamp.size;
    linked->mtime_ns = stamp.mtime_ns;
    linked->inode = stamp.inode;
    return true;
}

enum doppel_status doppel_scan_save_link(void *context, const struct doppel_group_link *link,
                                         struct doppel_error *error)
{
    struct doppel_scan_saver *saver = context;
    struct doppel_group_link stamped = *link;
    if (!stamp_linked(&stamped.text) || !stamp_linked(&stamped.of))
        return DOPPEL_OK;
    saver->links++;
    doppel_group_link_to_json(&saver->line, &stamped, DOPPEL_GROUP_STAMPS);
    doppel_json_end_line(&saver->line);
    return write_saved_line(saver, error);
}

static enum doppel_status write_saved_end(struct doppel_scan_saver *saver,
                                          const struct doppel_group_counts *counts,
                                          struct doppel_error *error)
{
    struct doppel_json *line = &saver->line;
    doppel_json_object_begin(line, NULL);
    doppel_json_boolean(line, "end", true);
    doppel_json_integer(line, "groups", saver->groups);
    doppel_json_integer(line, "links", saver->links);
    doppel_json_object_begin(line, "files");
    for (int kind = DOPPEL_KIND_UNKNOWN + 1; kind <= DOPPEL_KIND_VIDEO; kind++)
        doppel_json_integer(line, doppel_kind_name((enum doppel_kind)kind), counts->items[kind]);
    doppel_json_object_end(line);
    doppel_json_object_end(line);
    doppel_json_end_line(line);
    return write_saved_line(saver, error);
}

enum doppel_status doppel_scan_save_end(struct doppel_scan_saver *saver, enum doppel_status status,
                                        const struct doppel_group_counts *counts,
                                        struct doppel_error *error)
{
    if (!status)
        status = write_saved_end(saver, counts, error);
    status = output_file_close(&saver->file, status, error);
    doppel_json_free(&saver->line);
    free(saver->path);
    free(saver);
    return status;
}
