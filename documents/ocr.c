/* Tesseract: loaded, asked page by page, and its doubtful words left out. */
#include "documents/ocr.h"

#ifdef HAVE_OCR

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <tesseract/capi.h>

#include "core/array.h"
#include "core/try.h"

/* Words of which it is less sure, in percent, are more often wrong than right. */
enum { LEAST_CONFIDENCE = 40 };

struct tesseract {
    __typeof__(&TessBaseAPICreate) create;
    __typeof__(&TessBaseAPIDelete) delete;
    __typeof__(&TessBaseAPIInit3) init;
    __typeof__(&TessBaseAPIGetLoadedLanguagesAsVector) loaded_languages;
    __typeof__(&TessDeleteTextArray) delete_texts;
    __typeof__(&TessDeleteText) delete_text;
    __typeof__(&TessBaseAPISetPageSegMode) set_mode;
    __typeof__(&TessBaseAPISetImage) set_image;
    __typeof__(&TessBaseAPISetSourceResolution) set_resolution;
    __typeof__(&TessBaseAPIRecognize) recognize;
    __typeof__(&TessBaseAPIGetIterator) iterate;
    __typeof__(&TessBaseAPIClear) clear;
    __typeof__(&TessResultIteratorDelete) end_iteration;
    __typeof__(&TessResultIteratorNext) next;
    __typeof__(&TessResultIteratorGetUTF8Text) text;
    __typeof__(&TessResultIteratorConfidence) confidence;
    __typeof__(&TessResultIteratorGetPageIteratorConst) place;
    __typeof__(&TessPageIteratorIsAtBeginningOf) begins;
};

struct ocr {
    struct tesseract of;
    TessBaseAPI *api;
};

/* ---- the library ---- */

static bool find_functions(void *library, struct tesseract *out)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"TessBaseAPICreate", &out->create},
        {"TessBaseAPIDelete", &out->delete},
        {"TessBaseAPIInit3", &out->init},
        {"TessBaseAPIGetLoadedLanguagesAsVector", &out->loaded_languages},
        {"TessDeleteTextArray", &out->delete_texts},
        {"TessDeleteText", &out->delete_text},
        {"TessBaseAPISetPageSegMode", &out->set_mode},
        {"TessBaseAPISetImage", &out->set_image},
        {"TessBaseAPISetSourceResolution", &out->set_resolution},
        {"TessBaseAPIRecognize", &out->recognize},
        {"TessBaseAPIGetIterator", &out->iterate},
        {"TessBaseAPIClear", &out->clear},
        {"TessResultIteratorDelete", &out->end_iteration},
        {"TessResultIteratorNext", &out->next},
        {"TessResultIteratorGetUTF8Text", &out->text},
        {"TessResultIteratorConfidence", &out->confidence},
        {"TessResultIteratorGetPageIteratorConst", &out->place},
        {"TessPageIteratorIsAtBeginningOf", &out->begins},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*(void **)wanted[i].place = dlsym(library, wanted[i].name)))
            return false;
    return true;
}

/* Its threads would each take a processor, which other workers have: it is to have none. */
static void forbid_threads(void *library)
{
    void (*set_levels)(int);
    *(void **)&set_levels = dlsym(library, "omp_set_max_active_levels");
    if (set_levels)
        set_levels(0);
}

static enum doppel_status load_tesseract(struct tesseract *out, struct doppel_error *error)
{
    static const char *const names[] = {"libtesseract.so.5", "libtesseract.so.4"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library || !find_functions(library, out))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "Tesseract is not there, by which --ocr reads: install it (of Debian: "
                           "libtesseract5 and tesseract-ocr-eng)");
    forbid_threads(library);
    return DOPPEL_OK;
}

/* Is `name` one of those that were loaded? */
static bool is_loaded(char *const *loaded, const char *name, size_t size)
{
    for (; loaded && *loaded; loaded++)
        if (strlen(*loaded) == size && !memcmp(*loaded, name, size))
            return true;
    return false;
}

