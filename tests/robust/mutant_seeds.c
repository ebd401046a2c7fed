/* What mutants.py cannot write by itself: mutant-seeds FOLDER. What this machine or build cannot
 * make is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "documents/pdf_file.h"
#include "make_video.h"

#ifdef HAVE_DOCUMENTS
#include <archive.h>
#include <archive_entry.h>
#endif

static void write_seed(const char *name, const void *bytes, size_t size)
{
    FILE *file = size ? fopen(name, "wb") : NULL;
    if (file && (fwrite(bytes, 1, size, file) != size || fclose(file)))
        abort();
}

static void write_media(const char *name, struct file file)
{
    write_seed(name, file.data, file.size);
    file_free(&file);
}

/* ---- raw files, images that move, pages ---- */

static void write_raw_files(const struct scene *scene)
{
#ifdef HAVE_RAW
    struct file preview = make_jpeg(scene, &(struct jpeg_how){0});
    struct raw_how how = {preview, scene->width, scene->height, 6};
    write_media("preview.dng", make_raw(scene, &how));
    write_media("sensor.dng", make_raw(scene, &(struct raw_how){0}));
    file_free(&preview);
#else
    (void)scene;
#endif
}

static void write_moving(const struct scene *scene)
{
    static const char *const names[] = {"gif", "apng"};
    for (size_t i = 0; i < 2; i++) {
        char name[20];
        snprintf(name, sizeof name, "moving.%s", names[i]);
        write_media(name, make_video(&(struct video_how){.muxer = names[i],
                                                         .codec = names[i],
                                                         .width = 64,
                                                         .height = 48,
                                                         .frames = 8,
                                                         .rate = 10}));
    }
#ifdef HAVE_WEBP
    write_media("lossless.webp",
                make_webp(scene, &(struct webp_how){.lossless = true, .animated = true}));
    write_media("moving.webp", make_webp(scene, &(struct webp_how){.animated = true}));
#else
    (void)scene;
#endif
}

/* Of two pages, in ways of their own; as they are, and to be read by OCR. */
static void write_pages(const struct scene *scene)
{
#ifdef HAVE_TIFF
    static const struct tiff_how hows[] = {
        {.photometric = 1, .compression = 5},            /* grey, LZW */
        {.photometric = 0, .bits = 1, .compression = 4}, /* a facsimile */
        {.photometric = 6, .compression = 7},            /* JPEG */
        {.photometric = 2, .compression = 8, .tiled = true, .big = true},
    };
    const struct scene scenes[2] = {*scene, *scene};
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        const struct tiff_how both[2] = {hows[i], hows[i]};
        char name[20];
        snprintf(name, sizeof name, "%zu.%s", i, i % 2 ? "tif-ocr" : "tif");
        write_media(name, make_tiff(scenes, both, 2));
    }
#else
    (void)scene;
#endif
}

/* ---- PDF ---- */

static void write_pdf(const char *name, struct pdf_file *pdf)
{
    pdf_end(pdf);
    write_seed(name, pdf->bytes, pdf->size);
    pdf_free(pdf);
}

static void write_text_pdf(void)
{
    uint8_t grey[32 * 32];
    struct pdf_file *pdf = pdf_new();
    for (unsigned i = 0; i < 4; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "A running head %u\nThe page %u has words that are read, and divi-\nded ones.\n"
                 "It has a second paragraph with some more of them, ten at least.\n%u",
                 i, i, i);
        pdf_text_page(pdf, text);
    }
    memset(grey, 128, sizeof grey);
    pdf_picture_page(pdf, grey, 32, 32);
    write_pdf("text.pdf", pdf);
}

/* The upper part of the first page with text, as a scanner sees it. */
static void write_scanned_pdf(void)
{
    unsigned width, height;
    FILE *drawn = popen("pdftoppm -r 100 -l 1 -H 280 -gray text.pdf 2>/dev/null", "r");
    if (drawn && fscanf(drawn, "P5 %u %u 255", &width, &height) == 2 && fgetc(drawn) == '\n' &&
        width < 2000 && height < 2000) {
        size_t size = (size_t)width * height;
        uint8_t *grey = malloc(size);
        struct pdf_file *pdf = pdf_new();
        if (!grey || fread(grey, 1, size, drawn) != size)
            abort();
        pdf_picture_page(pdf, grey, width, height);
        write_pdf("scan.pdf-ocr", pdf);
        free(grey);
    }
    if (drawn)
        pclose(drawn);
}

/* ---- 7z ---- */

static void write_7z(const char *name, const char *compression)
{
#ifdef HAVE_DOCUMENTS
    struct archive *archive = archive_write_new();
    archive_write_set_format_7zip(archive);
    archive_write_set_format_option(archive, "7zip", "compression", compression);
    if (archive_write_open_filename(archive, name))
        abort();
    for (unsigned i = 0; i < 3; i++) {
        char path[20], text[400] = "";
        snprintf(path, sizeof path, "folder/%u.txt", i);
        for (unsigned word = 0; word < 30; word++)
            snprintf(text + strlen(text), 12, "w%u ", word * word * (i + 1));
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, path);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)strlen(text));
        archive_write_header(archive, entry);
        archive_write_data(archive, text, strlen(text));
        archive_entry_free(entry);
    }
    if (archive_write_close(archive))
        abort();
    archive_write_free(archive);
#else
    (void)name, (void)compression;
#endif
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2 || chdir(arguments[1]))
        return 2;
    struct scene scene = scene_make(SCENE_SMOOTH, 64, 48);
    write_raw_files(&scene);
    write_moving(&scene);
    write_pages(&scene);
    scene_free(&scene);
    write_text_pdf();
    write_scanned_pdf();
    write_7z("lzma.7z", "lzma2");
    write_7z("ppmd.7z", "ppmd");
    write_7z("store.7z", "store"); /* its list of members is not compressed either */
    return 0;
}
