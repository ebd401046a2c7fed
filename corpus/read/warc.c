/* WARC and WET files of web archives as lines of JSON. */
#include "corpus/read/warc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <doppel/text.h>

#include "core/try.h"
#include "corpus/read/json_line.h"
#include "corpus/read/warc_header.h"

enum { INPUT_BYTES = 1 << 18, MOST_HEADER_BYTES = 1 << 16 };

struct warc {
    struct corpus_source *source;
    uint64_t max_bytes;
    char *input; /* read, and from `at` on not yet used */
    size_t at, end, capacity;
    bool ended;               /* of the source */
    struct json_line line;    /* that is given now */
    size_t given;             /* bytes of it */
    struct doppel_text *html; /* NULL: none was met yet */
};

bool warc_begins(const char *bytes, size_t size)
{
    static const char mark[] = "WARC/";
    return size >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0;
}

struct warc *warc_new(struct corpus_source *source, uint64_t max_bytes, const char *begun,
                      size_t size)
{
    struct warc *warc = calloc(1, sizeof *warc);
    size_t capacity = size < INPUT_BYTES ? INPUT_BYTES : size;
    if (warc)
        warc->input = malloc(capacity);
    if (!warc || !warc->input) {
        free(warc);
        return NULL;
    }
    memcpy(warc->input, begun, size);
    warc->end = size;
    warc->capacity = capacity;
    warc->source = source;
    warc->max_bytes = max_bytes;
    return warc;
}

void warc_free(struct warc *warc)
{
    if (!warc)
        return;
    doppel_text_free(warc->html);
    json_line_free(&warc->line);
    free(warc->input);
    free(warc);
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

static enum doppel_status write_page_line(struct warc *warc, const struct warc_header *header,
                                          const struct byte_span *words, struct doppel_error *error)
{
    struct json_line *line = &warc->line;
    json_line_begin(line);
    json_line_field(line, "id", header->address);
    json_line_field(line, "record", header->record);
    json_line_field(line, "source", warc_host(header->address));
    json_line_field(line, "date", header->date);
    json_line_field(line, "text", *words);
    json_line_end(line);
    return line->failed ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page") : DOPPEL_OK;
}

/* The next record to a line, or to none where it is no page. */
static enum doppel_status take_record_of(struct warc *warc, bool *out_end,
                                         struct doppel_error *error)
{
    struct byte_span raw, words = {0};
    struct warc_header header;
    struct warc_page page = {0};
    enum doppel_status status;
    TRY(find_header(warc, &raw, error));
    *out_end = !raw.size;
    if (*out_end)
        return DOPPEL_OK;
    if (!warc_header_of(raw, &header))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "where a record should begin there is none; the rest is not read");
    if (!header.is_page || header.size > warc->max_bytes) {
        if (header.is_page)
            TRY(write_page_line(warc, &header, &words, error));
        warc->at += raw.size;
        return pass_over_bytes(warc, header.size, error);
    }
    TRY(have_bytes(warc, raw.size + (size_t)header.size, error));
    if (warc->end - warc->at < raw.size + (size_t)header.size)
        return cut_page(error);
    raw.bytes = warc->input + warc->at; /* it may have moved */
    (void)warc_header_of(raw, &header);
    warc->at += raw.size;
    if (warc_page_of(&header, warc->input + warc->at, &page)) {
        TRY(find_words(warc, &page, &words, error));
        TRY(write_page_line(warc, &header, &words, error));
    }
    warc->at += (size_t)header.size;
done:
    return status;
}

enum doppel_status warc_read(struct warc *warc, char *buffer, size_t size, size_t *out_size,
                             struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool end = false;
    *out_size = 0;
    while (warc->given == warc->line.size && !end) {
        warc->given = 0;
        json_line_clear(&warc->line);
        TRY(take_record_of(warc, &end, error));
    }
    size_t left = warc->line.size - warc->given;
    *out_size = left < size ? left : size;
    if (*out_size)
        memcpy(buffer, warc->line.bytes + warc->given, *out_size);
    warc->given += *out_size;
done:
    return status;
}
