/* What is asked of the table of options: one by its name, its choices, the title of a section. */
#include "tools/args/options.h"

#include <string.h>

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

const struct option_info *option_by_name(const char *name)
{
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(option_table[i].name, name) == 0)
            return &option_table[i];
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
