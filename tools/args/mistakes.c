/* What is said of a word that is in no table, or is no value of its option. */
#include "tools/args/mistakes.h"

#include <stdio.h>
#include <string.h>

#include "tools/args/nearest.h"

enum { MAX_NAMES = 256 };

enum doppel_status unknown_verb(const char *name, struct doppel_error *error)
{
    const char *names[MAX_NAMES];
    size_t count = 0;
    while (count < verb_count) {
        names[count] = verb_table[count].name;
        count++;
    }
    names[count++] = "search"; /* as others call them */
    names[count++] = "delete";
    const char *nearest = nearest_word(name, names, count);
    if (nearest)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "unknown verb '%s'; did you mean '%s'?", name,
                           nearest);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "unknown verb '%s'; see 'doppel --help'", name);
}

enum doppel_status wrong_choice(const struct option_info *option, const char *value,
                                struct doppel_error *error)
{
    const char *words[MAX_CHOICES];
    char storage[CHOICE_BYTES], list[256] = "";
    size_t count = option_choices(option, words, storage), used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
    const char *nearest = nearest_word(value, words, count);
    if (nearest)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' takes %s, not '%s'; did you mean '%s'?", option->name, list,
                           value, nearest);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes %s, not '%s'", option->name, list,
                       value);
}

static enum doppel_status not_needed(const char *option, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "'%s' is not needed: folders are walked with all that is in them", option);
}

enum doppel_status unknown_letter(const struct verb *verb, int letter, struct doppel_error *error)
{
    if (letter == 'r' || letter == 'R')
        return not_needed((const char[]){'-', (char)letter, '\0'}, error);
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->letter == letter)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "'%s' has no option '-%c'; see 'doppel %s --help'", verb->name,
                               letter, verb->name);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "unknown option '-%c'; see 'doppel %s --help'",
                       letter, verb->name);
}

static enum doppel_status ambiguous_option(const struct verb *verb, const char *name,
                                           struct doppel_error *error)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < option_count() && used < sizeof list; i++)
        if (option_at(i)->verbs & verb->bit && strncmp(option_at(i)->name, name, strlen(name)) == 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'--%s'", used ? ", " : "",
                                     option_at(i)->name);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "option '--%s' could be %s", name, list);
}

/* "recursive", or nearly that: other programs want it. */
static bool is_needless_option(const char *name)
{
    static const char *const names[] = {"recursive", "recurse"};
    return nearest_word(name, names, sizeof names / sizeof *names);
}

/* `word` is as typed, "--name" or "--name=value". */
enum doppel_status unknown_option(const struct verb *verb, const char *word,
                                  struct doppel_error *error)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *names[MAX_NAMES];
    size_t beginnings = 0;
    for (size_t i = 0; i < option_count(); i++) {
        bool has = option_at(i)->verbs & verb->bit;
        names[i] = has ? option_at(i)->name : NULL;
        beginnings += has && strncmp(option_at(i)->name, name, strlen(name)) == 0;
    }
    if (beginnings > 1)
        return ambiguous_option(verb, name, error);
    const char *nearest = nearest_word(name, names, option_count());
    if (!nearest && is_needless_option(name))
        return not_needed(word, error);
    if (nearest)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?",
                           name, nearest);
    if (verb->bit == VERB_IMPORT && strcmp(name, "scheme") == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'import' has no option '--scheme': '--format' says what FILE holds, as "
                           "in '--format pdq'");
    if (option_by_name(name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' has no option '--%s'; see 'doppel %s --help'", verb->name, name,
                           verb->name);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "unknown option '--%s'; see 'doppel %s --help'",
                       name, verb->name);
}
