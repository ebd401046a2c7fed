/* Fuzz target: a line of an export, or else a list (CSV, codes, digests) as a whole, as import
 * reads them; what they carry is kept by nobody. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exchange/import_source.h"
#include "exchange/model_read.h"
#include "exchange/model_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An item that is given on is one: its codes are there, and strings end. */
static enum doppel_status take_item(void *context, const struct exchange_item *item,
                                    struct doppel_error *error)
{
    (void)context;
    (void)error;
    const struct doppel_fingerprint *fingerprint = &item->item.record.fingerprint;
    uint64_t sum = strlen(item->item.path);
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        if (i && fingerprint->positions[i] < fingerprint->positions[i - 1])
            abort();
        sum += fingerprint->codes[i].word[0];
    }
    for (size_t i = 0; i < item->about.label_count; i++)
        sum += strlen(item->about.labels[i]);
    struct doppel_json again = {0};
    write_item(&again, item);
    doppel_json_free(&again);
    return sum == 42 ? DOPPEL_E_ARGUMENT : DOPPEL_OK;
}

static enum doppel_status take_text(void *context, const struct exchange_text *text,
                                    struct doppel_error *error)
{
    (void)context;
    (void)error;
    for (uint64_t i = 1; text->text->shingles && i < text->text->shingle_total; i++)
        if (text->text->shingles[i] <= text->text->shingles[i - 1])
            abort();
    struct doppel_json again = {0};
    write_text(&again, text);
    doppel_json_free(&again);
    return DOPPEL_OK;
}

static enum doppel_status take_policy(void *context, const struct doppel_keep_policy *policy,
                                      struct doppel_error *error)
{
    (void)context;
    (void)error;
    if (policy->count > DOPPEL_KEEP_CRITERIA)
        abort();
    return DOPPEL_OK;
}

static enum doppel_status take_source(void *context, const char *pattern, int64_t authority,
                                      struct doppel_error *error)
{
    (void)context;
    (void)error;
    return strlen(pattern) == (size_t)authority ? DOPPEL_E_ARGUMENT : DOPPEL_OK;
}

static enum doppel_status take_list(void *context, const struct doppel_list *list,
                                    struct doppel_error *error)
{
    (void)context;
    (void)error;
    return strlen(list->name) == (size_t)list->state ? DOPPEL_E_ARGUMENT : DOPPEL_OK;
}

static enum doppel_status take_options(void *context, const struct doppel_text_options *options,
                                       const struct doppel_text_limits *limits,
                                       struct doppel_error *error)
{
    (void)context;
    (void)limits;
    (void)error;
    if (options->lanes != 128 && options->lanes != 256)
        abort();
    return DOPPEL_OK;
}

static enum doppel_status take_mark(void *context, const struct doppel_mark *mark,
                                    struct doppel_error *error)
{
    (void)context;
    (void)error;
    return mark->note && strlen(mark->note) == 1 ? DOPPEL_E_ARGUMENT : DOPPEL_OK;
}

static const struct exchange_sink sink = {.policy = take_policy,
                                          .source = take_source,
                                          .list = take_list,
                                          .text_options = take_options,
                                          .item = take_item,
                                          .text = take_text,
                                          .mark = take_mark};

static void read_export_line(const uint8_t *data, size_t size)
{
    struct doppel_error error;
    json_t *object = json_loadb((const char *)data, size, 0, NULL);
    if (object)
        (void)exchange_json_line(object, &sink, &error);
    json_decref(object);
}

static void read_list_file(const uint8_t *data, size_t size, struct doppel_run *run)
{
    enum { LONGEST_LINE = 1 << 16 };
    struct doppel_error error;
    struct import_source source = {.name = "fuzzed", .run = run, .sink = &sink, .size = size};
    int fd = memfd_create("list", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    line_reader_begin(&source.reader, fd, LONGEST_LINE, run);
    enum doppel_exchange_format format = import_format(&source, &error);
    if (format == DOPPEL_EXCHANGE_CSV)
        (void)import_csv(&source, &error);
    else if (format != DOPPEL_EXCHANGE_AUTO && format != DOPPEL_EXCHANGE_JSON)
        (void)import_lines(&source, format, &error);
    line_reader_end(&source.reader);
    close(fd);
}

static struct doppel_run *run;

static void end_run(void)
{
    doppel_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!run && (doppel_run_new(NULL, &run, NULL) || atexit(end_run)))
        abort();
    if (size && *data == '{')
        read_export_line(data, size);
    else
        read_list_file(data, size, run);
    return 0;
}
