/* XLSX: the cells of sheets, row by row, as they are kept: texts, and numbers without their format.
 * Source: ECMA-376, part 1, 18. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "documents/office.h"
#include "documents/xml.h"

/* ---- texts that cells share ---- */

struct shared_texts {
    struct document_writer text;
    ARRAY(size_t) ends;
    unsigned in_text, phonetic;
    bool no_memory;
};

static void begin_shared(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct shared_texts *shared = context;
    (void)attributes;
    shared->in_text += strcmp(name, "t") == 0;
    shared->phonetic += strcmp(name, "rPh") == 0;
}

static void end_shared(void *context, const char *name)
{
    struct shared_texts *shared = context;
    shared->in_text -= strcmp(name, "t") == 0;
    shared->phonetic -= strcmp(name, "rPh") == 0;
    if (strcmp(name, "si") == 0)
        shared->no_memory |= !array_push(&shared->ends, shared->text.size);
}

static void take_shared(void *context, const char *bytes, size_t size)
{
    struct shared_texts *shared = context;
    if (shared->in_text && !shared->phonetic)
        writer_add(&shared->text, bytes, size);
}

static enum doppel_status read_shared(const struct office_part *part, struct shared_texts *out,
                                      struct doppel_error *error)
{
    static const struct xml_handler handler = {begin_shared, end_shared, take_shared};
    enum doppel_status status =
        part ? xml_read(part->bytes, part->size, &handler, out, error) : DOPPEL_OK;
    if (!status && out->no_memory)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for its texts");
    return status ? status : writer_check(&out->text, error);
}

/* ---- sheets ---- */

struct sheet_reading {
    struct document_writer *out;
    const struct shared_texts *shared;
    bool is_shared; /* the cell has the number of a shared text */
    unsigned in_value;
    char number[16];
    size_t digits;
};

static bool is_value(const char *name)
{
    return strcmp(name, "v") == 0 || strcmp(name, "t") == 0;
}

static void begin_cell(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct sheet_reading *reading = context;
    char type[16];
    if (is_value(name))
        reading->in_value++;
    else if (strcmp(name, "c") == 0) {
        reading->digits = 0;
        reading->is_shared =
            xml_attribute(attributes, "t", type, sizeof type) && strcmp(type, "s") == 0;
    }
}

static void add_shared(struct sheet_reading *reading)
{
    const struct shared_texts *shared = reading->shared;
    reading->number[reading->digits] = '\0';
    size_t number = strtoul(reading->number, NULL, 10);
    if (!reading->digits || number >= shared->ends.count)
        return;
    size_t start = number ? shared->ends.items[number - 1] : 0;
    writer_add(reading->out, shared->text.text + start, shared->ends.items[number] - start);
}

static void end_cell(void *context, const char *name)
{
    struct sheet_reading *reading = context;
    reading->in_value -= is_value(name);
    if (strcmp(name, "c") == 0) {
        if (reading->is_shared)
            add_shared(reading);
        writer_space(reading->out);
    } else if (strcmp(name, "row") == 0)
        writer_line(reading->out);
}

static void take_cell_text(void *context, const char *bytes, size_t size)
{
    struct sheet_reading *reading = context;
    if (!reading->in_value)
        return;
    if (!reading->is_shared)
        writer_add(reading->out, bytes, size);
    else if (size < sizeof reading->number - reading->digits) {
        memcpy(reading->number + reading->digits, bytes, size);
        reading->digits += size;
    }
}

static bool is_xlsx_part(const char *name)
{
    return strncmp(name, "xl/worksheets/sheet", 19) == 0 || strcmp(name, "xl/workbook.xml") == 0 ||
           strcmp(name, "xl/sharedStrings.xml") == 0 ||
           strcmp(name, "xl/_rels/workbook.xml.rels") == 0;
}

enum doppel_status read_xlsx(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    static const struct xml_handler handler = {begin_cell, end_cell, take_cell_text};
    struct shared_texts shared = {.text = {.max_bytes = input->limits.max_bytes}};
    struct document_parts parts = {0};
    struct office_parts sheets = {0};
    enum doppel_status status;
    TRY(parts_unpack(input, is_xlsx_part, &parts, error));
    TRY(office_list(&parts, "xl", "workbook", "sheet", &sheets, error));
    TRY(read_shared(find_document_part(&parts, "xl/sharedStrings.xml"), &shared, error));
    for (size_t i = 0; i < sheets.items.count; i++) {
        const struct office_part *sheet = sheets.items.items[i];
        struct sheet_reading reading = {.out = out, .shared = &shared};
        writer_page(out);
        TRY(xml_read(sheet->bytes, sheet->size, &handler, &reading, error));
    }
done:
    array_free(&sheets.items);
    array_free(&shared.ends);
    writer_free(&shared.text);
    parts_free(&parts);
    return status;
}
