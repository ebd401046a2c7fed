/* Marks: lines read, and looked up by file. */
#include "group/marks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "compare/json_fields.h"

/* Larger files are refused: a million marks take less. */
enum { LARGEST_FILE = 512 << 20 };

#define AT_PATH SIZE_MAX

/* ---- a line ---- */

static const char *const words[] = {[MARK_KEEP] = "keep",
                                    [MARK_REMOVE] = "remove",
                                    [MARK_LEAVE] = "leave",
                                    [MARK_SAME] = "same",
                                    [MARK_DISTINCT] = "distinct"};
enum { WORDS = sizeof words / sizeof *words };

static enum doppel_status read_word(const json_t *object, enum mark_word *out,
                                    struct doppel_error *error)
{
    const char *text = json_string_value(json_object_get(object, "mark"));
    for (int i = 0; text && i < WORDS; i++)
        if (strcmp(words[i], text) == 0) {
            *out = (enum mark_word)i;
            return DOPPEL_OK;
        }
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "\"mark\" is to be \"keep\", \"remove\", \"leave\", \"same\" or "
                       "\"distinct\"");
}

/* @param out given; NULL: it is not there */
static enum doppel_status read_bytes(const json_t *object, const char *key, char **out,
                                     struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    field_bytes(&fields, key, out);
    return fields.status;
}

static enum doppel_status read_named_file(const json_t *object, const char *key,
                                          const char *digest_key, struct named_file *out,
                                          struct doppel_error *error)
{
    const json_t *digest = json_object_get(object, digest_key);
    const char *hex = json_string_value(digest);
    enum doppel_status status = read_bytes(object, key, &out->path, error);
    if (status)
        return status;
    if (!digest && !out->path)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it has neither \"%s\" nor \"%s\"", key,
                           digest_key);
    out->has_digest = digest != NULL;
    if (digest && (!hex || doppel_hex_decode(hex, out->digest.bytes, sizeof out->digest.bytes)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "\"%s\" is no digest: '%.80s'", digest_key,
                           hex ? hex : "");
    return DOPPEL_OK;
}

/* Those that were not chosen. */
static enum doppel_status read_over(const json_t *object, struct mark_line *line,
                                    struct doppel_error *error)
{
    const json_t *over = json_object_get(object, "over"), *member;
    size_t i;
    if (over && !json_is_array(over))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "\"over\" is no list");
    json_array_foreach(over, i, member)
    {
        struct named_file file = {0};
        enum doppel_status status = read_named_file(member, "path", "digest", &file, error);
        if (!status && !array_push(&line->over, file))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a mark");
        if (status) {
            free(file.path);
            return status;
        }
    }
    return DOPPEL_OK;
}

static enum doppel_status read_mark_object(const json_t *object, struct mark_line *line,
                                           struct doppel_error *error)
{
    enum doppel_status status = read_word(object, &line->word, error);
    if (status)
        return status;
    status = read_bytes(object, "note", &line->note, error);
    if (status)
        return status;
    status = read_named_file(object, "a", "a_digest", &line->a, error);
    if (status)
        return status;
    return line->word >= MARK_SAME ? read_named_file(object, "b", "b_digest", &line->b, error)
                                   : read_over(object, line, error);
}

enum doppel_status mark_line_read(const char *line, size_t size, struct mark_line *out,
                                  struct doppel_error *error)
{
    struct mark_line read = {0};
    json_error_t wrong;
    json_t *object = json_loadb(line, size, 0, &wrong);
    enum doppel_status status =
        json_is_object(object) ? read_mark_object(object, &read, error)
                               : doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no object in JSON");
    json_decref(object);
    if (status)
        mark_line_free(&read);
    else
        *out = read;
    return status;
}

void mark_line_free(struct mark_line *line)
{
    for (size_t i = 0; i < line->over.count; i++)
        free(line->over.items[i].path);
    array_free(&line->over);
    free(line->a.path);
    free(line->b.path);
    free(line->note);
    *line = (struct mark_line){0};
}

/* ---- a file of them ---- */

/* What is said of a file; of one of a pair nothing. */
struct marked_file {
    struct doppel_digest digest;
    char *path; /* NULL: not given */
    enum doppel_file_mark mark;
    bool seen;      /* its bytes are there */
    size_t closest; /* how near its path is to the nearest one of those (shared_tail) */
};

struct doppel_marks {
    char *name;                      /* of the file they were read from */
    ARRAY(struct marked_file) files; /* by digest */
    struct manual_labels labels;
};

const char *doppel_file_mark_name(enum doppel_file_mark mark)
{
    static const char *const names[] = {[DOPPEL_FILE_UNMARKED] = NULL,
                                        [DOPPEL_FILE_REMOVE] = "remove",
                                        [DOPPEL_FILE_LEAVE] = "leave",
                                        [DOPPEL_FILE_KEEP] = "keep"};
    return (unsigned)mark < sizeof names / sizeof *names ? names[mark] : NULL;
}

