/* What is asked of the tables of options: one by its number or name, its choices, the title of a
 * section; and what others call options and values. */
#include "tools/args/option_rows.h"

#include <string.h>

const struct former_option former_options[] = {
    {"across", "cross-folder"},
    {"allow-path", "allow-paths"},
    {"column", "text-field"},
    {"embeddings-key-file", "embeddings-key"},
    {"max-false", "max-fp-share"},
    {"max-false-alarms", "max-fp-per-hour"},
    {"max-false-positives", "max-fp-rate"},
    {"plain-records", "ignore-metadata"},
    {"threshold", "min-similarity"},
    {"num-perm", "lanes"},
    {"ngram", "shingle"},
};

const struct other_value other_values[] = {
    {"kind", "picture", "image"},  {"kind", "pictures", "image"}, {"kind", "photo", "image"},
    {"kind", "photos", "image"},   {"kind", "images", "image"},   {"kind", "movie", "video"},
    {"kind", "movies", "video"},   {"kind", "film", "video"},     {"kind", "videos", "video"},
    {"kind", "music", "audio"},    {"kind", "sound", "audio"},    {"kind", "recording", "audio"},
    {"kind", "document", "text"},  {"kind", "texts", "text"},     {"action", "delete", "trash"},
    {"action", "remove", "trash"},
};
const size_t other_value_count = sizeof other_values / sizeof *other_values;

const size_t former_option_count = sizeof former_options / sizeof *former_options;

const char *section_title(enum option_section section)
{
    static const char *const titles[SECTION_COUNT] = {
        [SECTION_MATCHING] = "Matching",
        [SECTION_TEXTS] = "Texts",
        [SECTION_AUDIO] = "Audio",
        [SECTION_VIDEOS] = "Videos",
        [SECTION_RECORDS] = "Records",
        [SECTION_CODES] = "Codes and vectors",
        [SECTION_FILES] = "Files",
        [SECTION_LIMITS] = "Limits",
        [SECTION_ITEMS] = "Items of the library",
        [SECTION_ACTING] = "Actions and labels",
        [SECTION_LIBRARY] = "Library and cache",
        [SECTION_SERVICE] = "Service",
        [SECTION_OUTPUT] = "Output",
    };
    return titles[section];
}

const struct option_info *option_at(size_t number)
{
    return number < content_options.count ? &content_options.rows[number]
                                          : &run_options.rows[number - content_options.count];
}

size_t option_count(void)
{
    return content_options.count + run_options.count;
}

size_t option_number(const struct option_info *option)
{
    size_t number = 0;
    while (number < option_count() && option_at(number) != option)
        number++;
    return number;
}

const struct option_info *option_by_name(const char *name)
{
    for (size_t i = 0; i < option_count(); i++)
        if (strcmp(option_at(i)->name, name) == 0)
            return option_at(i);
    return NULL;
}

static size_t split_choices(const char *argument, const char *out[MAX_CHOICES],
                            char storage[CHOICE_BYTES])
{
    size_t count = 0;
    strncpy(storage, argument, CHOICE_BYTES - 1);
    storage[CHOICE_BYTES - 1] = 0;
    char *rest = storage;
    for (char *word; (word = strsep(&rest, "|")) && count < MAX_CHOICES;)
        out[count++] = word;
    return count;
}

static size_t scheme_names(const char *out[MAX_CHOICES])
{
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    for (size_t i = 0; i < count && i < MAX_CHOICES; i++)
        out[i] = schemes[i].name;
    return count < MAX_CHOICES ? count : MAX_CHOICES;
}

/* Kinds that have a scheme, in the order of the schemes. */
static size_t kind_names(const char *out[MAX_CHOICES])
{
    size_t scheme_count, count = 0;
    const struct doppel_scheme *schemes = doppel_schemes(&scheme_count);
    for (size_t i = 0; i < scheme_count && count < MAX_CHOICES; i++)
        if (i == 0 || schemes[i].kind != schemes[i - 1].kind)
            out[count++] = doppel_kind_name(schemes[i].kind);
    return count;
}

size_t option_choices(const struct option_info *option, const char *out[MAX_CHOICES],
                      char storage[CHOICE_BYTES])
{
    switch (option->type) {
    case OPTION_CHOICE:
        return split_choices(option->argument, out, storage);
    case OPTION_SCHEME:
        return scheme_names(out);
    case OPTION_KIND:
        return kind_names(out);
    default:
        return 0;
    }
}
