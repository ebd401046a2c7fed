/* The journal of what was done to duplicates: written line by line, and read as a whole. */
#include "act/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <doppel/json_writer.h>

#include "core/files/write_all.h"
#include "compare/json_fields.h"

struct journal {
    int fd;
    off_t size; /* of whole lines */
    uint64_t last_run;
};

static const char *const action_names[] = {
    [DOPPEL_ACTION_HARDLINK] = "hardlink", [DOPPEL_ACTION_REFLINK] = "reflink",
    [DOPPEL_ACTION_SYMLINK] = "symlink",   [DOPPEL_ACTION_TRASH] = "trash",
    [DOPPEL_ACTION_MOVE_TO] = "move-to",
};

static const char *const end_names[] = {
    [STEP_DONE] = "done", [STEP_FAILED] = "failed", [STEP_UNDONE] = "undone"};

const char *doppel_action_name(enum doppel_action action)
{
    return (unsigned)action < DOPPEL_ACTIONS ? action_names[action] : "unknown";
}

void step_free(struct journal_entry *step)
{
    free(step->path);
    free(step->kept);
    free(step->target);
    free(step->temporary);
    free(step->other);
    free(step->made);
    *step = (struct journal_entry){0};
}

void journal_content_free(struct journal_content *content)
{
    for (size_t i = 0; i < content->steps.count; i++)
        step_free(&content->steps.items[i]);
    array_free(&content->steps);
    array_free(&content->runs);
}

/* ---- reading ---- */

/* As doppel_json_path wrote it; given (free); NULL when there is none. */
static char *get_path(const json_t *object, const char *key)
{
    struct fields fields = {.object = object};
    char *path = NULL;
    field_bytes(&fields, key, &path);
    return path;
}

static uint64_t get_integer(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* @return whether it is an action */
static bool get_action(const json_t *object, enum doppel_action *out)
{
    const char *name = json_string_value(json_object_get(object, "action"));
    for (int i = 0; name && i < DOPPEL_ACTIONS; i++)
        if (strcmp(action_names[i], name) == 0) {
            *out = (enum doppel_action)i;
            return true;
        }
    return false;
}

static struct doppel_file_stamp get_stamp(const json_t *object, const char *key)
{
    const json_t *stamp = json_object_get(object, key);
    return (struct doppel_file_stamp){.device = get_integer(stamp, "device"),
                                      .inode = get_integer(stamp, "inode"),
                                      .size = (int64_t)get_integer(stamp, "size"),
                                      .mtime_ns = (int64_t)get_integer(stamp, "mtime_ns")};
}

static int compare_step_numbers(const void *left, const void *right)
{
    const struct journal_entry *a = left, *b = right;
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Whether the paths are such as are written: undo relies on it. */
static bool is_whole_step(const struct journal_entry *step)
{
    bool moves = step->action == DOPPEL_ACTION_TRASH || step->action == DOPPEL_ACTION_MOVE_TO;
    if (!step->path || step->path[0] != '/' || !step->kept || step->kept[0] != '/')
        return false;
    if (moves && (!step->target || step->target[0] != '/'))
        return false;
    if (step->other && step->other[0] != '/')
        return false;
    return !step->temporary ||
           (strncmp(step->temporary, ".doppel-", 8) == 0 && !strchr(step->temporary, '/'));
}

static bool read_step(const json_t *line, struct journal_content *content)
{
    struct journal_entry step = {.run = get_integer(line, "run"),
                                 .number = get_integer(line, "step"),
                                 .path = get_path(line, "path"),
                                 .kept = get_path(line, "kept"),
                                 .target = get_path(line, "target"),
                                 .temporary = get_path(line, "temporary"),
                                 .other = get_path(line, "other"),
                                 .made = get_path(line, "made"),
                                 .stamp = get_stamp(line, "stamp"),
                                 .kept_stamp = get_stamp(line, "kept_stamp"),
                                 .freed_bytes = get_integer(line, "freed"),
                                 .mode = (uint32_t)get_integer(line, "mode"),
                                 .owner = (uint32_t)get_integer(line, "owner"),
                                 .group = (uint32_t)get_integer(line, "owner_group")};
    if (!json_object_get(line, "freed"))
        step.freed_bytes = (uint64_t)step.stamp.size;
    bool in_order =
        !content->steps.count ||
        compare_step_numbers(&content->steps.items[content->steps.count - 1], &step) < 0;
    if (get_action(line, &step.action) && in_order && is_whole_step(&step) &&
        array_push(&content->steps, step))
        return true;
    step_free(&step);
    return false;
}

static struct journal_entry *find_step(const struct journal_content *content, const json_t *line)
{
    struct journal_entry wanted = {.run = get_integer(line, "run"),
                                   .number = get_integer(line, "step")};
    if (!content->steps.count)
        return NULL;
    return bsearch(&wanted, content->steps.items, content->steps.count, sizeof wanted,
                   compare_step_numbers);
}

static bool read_end(const json_t *line, struct journal_content *content, const char *name)
{
    struct journal_entry *step = find_step(content, line);
    for (int end = STEP_DONE; step && name && end <= STEP_UNDONE; end++)
        if (strcmp(end_names[end], name) == 0) {
            step->end = (enum step_end)end;
            return true;
        }
    return false;
}

static bool read_journal_line(const json_t *line, struct journal_content *content)
{
    const json_t *end = json_object_get(line, "end");
    if (!json_is_integer(json_object_get(line, "run")))
        return false;
    if (end)
        return read_end(line, content, json_string_value(end));
    if (json_object_get(line, "step"))
        return read_step(line, content);
    struct journal_run run = {.run = get_integer(line, "run"),
                              .time_s = (int64_t)get_integer(line, "time")};
    return get_action(line, &run.action) && array_push(&content->runs, run);
}

/* Whether it may be the beginning of a line that a crash cut short. */
static bool is_beginning(const char *text, size_t length)
{
    static const char beginning[] = "{\"run\":";
    size_t known = sizeof beginning - 1;
    return memcmp(text, beginning, length < known ? length : known) == 0;
}

/* @param out_whole bytes of the lines that are whole */
static void read_lines(FILE *stream, struct journal_content *content, off_t *out_whole)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    *out_whole = 0;
    while ((length = getline(&text, &capacity, stream)) > 0) {
        if (text[length - 1] != '\n') {
            content->unreadable += !is_beginning(text, (size_t)length);
            break;
        }
        json_t *line = json_loadb(text, (size_t)length, 0, NULL);
        content->unreadable += !read_journal_line(line, content);
        json_decref(line);
        *out_whole += length;
    }
    free(text);
}

static enum doppel_status read_fd(int fd, const char *path, struct journal_content *out,
                                  off_t *out_whole, struct doppel_error *error)
{
    int copy = dup(fd);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "r");
    struct journal_content content = {0};
    if (!stream)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    read_lines(stream, &content, out_whole);
    bool failed = ferror(stream);
    (void)fclose(stream);
    if (!failed && !(content.unreadable && !content.runs.count)) {
        *out = content;
        return DOPPEL_OK;
    }
    journal_content_free(&content);
    return failed ? doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno))
                  : doppel_fail(error, DOPPEL_E_FORMAT, "%s: not a journal of doppel, left alone",
                                path);
}