/* It goes on without languages that are not there; we do not. */
static enum doppel_status check_languages(const struct ocr *ocr, const char *languages,
                                          struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    char **loaded = ocr->of.loaded_languages(ocr->api);
    for (const char *at = languages; *at && !status;) {
        size_t size = strcspn(at, "+");
        if (size && !is_loaded(loaded, at, size))
            status = doppel_fail(error, DOPPEL_E_NOT_FOUND,
                                 "the language '%.*s' of --ocr-languages is not installed (of "
                                 "Debian: tesseract-ocr-%.*s)",
                                 (int)size, at, (int)size, at);
        at += size + (at[size] == '+');
    }
    if (loaded)
        ocr->of.delete_texts(loaded);
    return status;
}

enum doppel_status ocr_open(const char *languages, struct ocr **out, struct doppel_error *error)
{
    enum doppel_status status;
    struct ocr *ocr = calloc(1, sizeof *ocr);
    if (!ocr)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for Tesseract");
    TRY(load_tesseract(&ocr->of, error));
    ocr->api = ocr->of.create();
    if (!ocr->api || ocr->of.init(ocr->api, NULL, languages)) {
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND,
                             "none of the languages '%s' of --ocr-languages is installed (of "
                             "Debian: tesseract-ocr-eng and others)",
                             languages);
        goto done;
    }
    TRY(check_languages(ocr, languages, error));
    ocr->of.set_mode(ocr->api, PSM_AUTO);
    *out = ocr;
    ocr = NULL;
done:
    ocr_close(ocr);
    return status;
}

void ocr_close(struct ocr *ocr)
{
    if (ocr && ocr->api)
        ocr->of.delete(ocr->api);
    free(ocr);
}

/* ---- a page ---- */

struct ocr_lines {
    ARRAY(char) text;
    bool no_memory;
};

static void add_to_lines(struct ocr_lines *lines, const char *text)
{
    for (; *text && !lines->no_memory; text++)
        lines->no_memory = !array_push(&lines->text, *text);
}

static void take_ocr_words(struct ocr *ocr, struct ocr_lines *out)
{
    TessResultIterator *words = ocr->of.iterate(ocr->api);
    if (!words)
        return;
    do {
        bool begins = ocr->of.begins(ocr->of.place(words), RIL_TEXTLINE);
        char *word = ocr->of.text(words, RIL_WORD);
        add_to_lines(out, begins ? "\n" : " ");
        if (word && ocr->of.confidence(words, RIL_WORD) >= LEAST_CONFIDENCE)
            add_to_lines(out, word);
        ocr->of.delete_text(word);
    } while (ocr->of.next(words, RIL_WORD));
    ocr->of.end_iteration(words);
}

enum doppel_status ocr_read(struct ocr *ocr, const struct doppel_plane *plane, uint32_t dpi,
                            char **out, struct doppel_error *error)
{
    struct ocr_lines lines = {0};
    ocr->of.set_image(ocr->api, plane->data, (int)plane->width, (int)plane->height, 1,
                      (int)plane->stride);
    ocr->of.set_resolution(ocr->api, (int)dpi);
    if (ocr->of.recognize(ocr->api, NULL) == 0)
        take_ocr_words(ocr, &lines);
    ocr->of.clear(ocr->api);
    lines.no_memory = lines.no_memory || !array_push(&lines.text, '\0');
    if (!lines.no_memory) {
        *out = lines.text.items;
        return DOPPEL_OK;
    }
    array_free(&lines.text);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the words of a page");
}

#else

enum doppel_status ocr_open(const char *languages, struct ocr **out, struct doppel_error *error)
{
    (void)languages;
    (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel reads no scanned pages: it was built without Tesseract");
}

void ocr_close(struct ocr *ocr)
{
    (void)ocr;
}

enum doppel_status ocr_read(struct ocr *ocr, const struct doppel_plane *plane, uint32_t dpi,
                            char **out, struct doppel_error *error)
{
    (void)ocr;
    (void)plane;
    (void)dpi;
    (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "built without OCR");
}

#endif
