/* Fuzz target: documents. The first byte chooses a format, and whether the rest is the file itself,
 * or the parts of a zip: text between lines of NUL, put where the format has its parts. What is
 * read must be a text within its limit, and its pages must lie in it, in order. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/write_all.h"
#include "documents/documents.h"
#include "inputs.h"

#ifdef HAVE_DOCUMENTS
#include <archive.h>
#include <archive_entry.h>
#endif

static void expect(bool holds)
{
    if (!holds)
        abort();
}

enum { MOST_PARTS = 5, ZIP_BYTES = 1 << 20 };

static const struct {
    enum doppel_format format;
    const char *parts[MOST_PARTS];
} formats[] = {
    {DOPPEL_FORMAT_RTF, {0}},
    {DOPPEL_FORMAT_MAIL, {0}},
    {DOPPEL_FORMAT_DOCX, {"word/document.xml", "word/footnotes.xml"}},
    {DOPPEL_FORMAT_PPTX,
     {"ppt/presentation.xml", "ppt/_rels/presentation.xml.rels", "ppt/slides/slide1.xml",
      "ppt/slides/slide2.xml"}},
    {DOPPEL_FORMAT_XLSX,
     {"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml",
      "xl/sharedStrings.xml"}},
    {DOPPEL_FORMAT_ODT, {"content.xml", "META-INF/manifest.xml"}},
    {DOPPEL_FORMAT_ODS, {"content.xml"}},
    {DOPPEL_FORMAT_EPUB,
     {"META-INF/container.xml", "a.opf", "c1.xhtml", "c2.xhtml", "META-INF/encryption.xml"}},
};

static void read_file(int fd, enum doppel_format format)
{
    struct document_limits limits = document_limits_default();
    struct document document;
    limits.max_bytes = 1 << 20;
    if (document_read(fd, format, &limits, &document, NULL))
        return;
    expect(document.size && document.size <= limits.max_bytes);
    for (size_t i = 0; i < document.page_count; i++)
        expect(document.pages[i] <= document.size &&
               (!i || document.pages[i] > document.pages[i - 1]));
    document_free(&document);
}

static int file_of(const void *bytes, size_t size)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    expect(fd >= 0 && write_all(fd, bytes, size));
    return fd;
}

#ifdef HAVE_DOCUMENTS
static void add_member(struct archive *zip, const char *name, const uint8_t *bytes, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    expect(archive_write_header(zip, entry) == ARCHIVE_OK);
    expect(archive_write_data(zip, bytes, size) == (la_ssize_t)size);
    archive_entry_free(entry);
}

/* The zip with these parts, as they are. */
static int zip_of(const char *const names[MOST_PARTS], const uint8_t *data, size_t size)
{
    static char bytes[ZIP_BYTES];
    size_t used = 0;
    struct archive *zip = archive_write_new();
    archive_write_set_format_zip(zip);
    archive_write_zip_set_compression_store(zip);
    expect(archive_write_open_memory(zip, bytes, sizeof bytes, &used) == ARCHIVE_OK);
    for (size_t i = 0; i < MOST_PARTS && names[i]; i++) {
        const uint8_t *end = size ? memchr(data, 0, size) : NULL;
        size_t length = end && names[i + 1 < MOST_PARTS ? i + 1 : i] ? (size_t)(end - data) : size;
        add_member(zip, names[i], data, length);
        data += length + (length < size);
        size -= length + (length < size);
    }
    expect(archive_write_close(zip) == ARCHIVE_OK);
    archive_write_free(zip);
    return file_of(bytes, used);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > ZIP_BYTES / 2)
        return 0;
    size_t which = data[0] % (sizeof formats / sizeof *formats);
    int fd;
#ifdef HAVE_DOCUMENTS
    if (formats[which].parts[0] && !(data[0] & 0x80))
        fd = zip_of(formats[which].parts, data + 1, size - 1);
    else
#endif
        fd = file_of(data + 1, size - 1);
    read_file(fd, formats[which].format);
    close(fd);
    return 0;
}