enum doppel_status journal_read(const char *path, struct journal_content *out,
                                struct doppel_error *error)
{
    off_t whole;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        *out = (struct journal_content){0};
        return DOPPEL_OK;
    }
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    enum doppel_status status = read_fd(fd, path, out, &whole, error);
    close(fd);
    return status;
}

/* ---- writing ---- */

static enum doppel_status open_locked(const char *path, int *out, struct doppel_error *error)
{
    struct stat stat;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || fstat(fd, &stat)) {
        doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(stat.st_mode)) {
        doppel_fail(error, DOPPEL_E_IO, "%s: is no file", path);
    } else if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *out = fd;
        return DOPPEL_OK;
    } else {
        doppel_fail(error, DOPPEL_E_BUSY, "%s: another doppel is acting; wait for its end", path);
    }
    if (fd >= 0)
        close(fd);
    return DOPPEL_E_IO;
}

enum doppel_status journal_open(const char *path, struct journal **out,
                                struct journal_content *out_content, struct doppel_error *error)
{
    struct journal journal = {.fd = -1};
    enum doppel_status status = open_locked(path, &journal.fd, error);
    if (status)
        return status;
    status = read_fd(journal.fd, path, out_content, &journal.size, error);
    if (status) {
        close(journal.fd);
        return status;
    }
    for (size_t i = 0; i < out_content->runs.count; i++)
        if (out_content->runs.items[i].run > journal.last_run)
            journal.last_run = out_content->runs.items[i].run;
    *out = malloc(sizeof **out);
    if (!*out) {
        journal_content_free(out_content);
        close(journal.fd);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the journal");
    }
    **out = journal;
    return DOPPEL_OK;
}

