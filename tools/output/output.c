/* Results on stdout: picks the format, watches for a closed pipe and a full disk. */
#include "tools/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/text/base64.h"
#include "tools/memory.h"
#include "tools/args/options.h"
#include "tools/output/formats.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

struct output {
    const struct layout *layout;
    struct report *report;
    FILE *stream;
    enum format format;
    bool bare;         /* -0 */
    uint64_t pathless; /* so many rows had nothing to print */
    bool color, trees, sheets;
    bool begun;    /* a sheet was printed */
    bool terminal; /* where the progress line is in the way */
    int failed;    /* errno of the first write that failed */
    struct text_table *table;
    struct cue_sheet cue;
    struct doppel_json row; /* the one that is written */
};

static bool wants_color(const struct settings *settings, bool terminal)
{
    const char *no_color = getenv("NO_COLOR"); /* no-color.org */
    if (settings->color != COLOR_AUTO)
        return settings->color == COLOR_ALWAYS;
    return terminal && !(no_color && *no_color);
}

struct output *output_new(const struct settings *settings, const struct layout *layout,
                          struct report *report)
{
    struct output *output = must_allocate(sizeof *output);
    bool terminal = isatty(STDOUT_FILENO) == 1;
    *output = (struct output){.layout = layout,
                              .report = report,
                              .stream = stdout,
                              .format = settings->format,
                              .terminal = terminal};
    output->bare = settings->null_separated && !settings->format_given && layout->path_key;
    if (output->bare)
        return output;
    output->color = wants_color(settings, terminal);
    if (output->format == FORMAT_TABLE)
        output->table = table_new(layout, output->color);
    if (output->format == FORMAT_CSV)
        csv_write_header(output->stream, layout);
    if (output->format == FORMAT_M3U)
        m3u_begin(output->stream);
    return output;
}

/* The value at a dotted key: "transform.mirrored". */
static json_t *value_at(const json_t *object, const char *key)
{
    char name[64];
    const char *dot;
    while ((dot = strchr(key, '.'))) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        object = json_object_get(object, name);
        key = dot + 1;
    }
    return json_object_get(object, key);
}

json_t *cell_value(const struct layout *layout, const json_t *row, const json_t *element,
                   const char *key)
{
    size_t prefix = layout->expand ? strlen(layout->expand) : 0;
    if (prefix && strncmp(key, layout->expand, prefix) == 0 && key[prefix] == '.')
        return value_at(element, key + prefix + 1);
    return value_at(row, key);
}

