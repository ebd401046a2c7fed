/* WARC and WET files of web archives: a row a page, with "id" (its address), "record" (the record's
 * own id), "source" (its host), "date", and "text", of HTML without its markup. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <doppel/text.h>

#include "core/try.h"
#include "corpus/read/archive.h"
#include "corpus/read/warc_header.h"

enum { INPUT_BYTES = 1 << 18, MOST_HEADER_BYTES = 1 << 16 };

enum warc_column { WARC_ID, WARC_RECORD, WARC_SOURCE, WARC_DATE, WARC_TEXT, WARC_COLUMNS };

struct warc {
    struct corpus_source *source;
    uint64_t max_bytes;
    char *input; /* read, and from `at` on not yet used */
    size_t at, end, capacity;
    bool ended;               /* of the source */
    struct doppel_text *html; /* NULL: none was met yet */
};

/* ---- life ---- */

static bool warc_begins(const char *bytes, size_t size)
{
    static const char mark[] = "WARC/";
    return size >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0;
}

static void warc_free(void *state)
{
    struct warc *warc = state;
    doppel_text_free(warc->html);
    free(warc->input);
    free(warc);
}

static enum doppel_status warc_open(const struct archive_input *input, void **out,
                                    struct row_layout **out_layout, struct doppel_error *error)
{
    static const char *const names[WARC_COLUMNS] = {"id", "record", "source", "date", "text"};
    struct warc *warc = calloc(1, sizeof *warc);
    size_t capacity = input->begun_size < INPUT_BYTES ? INPUT_BYTES : input->begun_size;
    if (!warc)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a web archive");
    warc->input = malloc(capacity);
    *out_layout = row_layout_new(names, WARC_COLUMNS, '\0');
    if (!warc->input || !*out_layout) {
        warc_free(warc);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a web archive");
    }
    memcpy(warc->input, input->begun, input->begun_size);
    warc->end = input->begun_size;
    warc->capacity = capacity;
    warc->source = input->source;
    warc->max_bytes = input->max_bytes;
    *out = warc;
    return DOPPEL_OK;
}

/* ---- input ---- */

/* Have `wanted` bytes at hand, or all that there are. */
static enum doppel_status have_bytes(struct warc *warc, size_t wanted, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (warc->end - warc->at >= wanted || warc->ended)
        return DOPPEL_OK;
    if (warc->at)
        memmove(warc->input, warc->input + warc->at, warc->end - warc->at);
    warc->end -= warc->at;
    warc->at = 0;
    while (warc->end < wanted && !warc->ended) {
        size_t got = 0;
        if (warc->end == warc->capacity) {
            size_t capacity = 2 * warc->capacity;
            char *grown = realloc(warc->input, capacity);
            if (!grown)
                return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a page");
            warc->input = grown;
            warc->capacity = capacity;
        }
        TRY(source_read(warc->source, warc->input + warc->end, warc->capacity - warc->end, &got,
                        error));
        warc->end += got;
        warc->ended = got == 0;
    }
done:
    return status;
}

static enum doppel_status cut_page(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "the last record is cut short; fetch the file again (what was whole is "
                       "read)");
}

static enum doppel_status pass_over_bytes(struct warc *warc, uint64_t size,
                                          struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (size) {
        TRY(have_bytes(warc, 1, error));
        size_t left = warc->end - warc->at;
        if (!left)
            return cut_page(error);
        size_t some = size < left ? (size_t)size : left;
        warc->at += some;
        size -= some;
    }
done:
    return status;
}

/* ---- a record ---- */

/* Its header, or of size 0 the end. Borrowed until more is read. */
static enum doppel_status find_header(struct warc *warc, struct byte_span *out,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    TRY(have_bytes(warc, 1, error));
    while (warc->at < warc->end &&
           (warc->input[warc->at] == '\r' || warc->input[warc->at] == '\n')) {
        warc->at++;
        TRY(have_bytes(warc, 1, error));
    }
    *out = (struct byte_span){0};
    if (warc->at == warc->end)
        return DOPPEL_OK;
    for (size_t wanted = 4096;; wanted *= 2) {
        TRY(have_bytes(warc, wanted, error));
        size_t size = warc_header_size(warc->input + warc->at, warc->end - warc->at);
        if (size) {
            *out = (struct byte_span){warc->input + warc->at, size};
            break;
        }
        if (warc->ended || wanted > MOST_HEADER_BYTES)
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "where a record should begin there is none; the rest is not read");
    }