enum doppel_status journal_close(struct journal *journal, struct doppel_error *error)
{
    if (!journal)
        return DOPPEL_OK;
    int failed = fdatasync(journal->fd) ? errno : 0;
    close(journal->fd);
    free(journal);
    return failed ? doppel_fail(error, DOPPEL_E_IO, "the journal: %s", strerror(failed))
                  : DOPPEL_OK;
}

/* As jansson reads it, which knows no integers beyond 63 bits: they come back as they were. */
static void put_unsigned(struct doppel_json *line, const char *key, uint64_t value)
{
    doppel_json_signed(line, key, (int64_t)value);
}

/* A line is written over what a crash left of another one. */
static enum doppel_status append_bytes(struct journal *journal, const char *bytes, size_t size,
                                       struct doppel_error *error)
{
    size_t written = 0;
    while (written < size) {
        ssize_t wrote =
            pwrite(journal->fd, bytes + written, size - written, journal->size + (off_t)written);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        written += (size_t)wrote;
    }
    int reason = errno;
    if (written == size && ftruncate(journal->fd, journal->size + (off_t)size) == 0) {
        journal->size += (off_t)size;
        return DOPPEL_OK;
    }
    if (ftruncate(journal->fd, journal->size))
        reason = errno;
    return doppel_fail(error, write_failure(reason), "the journal cannot be written: %s",
                       strerror(reason));
}

static void begin_journal_line(struct doppel_json *line, uint64_t run)
{
    doppel_json_object_begin(line, NULL);
    put_unsigned(line, "run", run);
}

/* @param line freed */
static enum doppel_status append_line(struct journal *journal, struct doppel_json *line,
                                      struct doppel_error *error)
{
    doppel_json_object_end(line);
    doppel_json_end_line(line);
    enum doppel_status status = doppel_json_status(line, error);
    if (!status)
        status = append_bytes(journal, line->bytes, line->size, error);
    doppel_json_free(line);
    return status;
}

enum doppel_status journal_begin(struct journal *journal, enum doppel_action action,
                                 uint64_t *out_run, struct doppel_error *error)
{
    struct doppel_json line = {0};
    begin_journal_line(&line, journal->last_run + 1);
    doppel_json_text(&line, "action", doppel_action_name(action));
    put_unsigned(&line, "time", (uint64_t)time(NULL));
    enum doppel_status status = append_line(journal, &line, error);
    if (!status)
        *out_run = ++journal->last_run;
    return status;
}

static void put_stamp(struct doppel_json *line, const char *key,
                      const struct doppel_file_stamp *stamp)
{
    doppel_json_object_begin(line, key);
    put_unsigned(line, "device", stamp->device);
    put_unsigned(line, "inode", stamp->inode);
    put_unsigned(line, "size", (uint64_t)stamp->size);
    put_unsigned(line, "mtime_ns", (uint64_t)stamp->mtime_ns);
    doppel_json_object_end(line);
}

static void put_step(struct doppel_json *line, const struct journal_entry *step)
{
    put_unsigned(line, "step", step->number);
    doppel_json_text(line, "action", doppel_action_name(step->action));
    doppel_json_path(line, "path", step->path);
    doppel_json_path(line, "kept", step->kept);
    if (step->target)
        doppel_json_path(line, "target", step->target);
    if (step->temporary)
        doppel_json_path(line, "temporary", step->temporary);
    if (step->other)
        doppel_json_path(line, "other", step->other);
    if (step->made)
        doppel_json_path(line, "made", step->made);
    put_stamp(line, "stamp", &step->stamp);
    put_stamp(line, "kept_stamp", &step->kept_stamp);
    if (step->freed_bytes != (uint64_t)step->stamp.size)
        put_unsigned(line, "freed", step->freed_bytes);
    put_unsigned(line, "mode", step->mode);
    put_unsigned(line, "owner", step->owner);
    put_unsigned(line, "owner_group", step->group);
}

enum doppel_status journal_step(struct journal *journal, const struct journal_entry *step,
                                struct doppel_error *error)
{
    struct doppel_json line = {0};
    begin_journal_line(&line, step->run);
    put_step(&line, step);
    enum doppel_status status = append_line(journal, &line, error);
    if (!status && fdatasync(journal->fd))
        status = doppel_fail(error, write_failure(errno), "the journal cannot be written: %s",
                             strerror(errno));
    return status;
}

enum doppel_status journal_end(struct journal *journal, const struct journal_entry *step,
                               enum step_end end, struct doppel_error *error)
{
    struct doppel_json line = {0};
    begin_journal_line(&line, step->run);
    put_unsigned(&line, "step", step->number);
    doppel_json_text(&line, "end", end_names[end]);
    return append_line(journal, &line, error);
}