char *cell_text(const json_t *value)
{
    if (!value)
        return NULL;
    if (json_is_string(value))
        return must_copy(json_string_value(value));
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

/* @param encoded NULL: the path is UTF-8 */
static void write_bare_path(struct output *output, const json_t *encoded, const json_t *path)
{
    size_t size;
    char *bytes = encoded ? base64_decode(json_string_value(encoded), &size) : cell_text(path);
    if (bytes)
        fwrite(bytes, 1, strlen(bytes) + 1, output->stream);
    free(bytes);
}

/* The path, and the other names of its file, without which nothing is freed. */
static void write_bare(struct output *output, const json_t *row, const json_t *element)
{
    const struct layout *layout = output->layout;
    char base64_key[64];
    size_t i;
    json_t *name;
    snprintf(base64_key, sizeof base64_key, "%s_base64", layout->path_key);
    const json_t *path = cell_value(layout, row, element, layout->path_key);
    output->pathless += !path;
    write_bare_path(output, cell_value(layout, row, element, base64_key), path);
    json_array_foreach(json_object_get(element, "names"), i, name) write_bare_path(
        output, json_object_get(name, "path_base64"), json_object_get(name, "path"));
}

static void write_line(struct output *output, const json_t *row, const json_t *element)
{
    bool (*wants)(const json_t *, const json_t *) = output->layout->bare_wants;
    if (output->bare && (!element || !wants || wants(row, element)))
        write_bare(output, row, element);
    if (output->bare)
        return;
    if (output->format == FORMAT_CSV)
        csv_write_row(output->stream, output->layout, row, element, output->terminal);
    else
        table_add(output->table, output->stream, row, element);
}

static void write_lines(struct output *output, const json_t *row)
{
    if (!output->layout->expand) {
        write_line(output, row, NULL);
        return;
    }
    size_t index;
    json_t *element;
    json_array_foreach(json_object_get(row, output->layout->expand), index, element)
        write_line(output, row, element);
    if (output->table)
        table_end_group(output->table);
}

static void note_output_failure(struct output *output)
{
    if (output->failed || !ferror(output->stream))
        return;
    output->failed = errno ? errno : EIO;
    if (output->failed == EPIPE)
        signals_closed_pipe();
}

static size_t terminal_columns(void)
{
    struct winsize window;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

/* @return whether there would have been one */
static bool without_table(struct output *output)
{
    if (!output->table)
        return false;
    table_finish(output->table, output->stream);
    output->table = NULL;
    return true;
}

void output_trees(struct output *output)
{
    output->trees = without_table(output);
}

void output_sheets(struct output *output)
{
    output->sheets = without_table(output);
}

static void write_sheet(struct output *output, const json_t *row)
{
    if (output->begun)
        fputc('\n', output->stream);
    output->begun = true;
    sheet_print(output->stream, output->layout, row, output->color);
}

void output_parsed(struct output *output, const json_t *row)
{
    errno = 0;
    if (output->terminal)
        progress_clear(&output->report->progress);
    if (output->trees)
        tree_print(output->stream, row, output->color, output->terminal ? terminal_columns() : 0);
    else if (output->sheets)
        write_sheet(output, row);
    else if (output->format == FORMAT_CUE)
        cue_print(&output->cue, output->stream, row);
    else if (output->format == FORMAT_M3U)
        m3u_print(output->stream, row);
    else
        write_lines(output, row);
    note_output_failure(output);
}

static void print_json_line(struct output *output, const struct doppel_json *object)
{
    errno = 0;
    if (output->terminal)
        progress_clear(&output->report->progress);
    fwrite(object->bytes, 1, object->size, output->stream);
    fputc('\n', output->stream);
    (void)fflush(output->stream);
    note_output_failure(output);
}

void output_object(struct output *output, const struct doppel_json *object)
{
    if (object->failed)
        no_memory();
    if (!output->bare && output->format == FORMAT_JSON) {
        print_json_line(output, object);
        return;
    }
    json_t *row = must_have(json_loadb(object->bytes, object->size, 0, NULL));
    output_parsed(output, row);
    json_decref(row);
}

struct doppel_json *output_begin(struct output *output)
{
    doppel_json_clear(&output->row);
    doppel_json_object_begin(&output->row, NULL);
    return &output->row;
}

void output_end(struct output *output)
{
    doppel_json_object_end(&output->row);
    output_object(output, &output->row);
}

void output_line(struct output *output, const char *text)
{
    if (output->bare || output->format != FORMAT_TABLE)
        return;
    output_flush(output);
    fprintf(output->stream, "%s%s%s\n", output->color ? "\033[1m" : "", text,
            output->color ? "\033[0m" : "");
}

void output_flush(struct output *output)
{
    errno = 0;
    if (output->table)
        table_flush(output->table, output->stream);
    (void)fflush(output->stream);
    note_output_failure(output);
}

bool output_finish(struct output *output)
{
    errno = 0;
    if (output->terminal)
        progress_clear(&output->report->progress);
    if (output->table)
        table_finish(output->table, output->stream);
    (void)fflush(output->stream);
    note_output_failure(output);
    if (output->pathless)
        report_notice(output->report, "%llu without a path: not printed",
                      (unsigned long long)output->pathless);
    int failed = output->failed;
    doppel_json_free(&output->row);
    if (failed && failed != EPIPE)
        report_fatal(output->report, "standard output: %s", strerror(failed));
    free(output);
    return !failed;
}
