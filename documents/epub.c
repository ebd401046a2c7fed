/* EPUB: the chapters of a book, in the order of its spine, read as HTML. Source: W3C, EPUB 3.3. */
#include <stdlib.h>
#include <string.h>

#include <doppel/text.h>

#include "core/try.h"
#include "documents/parts.h"
#include "documents/xml.h"

enum { NAME_BYTES = 512 };

/* A line of the book's list of parts. */
struct book_item {
    char id[NAME_BYTES / 2], name[NAME_BYTES];
    bool is_contents; /* the table of contents */
};

struct book {
    struct document_parts parts;
    char package[NAME_BYTES]; /* name of the part with the lists; "": not known yet */
    ARRAY(struct book_item) items;
    ARRAY(size_t) spine; /* numbers of items */
    enum doppel_status status;
};

static void take_root(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct book *book = context;
    if (strcmp(name, "rootfile") == 0 && !book->package[0] &&
        !xml_attribute(attributes, "full-path", book->package, sizeof book->package))
        book->package[0] = '\0';
}

/* ---- names ---- */

static int hex_value(char digit)
{
    return digit >= '0' && digit <= '9'                 ? digit - '0'
           : (digit | 32) >= 'a' && (digit | 32) <= 'f' ? (digit | 32) - 'a' + 10
                                                        : -1;
}

/* "chapter%201.xhtml#start" without its escapes and its fragment. */
static void unescape(char *reference)
{
    char *out = reference;
    for (const char *at = reference; *at && *at != '#'; at++) {
        int high = *at == '%' ? hex_value(at[1]) : -1, low = high >= 0 ? hex_value(at[2]) : -1;
        if (low >= 0)
            at += 2;
        *out++ = low >= 0 ? (char)(high << 4 | low) : *at;
    }
    *out = '\0';
}

/* A reference of the package, from the top. @return false when it is too long */
static bool name_of_reference(const struct book *book, char *reference, char out[NAME_BYTES])
{
    const char *slash = strrchr(book->package, '/');
    size_t folder = slash ? (size_t)(slash - book->package) + 1 : 0;
    unescape(reference);
    memcpy(out, book->package, folder);
    while (strncmp(reference, "../", 3) == 0) {
        reference += 3;
        while (folder && (--folder == 0 || out[folder - 1] != '/'))
            ;
    }
    size_t size = strlen(reference);
    if (folder + size >= NAME_BYTES)
        return false;
    memcpy(out + folder, reference, size + 1);
    return true;
}

/* ---- the package ---- */

static void take_book_item(struct book *book, const struct xml_attributes *attributes)
{
    struct book_item item;
    char reference[NAME_BYTES], properties[64];
    item.is_contents = xml_attribute(attributes, "properties", properties, sizeof properties) &&
                       strcmp(properties, "nav") == 0;
    if (xml_attribute(attributes, "id", item.id, sizeof item.id) &&
        xml_attribute(attributes, "href", reference, sizeof reference) &&
        name_of_reference(book, reference, item.name))
        book->status = book->items.count >= LISTED_MOST  ? DOPPEL_E_LIMIT
                       : !array_push(&book->items, item) ? DOPPEL_E_MEMORY
                                                         : book->status;
}

static void take_spine(struct book *book, const struct xml_attributes *attributes)
{
    char id[NAME_BYTES / 2];
    if (!xml_attribute(attributes, "idref", id, sizeof id))
        return;
    for (size_t i = 0; i < book->items.count; i++)
        if (strcmp(book->items.items[i].id, id) == 0 && !book->items.items[i].is_contents) {
            if (book->spine.count >= LISTED_MOST)
                book->status = DOPPEL_E_LIMIT;
            else if (!array_push(&book->spine, i))
                book->status = DOPPEL_E_MEMORY;
            return;
        }
}

static void take_package(void *context, const char *name, const struct xml_attributes *attributes)
{
    if (strcmp(name, "item") == 0)
        take_book_item(context, attributes);
    else if (strcmp(name, "itemref") == 0)
        take_spine(context, attributes);
}

static enum doppel_status read_lists(struct book *book, const char *name,
                                     void (*begin)(void *, const char *,
                                                   const struct xml_attributes *),
                                     struct doppel_error *error)
{
    const struct xml_handler handler = {.begin = begin};
    const struct office_part *part = find_document_part(&book->parts, name);
    if (!part)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: the list of its parts is missing");
    enum doppel_status status = xml_read(part->bytes, part->size, &handler, book, error);
    return status ? status : parts_check_list(book->status, error);
}

/* ---- the chapters ---- */

static enum doppel_status read_chapters(const struct book *book, struct document_writer *out,
                                        struct doppel_error *error)
{
    struct doppel_text *text = NULL;
    struct doppel_text_options options = doppel_text_options_default();
    options.format = DOPPEL_TEXT_HTML;
    enum doppel_status status;
    TRY(doppel_text_new(&options, &text, error));
    for (size_t i = 0; i < book->spine.count; i++) {
        const struct office_part *part =
            find_document_part(&book->parts, book->items.items[book->spine.items[i]].name);
        const char *plain;
        size_t size;
        if (!part)
            continue;
        TRY(doppel_text_plain(text, part->bytes, part->size, &plain, &size, error));
        writer_line(out);
        writer_page(out);
        writer_add(out, plain, size);
    }
    writer_line(out);
done:
    doppel_text_free(text);
    return status;
}

static bool is_chapter(const char *name)
{
    static const char *const endings[] = {".xhtml", ".html", ".htm", ".xml", ".opf"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* What is encrypted is named; fonts are, in books that can be read. */
static bool is_epub_encrypted(const struct book *book)
{
    const struct office_part *list = find_document_part(&book->parts, "META-INF/encryption.xml");
    for (size_t i = 0; list && i < book->spine.count; i++)
        if (strstr(list->bytes, book->items.items[book->spine.items[i]].name))
            return true;
    return false;
}

enum doppel_status read_epub(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    struct book book = {0};
    enum doppel_status status;
    TRY(parts_unpack(input, is_chapter, &book.parts, error));
    TRY(read_lists(&book, "META-INF/container.xml", take_root, error));
    TRY(read_lists(&book, book.package, take_package, error));
    if (is_epub_encrypted(&book))
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED, "the %s is encrypted", input->name));
    TRY(read_chapters(&book, out, error));
done:
    array_free(&book.items);
    array_free(&book.spine);
    parts_free(&book.parts);
    return status;
}
