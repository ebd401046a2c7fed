/* PDFs written by hand. Source: ISO 32000-1, 7.5. */
#include "pdf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A4 "0 0 595 842"

static void add_bytes(struct pdf_file *pdf, const void *bytes, size_t size)
{
    if (pdf->room - pdf->size < size) {
        pdf->room = 2 * pdf->room + size + 4096;
        pdf->bytes = realloc(pdf->bytes, pdf->room);
        assert_non_null(pdf->bytes);
    }
    if (size)
        memcpy(pdf->bytes + pdf->size, bytes, size);
    pdf->size += size;
}

static void __attribute__((format(printf, 2, 3))) add(struct pdf_file *pdf, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    add_bytes(pdf, text, (size_t)length);
    free(text);
}

static void begin_object(struct pdf_file *pdf, size_t number)
{
    assert_true(number <= PDF_MOST_OBJECTS);
    pdf->starts[number - 1] = pdf->size;
    add(pdf, "%zu 0 obj\n", number);
}

struct pdf_file *pdf_new(void)
{
    struct pdf_file *pdf = calloc(1, sizeof *pdf);
    assert_non_null(pdf);
    add(pdf, "%%PDF-1.5\n");
    begin_object(pdf, 1);
    add(pdf, "<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
    begin_object(pdf, 3);
    add(pdf, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>\nendobj\n");
    pdf->objects = 3;
    return pdf;
}

void pdf_free(struct pdf_file *pdf)
{
    free(pdf->bytes);
    free(pdf);
}

uint32_t pdf_object(struct pdf_file *pdf, const char *text)
{
    begin_object(pdf, ++pdf->objects);
    add(pdf, "%s\nendobj\n", text);
    return (uint32_t)pdf->objects;
}

uint32_t pdf_stream(struct pdf_file *pdf, const char *more, const void *bytes, size_t size)
{
    begin_object(pdf, ++pdf->objects);
    add(pdf, "<</Length %zu%s>>\nstream\n", size, more ? more : "");
    add_bytes(pdf, bytes, size);
    add(pdf, "\nendstream\nendobj\n");
    return (uint32_t)pdf->objects;
}

void pdf_page(struct pdf_file *pdf, const char *drawing, size_t size, const char *box,
              const char *resources)
{
    char page[600];
    uint32_t contents = pdf_stream(pdf, NULL, drawing, size);
    snprintf(page, sizeof page,
             "<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents %u 0 R/Resources<<%s>>>>", box,
             contents, resources ? resources : "/Font<</F1 3 0 R>>");
    pdf->pages[pdf->page_count++] = pdf_object(pdf, page);
}

void pdf_text_page(struct pdf_file *pdf, const char *lines)
{
    struct pdf_file drawing = {0};
    add(&drawing, "BT /F1 9 Tf 11 TL 60 800 Td (");
    for (const char *at = lines; *at; at++)
        if (*at == '\n')
            add(&drawing, ") Tj T* (");
        else
            add(&drawing, "%s%c", strchr("()\\", *at) ? "\\" : "", *at);
    add(&drawing, ") Tj ET");
    pdf_page(pdf, drawing.bytes, drawing.size, A4, NULL);
    free(drawing.bytes);
}

void pdf_picture_page(struct pdf_file *pdf, const uint8_t *grey, uint32_t width, uint32_t height)
{
    static const char drawing[] = "595 0 0 842 0 0 cm /I1 Do";
    char text[200];
    snprintf(text, sizeof text,
             "/Type/XObject/Subtype/Image/Width %u/Height %u/ColorSpace/DeviceGray"
             "/BitsPerComponent 8",
             width, height);
    uint32_t picture = pdf_stream(pdf, text, grey, (size_t)width * height);
    snprintf(text, sizeof text, "/XObject<</I1 %u 0 R>>", picture);
    pdf_page(pdf, drawing, sizeof drawing - 1, A4, text);
}

void pdf_end(struct pdf_file *pdf)
{
    begin_object(pdf, 2);
    add(pdf, "<</Type/Pages/Count %zu/Kids[", pdf->page_count);
    for (size_t i = 0; i < pdf->page_count; i++)
        add(pdf, "%u 0 R\n", pdf->pages[i]);
    add(pdf, "]>>\nendobj\n");
    size_t table = pdf->size;
    add(pdf, "xref\n0 %zu\n0000000000 65535 f \n", pdf->objects + 1);
    for (size_t i = 0; i < pdf->objects; i++)
        add(pdf, "%010zu 00000 n \n", pdf->starts[i]);
    add(pdf, "trailer\n<</Size %zu/Root 1 0 R%s>>\nstartxref\n%zu\n%%%%EOF\n", pdf->objects + 1,
        pdf->trailer ? pdf->trailer : "", table);
}