/* @param file its path is taken, also on failure */
static enum doppel_status add_marked_file(struct doppel_marks *marks, struct named_file *file,
                                          enum doppel_file_mark mark, struct doppel_error *error)
{
    struct marked_file marked = {.digest = file->digest, .path = file->path, .mark = mark};
    if (!file->has_digest)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "it has no digest: without a library, files are known by that");
    if (!array_push(&marks->files, marked))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many marks");
    file->path = NULL;
    return DOPPEL_OK;
}

static enum doppel_status add_mark(struct doppel_marks *marks, struct mark_line *line,
                                   struct doppel_error *error)
{
    static const enum doppel_file_mark file_marks[WORDS] = {[MARK_KEEP] = DOPPEL_FILE_KEEP,
                                                            [MARK_REMOVE] = DOPPEL_FILE_REMOVE,
                                                            [MARK_LEAVE] = DOPPEL_FILE_LEAVE};
    enum doppel_status status = add_marked_file(marks, &line->a, file_marks[line->word], error);
    if (status || line->word < MARK_SAME)
        return status;
    status = add_marked_file(marks, &line->b, DOPPEL_FILE_UNMARKED, error);
    if (status)
        return status;
    return manual_labels_add(&marks->labels, &line->a.digest, &line->b.digest,
                             line->word == MARK_SAME ? DOPPEL_LABEL_SAME : DOPPEL_LABEL_DISTINCT,
                             error);
}

static int compare_marked_files(const void *left, const void *right)
{
    const struct marked_file *a = left, *b = right;
    return memcmp(&a->digest, &b->digest, sizeof a->digest);
}

/* All of a file. @param out given (free) */
static enum doppel_status load_marks_file(const char *path, char **out, size_t *out_size,
                                          struct doppel_error *error)
{
    enum { AT_ONCE = 1 << 16 };
    ARRAY(char) text = {0};
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    enum doppel_status status = DOPPEL_OK;
    if (!stream)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(errno));
    for (size_t got = 1; got && !status; text.count += got) {
        while (text.capacity - text.count < AT_ONCE && !status)
            if (!array_grow((void **)&text.items, text.capacity, &text.capacity, 1))
                status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory for it", path);
        got = status ? 0 : fread(text.items + text.count, 1, AT_ONCE, stream);
        if (text.count > LARGEST_FILE)
            status = doppel_fail(error, DOPPEL_E_FORMAT, "%s: is too large for marks", path);
    }
    if (!status && ferror(stream))
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    if (stream != stdin)
        (void)fclose(stream);
    if (status) {
        array_free(&text);
        return status;
    }
    *out = text.items;
    *out_size = text.count;
    return DOPPEL_OK;
}

static bool is_blank_text(const char *text, size_t size)
{
    while (size && strchr(" \t\r", text[size - 1]) && text[size - 1])
        size--;
    return size == 0;
}

static enum doppel_status take_mark_text(struct doppel_marks *marks, const char *text, size_t size,
                                         struct doppel_error *error)
{
    struct mark_line line;
    if (is_blank_text(text, size))
        return DOPPEL_OK;
    enum doppel_status status = mark_line_read(text, size, &line, error);
    if (status)
        return status;
    status = add_mark(marks, &line, error);
    mark_line_free(&line);
    return status;
}