done:
    return status;
}

/* The words of a page. @param out borrowed until the next call; NULL: it has none */
static enum doppel_status find_words(struct warc *warc, const struct warc_page *page,
                                     struct byte_span *out, struct doppel_error *error)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_error why;
    enum doppel_status status = DOPPEL_OK;
    *out = page->content;
    if (!page->is_html)
        return DOPPEL_OK;
    options.format = DOPPEL_TEXT_HTML;
    if (!warc->html)
        TRY(doppel_text_new(&options, &warc->html, error));
    status = doppel_text_plain(warc->html, page->content.bytes, page->content.size, &out->bytes,
                               &out->size, &why);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why.message);
    if (status)
        *out = (struct byte_span){0};
    status = DOPPEL_OK;
done:
    return status;
}

static void write_page_row(struct row_writer *rows, const struct warc_header *header,
                           const struct byte_span *words)
{
    row_add(rows, WARC_ID, false, header->address);
    row_add(rows, WARC_RECORD, false, header->record);
    row_add(rows, WARC_SOURCE, false, warc_host(header->address));
    row_add(rows, WARC_DATE, false, header->date);
    row_add(rows, WARC_TEXT, false, *words);
}

/* A page that is too large, of which its names are known. */
static enum doppel_status leave_page_out(struct warc *warc, const struct warc_header *header,
                                         struct row_writer *rows, struct doppel_error *error)
{
    const struct byte_span words = {0};
    row_begin(rows);
    write_page_row(rows, header, &words);
    row_leave_out(rows, header->size);
    row_finish(rows);
    return pass_over_bytes(warc, header->size, error);
}

static enum doppel_status take_web_page(struct warc *warc, struct warc_header *header,
                                        struct row_writer *rows, struct doppel_error *error)
{
    struct warc_page page = {0};
    struct byte_span words = {0};
    enum doppel_status status = DOPPEL_OK;
    if (warc_page_of(header, warc->input + warc->at, &page)) {
        TRY(find_words(warc, &page, &words, error));
        row_begin(rows);
        write_page_row(rows, header, &words);
        row_finish(rows);
    }
    warc->at += (size_t)header->size;
done:
    return status;
}

/* The next record to a row, or to none where it is no page. */
static enum doppel_status take_record_of(struct warc *warc, struct row_writer *rows, bool *out_end,
                                         struct doppel_error *error)
{
    struct byte_span raw;
    struct warc_header header;
    enum doppel_status status;
    TRY(find_header(warc, &raw, error));
    *out_end = !raw.size;
    if (*out_end)
        return DOPPEL_OK;
    if (!warc_header_of(raw, &header))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "where a record should begin there is none; the rest is not read");
    if (!header.is_page || header.size > warc->max_bytes) {
        warc->at += raw.size;
        return header.is_page ? leave_page_out(warc, &header, rows, error)
                              : pass_over_bytes(warc, header.size, error);
    }
    TRY(have_bytes(warc, raw.size + (size_t)header.size, error));
    if (warc->end - warc->at < raw.size + (size_t)header.size)
        return cut_page(error);
    raw.bytes = warc->input + warc->at; /* it may have moved */
    (void)warc_header_of(raw, &header);
    warc->at += raw.size;
    TRY(take_web_page(warc, &header, rows, error));
done:
    return status;
}

static enum doppel_status warc_rows(void *state, struct row_writer *rows,
                                    struct doppel_error *error)
{
    struct warc *warc = state;
    enum doppel_status status = DOPPEL_OK;
    bool end = false;
    while (!end && !rows->size)
        TRY(take_record_of(warc, rows, &end, error));
done:
    return status;
}

const struct archive_format warc_format = {
    .begins = warc_begins, .open = warc_open, .rows = warc_rows, .free = warc_free};
