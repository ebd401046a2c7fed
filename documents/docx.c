/* DOCX: the text of a document of words, its footnotes behind it. Source: ECMA-376, part 1, 17. */
#include <string.h>

#include "core/try.h"
#include "documents/parts.h"
#include "documents/xml.h"

struct docx_reading {
    struct document_writer *out;
    unsigned in_text;  /* within a run of text */
    unsigned left_out; /* within what is not read: depth */
};

/* What was deleted or moved away, and what stands in for what other programs cannot show. */
static bool is_docx_left_out(const char *name)
{
    static const char *const names[] = {"del", "moveFrom", "Fallback"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void begin_docx(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct docx_reading *reading = context;
    char type[16];
    if (reading->left_out || is_docx_left_out(name))
        reading->left_out++;
    else if (strcmp(name, "t") == 0)
        reading->in_text++;
    else if (strcmp(name, "lastRenderedPageBreak") == 0)
        writer_page(reading->out);
    else if (strcmp(name, "br") == 0 || strcmp(name, "cr") == 0) {
        writer_line(reading->out);
        if (xml_attribute(attributes, "w:type", type, sizeof type) && strcmp(type, "page") == 0)
            writer_page(reading->out);
    } else if (strcmp(name, "tab") == 0)
        writer_space(reading->out);
    else if (strcmp(name, "noBreakHyphen") == 0)
        writer_add(reading->out, "-", 1);
}

static void end_docx(void *context, const char *name)
{
    struct docx_reading *reading = context;
    if (reading->left_out)
        reading->left_out--;
    else if (strcmp(name, "t") == 0)
        reading->in_text--;
    else if (strcmp(name, "p") == 0)
        writer_line(reading->out);
}

static void take_docx_text(void *context, const char *bytes, size_t size)
{
    struct docx_reading *reading = context;
    if (reading->in_text && !reading->left_out)
        writer_add(reading->out, bytes, size);
}

/* The main part is called word/document.xml by nearly everybody, document2.xml by some. */
static bool is_body(const char *name)
{
    static const char start[] = "word/document";
    const char *rest = name + sizeof start - 1;
    return strncmp(name, start, sizeof start - 1) == 0 && !strchr(rest, '/') &&
           strcmp(rest + strspn(rest, "0123456789"), ".xml") == 0;
}

static bool is_docx_part(const char *name)
{
    return is_body(name) || strcmp(name, "word/footnotes.xml") == 0 ||
           strcmp(name, "word/endnotes.xml") == 0;
}

static enum doppel_status read_words_of_part(const struct office_part *part,
                                             struct document_writer *out,
                                             struct doppel_error *error)
{
    static const struct xml_handler handler = {begin_docx, end_docx, take_docx_text};
    struct docx_reading reading = {.out = out};
    return part ? xml_read(part->bytes, part->size, &handler, &reading, error) : DOPPEL_OK;
}

enum doppel_status read_docx(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    struct document_parts parts = {0};
    const struct office_part *body = NULL;
    enum doppel_status status;
    TRY(parts_unpack(input, is_docx_part, &parts, error));
    for (size_t i = 0; i < parts.items.count && !body; i++)
        body = is_body(parts.items.items[i].name) ? &parts.items.items[i] : NULL;
    if (!body)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: the part with its text is missing"));
    writer_page(out);
    TRY(read_words_of_part(body, out, error));
    TRY(read_words_of_part(find_document_part(&parts, "word/footnotes.xml"), out, error));
    TRY(read_words_of_part(find_document_part(&parts, "word/endnotes.xml"), out, error));
done:
    parts_free(&parts);
    return status;
}
