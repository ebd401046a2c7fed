/* ODT, ODP and ODS: paragraphs, slides and cells; notes stand at the end. Source: OASIS, Open
 * Document Format 1.3, part 3. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "documents/parts.h"
#include "documents/xml.h"

struct odf_reading {
    struct document_writer *out, *notes;
    const char *page;    /* the element that a page begins with */
    unsigned paragraphs; /* depth of them */
    unsigned in_note;    /* depth within one: its text goes to the notes */
    unsigned left_out;   /* depth within what is not read */
};

static bool is_odf_left_out(const char *name)
{
    /* What was deleted, what readers remark, the number of a note; of slides what speakers say, and
     * what is on all of them. */
    static const char *const names[] = {"tracked-changes", "annotation",  "note-citation",
                                        "notes",           "header-decl", "footer-decl",
                                        "date-time-decl",  "page-number", "forms"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_paragraph(const char *name)
{
    return strcmp(name, "p") == 0 || strcmp(name, "h") == 0;
}

static struct document_writer *odf_writer(const struct odf_reading *reading)
{
    return reading->in_note ? reading->notes : reading->out;
}

static void begin_odf(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct odf_reading *reading = context;
    (void)attributes;
    if (reading->left_out || is_odf_left_out(name)) {
        reading->left_out++;
        return;
    }
    reading->in_note += reading->in_note || strcmp(name, "note") == 0;
    reading->paragraphs += is_paragraph(name);
    if (strcmp(name, "s") == 0 || strcmp(name, "tab") == 0)
        writer_space(odf_writer(reading));
    else if (strcmp(name, "line-break") == 0)
        writer_line(odf_writer(reading));
    else if (strcmp(name, reading->page) == 0 && !reading->in_note)
        writer_page(reading->out);
}

static void end_odf(void *context, const char *name)
{
    struct odf_reading *reading = context;
    if (reading->left_out) {
        reading->left_out--;
        return;
    }
    if (is_paragraph(name)) {
        writer_line(odf_writer(reading));
        reading->paragraphs--;
    }
    reading->in_note -= reading->in_note > 0;
}

static void take_odf_text(void *context, const char *bytes, size_t size)
{
    struct odf_reading *reading = context;
    if (reading->paragraphs && !reading->left_out)
        writer_add(odf_writer(reading), bytes, size);
}

static bool is_odf_part(const char *name)
{
    return strcmp(name, "content.xml") == 0 || strcmp(name, "META-INF/manifest.xml") == 0;
}

static bool is_odf_encrypted(const struct office_part *manifest)
{
    return manifest && strstr(manifest->bytes, "encryption-data");
}

static enum doppel_status read_content(const struct document_input *input,
                                       const struct office_part *content,
                                       struct document_writer *out, struct doppel_error *error)
{
    static const struct xml_handler handler = {begin_odf, end_odf, take_odf_text};
    struct document_writer notes = {.max_bytes = out->max_bytes};
    struct odf_reading reading = {.out = out, .notes = &notes};
    reading.page = input->format == DOPPEL_FORMAT_ODP   ? "page"
                   : input->format == DOPPEL_FORMAT_ODS ? "table"
                                                        : "soft-page-break";
    if (input->format == DOPPEL_FORMAT_ODT)
        writer_page(out);
    enum doppel_status status = xml_read(content->bytes, content->size, &handler, &reading, error);
    writer_append(out, &notes);
    return status;
}

enum doppel_status read_odf(const struct document_input *input, struct document_writer *out,
                            struct doppel_error *error)
{
    struct document_parts parts = {0};
    enum doppel_status status;
    TRY(parts_unpack(input, is_odf_part, &parts, error));
    const struct office_part *content = find_document_part(&parts, "content.xml");
    if (is_odf_encrypted(find_document_part(&parts, "META-INF/manifest.xml")))
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED, "the %s is encrypted", input->name));
    if (!content)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: the part with its text is missing"));
    TRY(read_content(input, content, out, error));
done:
    parts_free(&parts);
    return status;
}
