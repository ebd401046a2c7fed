/* PPTX: the text of slides, in their order; numbers, dates and footers of slides are left out.
 * Source: ECMA-376, part 1, 19 and 21. */
#include <string.h>

#include "core/try.h"
#include "documents/office.h"
#include "documents/xml.h"

struct slide_reading {
    struct document_writer *out;
    unsigned in_text;
    unsigned left_out; /* within a fallback: depth */
    bool repeated;     /* within a shape that has the same on every slide */
};

static bool is_repeated(const struct xml_attributes *attributes)
{
    static const char *const types[] = {"sldNum", "dt", "ftr", "hdr"};
    char type[16];
    if (!xml_attribute(attributes, "type", type, sizeof type))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static void begin_shape(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct slide_reading *reading = context;
    if (reading->left_out || is_fallback(name))
        reading->left_out++;
    else if (strcmp(name, "sp") == 0)
        reading->repeated = false;
    else if (strcmp(name, "ph") == 0)
        reading->repeated = is_repeated(attributes);
    else if (strcmp(name, "t") == 0)
        reading->in_text++;
    else if (strcmp(name, "br") == 0)
        writer_line(reading->out);
}

static void end_shape(void *context, const char *name)
{
    struct slide_reading *reading = context;
    if (reading->left_out)
        reading->left_out--;
    else if (strcmp(name, "sp") == 0)
        reading->repeated = false;
    else if (strcmp(name, "t") == 0)
        reading->in_text--;
    else if (strcmp(name, "p") == 0)
        writer_line(reading->out);
}

static void take_slide_text(void *context, const char *bytes, size_t size)
{
    struct slide_reading *reading = context;
    if (reading->in_text && !reading->left_out && !reading->repeated)
        writer_add(reading->out, bytes, size);
}

static bool is_pptx_part(const char *name)
{
    return strncmp(name, "ppt/slides/slide", 16) == 0 ||
           strcmp(name, "ppt/presentation.xml") == 0 ||
           strcmp(name, "ppt/_rels/presentation.xml.rels") == 0;
}

enum doppel_status read_pptx(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    static const struct xml_handler handler = {begin_shape, end_shape, take_slide_text};
    struct document_parts parts = {0};
    struct office_parts slides = {0};
    enum doppel_status status;
    TRY(parts_unpack(input, is_pptx_part, &parts, error));
    TRY(office_list(&parts, "ppt", "presentation", "sldId", &slides, error));
    for (size_t i = 0; i < slides.items.count; i++) {
        const struct office_part *slide = slides.items.items[i];
        struct slide_reading reading = {.out = out};
        writer_page(out);
        TRY(xml_read(slide->bytes, slide->size, &handler, &reading, error));
    }
done:
    array_free(&slides.items);
    parts_free(&parts);
    return status;
}
