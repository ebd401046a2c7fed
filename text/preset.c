/* Named choices of options, limit and bands. */
#include <doppel/text.h>

#include <string.h>

/* Bands are the usual choice for limit and lanes (doppel_index_bands_choose); but for "ocr", of
 * which it would have ten times as many candidates. */
#define READ(...)                                                                                  \
    {                                                                                              \
        .nfkc = true, .min_words = 10, .lanes = 128, __VA_ARGS__                                   \
    }
#define READ_PROSE(...) READ(.fold_case = true, .drop_punctuation = true, __VA_ARGS__)

static const struct doppel_text_preset presets[] = {
    {"web", READ_PROSE(.shingle = 5, .unit = DOPPEL_TEXT_BY_SCRIPT, .format = DOPPEL_TEXT_AUTO),
     0.7, 24, 4, "crawled pages: words, HTML if it is"},
    {"news", READ_PROSE(.shingle = 3, .format = DOPPEL_TEXT_AUTO), 0.6, 32, 4,
     "wire stories with other datelines, cuts, words and sentences"},
    {"ocr", READ_PROSE(.shingle = 5, .unit = DOPPEL_TEXT_CHARACTERS), 0.45, 32, 4,
     "scans of the same page: characters, many of them wrong"},
    {"code", READ(.shingle = 5, .fold_case = false, .drop_punctuation = false), 0.6, 32, 4,
     "source code: case and punctuation count"},
};

enum { PRESET_COUNT = sizeof presets / sizeof *presets };

const struct doppel_text_preset *doppel_text_presets(size_t *out_count)
{
    *out_count = PRESET_COUNT;
    return presets;
}

const struct doppel_text_preset *doppel_text_preset_by_name(const char *name)
{
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