/* What is wrong in one line may have lost the next ones, too: nothing is to be done by the rest. */
static enum doppel_status take_mark_lines(struct doppel_marks *marks, const char *text, size_t size,
                                          struct doppel_error *error)
{
    const char *end = text + size;
    struct doppel_error wrong;
    for (size_t number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        enum doppel_status status = take_mark_text(marks, text, length, &wrong);
        if (status)
            return doppel_fail(error, status == DOPPEL_E_MEMORY ? status : DOPPEL_E_FORMAT,
                               "%s:%zu: %s", marks->name, number, wrong.message);
        text += length + 1;
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_marks_read_bytes(const char *bytes, size_t size, const char *name,
                                           struct doppel_marks **out, struct doppel_error *error)
{
    struct doppel_marks *marks = calloc(1, sizeof *marks);
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (marks)
        marks->name = strdup(name);
    if (!marks || !marks->name)
        doppel_fail(error, DOPPEL_E_MEMORY, "no memory for marks");
    else
        status = take_mark_lines(marks, bytes, size, error);
    if (status) {
        doppel_marks_free(marks);
        return status;
    }
    if (marks->files.count)
        qsort(marks->files.items, marks->files.count, sizeof *marks->files.items,
              compare_marked_files);
    *out = marks;
    return DOPPEL_OK;
}

enum doppel_status doppel_marks_read(const char *path, struct doppel_marks **out,
                                     struct doppel_error *error)
{
    char *text = NULL;
    size_t size = 0;
    enum doppel_status status = load_marks_file(path, &text, &size, error);
    if (!status)
        status = doppel_marks_read_bytes(text, size, path, out, error);
    free(text);
    return status;
}

void doppel_marks_free(struct doppel_marks *marks)
{
    if (!marks)
        return;
    for (size_t i = 0; i < marks->files.count; i++)
        free(marks->files.items[i].path);
    array_free(&marks->files);
    manual_labels_free(&marks->labels);
    free(marks->name);
    free(marks);
}

const struct manual_labels *marks_labels(const struct doppel_marks *marks)
{
    return &marks->labels;
}

/* ---- looked up ---- */

/* Those of some bytes. @param out_count 0: there are none */
static struct marked_file *marks_of_bytes(const struct doppel_marks *marks,
                                          const struct doppel_digest *digest, size_t *out_count)
{
    size_t first = 0, end = marks->files.count, count = 0;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (memcmp(&marks->files.items[middle].digest, digest, sizeof *digest) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    while (first + count < marks->files.count &&
           memcmp(&marks->files.items[first + count].digest, digest, sizeof *digest) == 0)
        count++;
    *out_count = count;
    return count ? marks->files.items + first : NULL;
}

/* Without what leads from a folder to itself. */
static const char *without_dots(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    return path;
}

/* How many of their last names two paths share; AT_PATH: all. */
static size_t shared_tail(const char *a, const char *b)
{
    a = without_dots(a);
    b = without_dots(b);
    const char *a_end = a + strlen(a), *b_end = b + strlen(b);
    size_t names = 0;
    for (; a_end > a && b_end > b && a_end[-1] == b_end[-1]; a_end--, b_end--)
        names += a_end[-1] == '/';
    if (a_end == a && b_end == b)
        return AT_PATH;
    bool whole_name = (a_end == a || a_end[-1] == '/') && (b_end == b || b_end[-1] == '/');
    return names + (whole_name && *a_end);
}

static size_t closeness(const struct marked_file *file, const char *path)
{
    return file->path && path ? shared_tail(file->path, path) : 0;
}

void marks_note_file(struct doppel_marks *marks, const struct doppel_digest *digest,
                     const char *path)
{
    size_t count;
    struct marked_file *files = marks_of_bytes(marks, digest, &count);
    for (size_t i = 0; i < count; i++) {
        size_t close = closeness(&files[i], path);
        files[i].seen = true;
        files[i].closest = close > files[i].closest ? close : files[i].closest;
    }
}

/* The one that loses least outranks the others. */
static enum doppel_file_mark safer_mark(enum doppel_file_mark a, enum doppel_file_mark b)
{
    return a > b ? a : b;
}

/* Of several files of the same bytes a mark is of that whose path is nearest to the one it names:
 * paths are spelt otherwise from another folder. */
enum doppel_file_mark marks_find(const struct doppel_marks *marks,
                                 const struct doppel_digest *digest, const char *path)
{
    enum doppel_file_mark found = DOPPEL_FILE_UNMARKED;
    size_t count, nearest = 0;
    const struct marked_file *files = marks_of_bytes(marks, digest, &count);
    for (size_t i = 0; i < count; i++) {
        size_t close = closeness(&files[i], path);
        if (close < files[i].closest || close < nearest)
            continue;
        found = close > nearest ? files[i].mark : safer_mark(found, files[i].mark);
        nearest = close;
    }
    return found;
}

/* "a.jpg, b.jpg, …" */
static void list_missing(const struct doppel_marks *marks, bool pairs, char *out, size_t size,
                         size_t *count)
{
    enum { SHOWN = 3 };
    size_t used = 0;
    for (size_t i = 0; i < marks->files.count; i++) {
        const struct marked_file *file = &marks->files.items[i];
        bool wanted = pairs || file->mark != DOPPEL_FILE_UNMARKED;
        if (file->seen || !wanted || (*count)++ > SHOWN)
            continue;
        const char *name = *count > SHOWN ? "\u2026" : file->path ? file->path : "a file";
        int length = snprintf(out + used, size - used, "%s%.200s", *count > 1 ? ", " : "", name);
        used += length > 0 ? (size_t)length : 0;
    }
}

void marks_report_missing(const struct doppel_marks *marks, bool pairs, struct doppel_run *run)
{
    char names[1024] = "", text[1200];
    size_t count = 0;
    list_missing(marks, pairs, names, sizeof names, &count);
    snprintf(text, sizeof text, "%zu of its marks %s of %s not here, gone or changed: %s", count,
             count == 1 ? "is" : "are", count == 1 ? "a file that is" : "files that are", names);
    if (count)
        doppel_run_fail_input(run, marks->name, text);
}
