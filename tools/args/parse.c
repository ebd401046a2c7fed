/* From argv to settings, by the tables; and what is said of a word that is in neither. */
#include "tools/args/check.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "tools/memory.h"
#include "tools/args/mistakes.h"
#include "tools/args/policy.h"
#include "tools/args/service_options.h"
#include "core/text/values.h"

/* getopt_long returns FIRST_OPTION + its number in the table. */
enum { FIRST_OPTION = 256, MAX_OPTIONS = 256 };

/* ---- values ---- */

/* What doppel calls a value that others call otherwise. */
static const char *our_word(const struct option_info *option, const char *value)
{
    for (size_t i = 0; i < other_value_count; i++)
        if (strcmp(other_values[i].option, option->name) == 0 &&
            strcmp(other_values[i].word, value) == 0)
            return other_values[i].value;
    return value;
}

static const double least_amount = 1e-9, most_amount = 1e12;

/* Which of the option's words it is, or -1. */
static int choice_number(const struct option_info *option, const char *value)
{
    const char *words[MAX_CHOICES];
    char storage[CHOICE_BYTES];
    size_t count = option_choices(option, words, storage);
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], value) == 0)
            return (int)i;
    return -1;
}

/* What a value of this type looks like, for the error message. */
static const char *type_text(enum option_type type)
{
    switch (type) {
    case OPTION_COUNT:
        return "a whole number from 1 to 1024";
    case OPTION_NUMBER:
        return "a whole number from 1 to 4294967295";
    case OPTION_DISTANCE:
        return "a whole number from 0 to 256";
    case OPTION_SIMILARITY:
        return "a number from 0 to 1, or a percentage such as 90%";
    case OPTION_COSINE:
        return "a cosine from 0 to 1, such as 0.9 or 90%";
    case OPTION_RATE:
        return "a rate over 0 and at most 1, such as 0.001 or 1e-6";
    case OPTION_AMOUNT:
        return "a number over 0, such as 0.02 or 5";
    case OPTION_SIZE:
        return "a size such as 800, 64K or 1.5G";
    case OPTION_PIXELS:
        return "a number such as 80000 or 100M";
    case OPTION_TIME:
        return "a time such as 90, 500ms or 2m";
    default:
        return "another value";
    }
}

static void append_text(struct strings *strings, const char *text)
{
    strings->items = must_resize(strings->items, (strings->count + 1) * sizeof *strings->items);
    strings->items[strings->count++] = text;
}

static bool set_number(const struct option_info *option, const char *value, void *field)
{
    uint64_t whole;
    switch (option->type) {
    case OPTION_COUNT:
        return parse_whole(value, 1, 1024, &whole) && (*(uint32_t *)field = (uint32_t)whole, true);
    case OPTION_NUMBER:
        return parse_whole(value, 1, UINT32_MAX, &whole) &&
               (*(uint32_t *)field = (uint32_t)whole, true);
    case OPTION_DISTANCE:
        return parse_whole(value, 0, 256, &whole) && (*(int32_t *)field = (int32_t)whole, true);
    case OPTION_SIMILARITY:
    case OPTION_COSINE:
        return parse_share(value, field);
    case OPTION_RATE:
        return parse_rate(value, field);
    case OPTION_AMOUNT:
        return parse_number(value, least_amount, most_amount, field);
    case OPTION_SIZE:
        return parse_size(value, 1024, field);
    case OPTION_PIXELS:
        return parse_size(value, 1000, field);
    case OPTION_TIME:
        return parse_time(value, field);
    default:
        return false;
    }
}

static enum doppel_status set_option(const struct option_info *option, const char *value,
                                     struct settings *settings, struct doppel_error *error)
{
    void *field = (char *)settings + option->offset;
    const char *word = value ? our_word(option, value) : NULL;
    int choice = word ? choice_number(option, word) : -1;
    switch (option->type) {
    case OPTION_FLAG:
    case OPTION_FLAG_OFF:
        *(bool *)field = option->type == OPTION_FLAG;
        return DOPPEL_OK;
    case OPTION_TEXT:
        *(const char **)field = value;
        return DOPPEL_OK;
    case OPTION_TEXTS:
        append_text(field, value);
        return DOPPEL_OK;
    case OPTION_CHOICE:
        if (choice < 0)
            return wrong_choice(option, value, error);
        *(int *)field = choice;
        return DOPPEL_OK;
    case OPTION_KIND:
        if (choice < 0)
            return wrong_choice(option, value, error);
        *(enum doppel_kind *)field = doppel_kind_from_name(word);
        return DOPPEL_OK;
    case OPTION_SCHEME:
        if (choice < 0)
            return wrong_choice(option, value, error);
        *(const struct doppel_scheme **)field = doppel_scheme_by_name(value);
        return DOPPEL_OK;
    default:
        if (set_number(option, value, field))
            return DOPPEL_OK;
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes %s, not '%s'", option->name,
                           type_text(option->type), value);
    }
}

/* ---- options ---- */

static enum doppel_status set_given(const struct option_info *option, const char *value,
                                    struct settings *settings, struct doppel_error *error)
{
    char name[32];
    if (option->type == OPTION_SHORTHAND) {
        const char *equals = strchr(option->fallback, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - option->fallback), option->fallback);
        return set_given(option_by_name(name), equals + 1, settings, error);
    }
    if (option->offset == offsetof(struct settings, format))
        settings->format_given = settings->format_chosen = true;
    if (option->offset == offsetof(struct settings, library))
        settings->library_given = true;
    if (option->offset == offsetof(struct settings, timeout_ms))
        settings->timeout_given = true;
    if (option->offset == offsetof(struct settings, action))
        /* It takes a value. */
        settings->deletes = strcmp(value, "delete") == 0; // NOLINT(clang-analyzer-core.*)
    return set_option(option, value, settings, error);
}

static void set_defaults(const struct verb *verb, struct settings *settings)
{
    *settings = (struct settings){.verb = verb,
                                  .max_distance = -1,
                                  .min_similarity = -1,
                                  .text_similarity = -1,
                                  .min_containment = -1,
                                  .max_false_positives = -1,
                                  .check = CHECK_DEFAULT,
                                  .max_false_alarms = -1,
                                  .lanes = -1,
                                  .stage = -1,
                                  .orientations = true,
                                  .radius = -1,
                                  .nearest_cosine = -1,
                                  .semantic_cosine = -1,
                                  .action = ACTION_NONE,
                                  .preset_number = -1,
                                  .text_format = -1,
                                  .unit = -1,
                                  .state = -1};
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->fallback && option_at(i)->type != OPTION_SHORTHAND)
            set_option(option_at(i), option_at(i)->fallback, settings, NULL);
}

/* getopt's view of the table. */
struct getopt_view {
    char letters[2 * MAX_OPTIONS + 2];
    struct option longs[MAX_OPTIONS + 1];
};

/* A former name is that of the option itself: getopt does not find a beginning of both ambiguous.
 */
static struct option *add_former(struct option *longs, const struct option_info *option)
{
    for (size_t i = 0; i < former_option_count; i++)
        if (strcmp(former_options[i].name, option->name) == 0) {
            *longs = longs[-1];
            longs++->name = former_options[i].former;
        }
    return longs;
}

static void getopt_view_fill(const struct verb *verb, struct getopt_view *view)
{
    *view = (struct getopt_view){.letters = ":"};
    char *letters = view->letters + 1;
    struct option *longs = view->longs;
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_info *option = option_at(i);
        if (!(option->verbs & verb->bit))
            continue;
        *longs++ = (struct option){option->name, option->argument ? required_argument : no_argument,
                                   NULL, FIRST_OPTION + (int)i};
        longs = add_former(longs, option);
        if (!option->letter)
            continue;
        *letters++ = option->letter;
        if (option->argument)
            *letters++ = ':';
    }
}

static const struct option_info *option_of(int code)
{
    if (code >= FIRST_OPTION)
        return option_at((size_t)(code - FIRST_OPTION));
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->letter == code)
            return option_at(i);
    return NULL;
}

/* What getopt_long did not like: it leaves optopt 0 for a long option that it does not know. */
static enum doppel_status bad_option(const struct verb *verb, int code, const char *word,
                                     struct doppel_error *error)
{
    const struct option_info *option = option_of(optopt);
    if (code == ':')
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' needs a value: --%s %s", option->name,
                           option->name, option->argument);
    if (optopt >= FIRST_OPTION)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes no value", option->name);
    if (optopt)
        return unknown_letter(verb, optopt, error);
    return unknown_option(verb, word, error);
}

static void note_given(const struct option_info *option, struct settings *settings)
{
    const size_t number = option_number(option);
    settings->given[number / 64] |= UINT64_C(1) << number % 64;
}

const char *option_given(const struct settings *settings, const char *const *names)
{
    for (; *names; names++)
        for (size_t i = 0; i < option_count(); i++)
            if (settings->given[i / 64] >> i % 64 & 1 && strcmp(option_at(i)->name, *names) == 0)
                return *names;
    return NULL;
}

/* `--action move-to DIR`: the word after it, unless --to says where. */
static void look_for_folder(const struct option_info *option, char **argv,
                            struct settings *settings)
{
    const char *word = argv[optind];
    if (option->offset != offsetof(struct settings, action) || settings->folder_word ||
        settings->action != DOPPEL_ACTION_MOVE_TO || settings->move_to || !word || *word == '-')
        return;
    settings->folder_word = word;
    optind++;
}

static void settle_folder(struct settings *settings)
{
    if (settings->move_to && settings->folder_word)
        append_text(&settings->operands, settings->folder_word);
    else if (settings->folder_word)
        settings->move_to = settings->folder_word;
}

/* The first word that is a negative number, taken out of the line; NULL: there is none. */
static const char *take_negative(int *argc, char **argv)
{
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        char *word = argv[i];
        if (*word != '-' || !word[1] || word[1 + strspn(word + 1, "0123456789")])
            continue;
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
        --*argc;
        return word;
    }
    return NULL;
}

static enum doppel_status parse_options(int argc, char **argv, struct settings *settings,
                                        struct doppel_error *error)
{
    struct getopt_view view;
    getopt_view_fill(settings->verb, &view);
    opterr = 0;
    optind = 0; /* glibc: start again */
    const char *authority = settings->verb->bit & VERB_SOURCE ? take_negative(&argc, argv) : NULL;
    int code;
    while ((code = getopt_long(argc, argv, view.letters, view.longs, NULL)) != -1) {
        if (code == '?' || code == ':')
            return bad_option(settings->verb, code, argv[optind - 1], error);
        enum doppel_status status = set_given(option_of(code), optarg, settings, error);
        if (status)
            return status;
        note_given(option_of(code), settings);
        if (!is_for_server(settings->verb, option_of(code)))
            settings->local_option = option_of(code)->name;
        look_for_folder(option_of(code), argv, settings);
    }
    settle_folder(settings);
    for (; optind < argc; optind++)
        append_text(&settings->operands, argv[optind]);
    if (authority) /* behind the pattern, wherever it stood */
        append_text(&settings->operands, authority);
    return DOPPEL_OK;
}

/* ---- the configuration ---- */

static const struct option_info *option_of_verb(const struct verb *verb, const char *name)
{
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->verbs & verb->bit && strcmp(option_at(i)->name, name) == 0)
            return option_at(i);
    return NULL;
}

static const struct verb *first_verb_of(const struct option_info *option)
{
    for (size_t i = 0; i < verb_count; i++)
        if (option->verbs & verb_table[i].bit)
            return &verb_table[i];
    return NULL;
}

/* Of a flag: whether it is set. */
static bool says_yes(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static bool says_no(const char *value)
{
    return strcmp(value, "no") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

/* What is for every verb is for those that have the option; where several options share a name,
 * for those that mean the same by it as the first one. */
static enum doppel_status set_configured(const struct config_entry *entry,
                                         struct settings *settings, struct doppel_error *error)
{
    const struct option_info *first = option_by_name(entry->name);
    const struct option_info *option = option_of_verb(settings->verb, entry->name);
    if (!first || (entry->verb && !option))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no such option");
    if (first->offset == offsetof(struct settings, yes) ||
        first->offset >= offsetof(struct settings, help))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is to be given each time");
    if (!option || (!entry->verb && option->offset != first->offset))
        return DOPPEL_OK;
    if (option->argument)
        return set_given(option, entry->value, settings, error);
    if (says_no(entry->value))
        return DOPPEL_OK;
    return says_yes(entry->value) ? set_given(option, NULL, settings, error)
                                  : doppel_fail(error, DOPPEL_E_ARGUMENT, "it takes yes or no");
}

static enum doppel_status apply_config(struct settings *settings, struct doppel_error *error)
{
    const struct config *config = &settings->config;
    struct doppel_error why;
    for (size_t i = 0; i < config->count; i++) {
        const struct config_entry *entry = &config->items[i];
        if (entry->verb && strcmp(verb_by_name(entry->verb)->name, settings->verb->name) != 0)
            continue;
        if (set_configured(entry, settings, &why))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s:%u: %s: %s", config->path, entry->line,
                               entry->name, why.message);
    }
    settings->format_given = settings->timeout_given = false; /* by nobody at this time */
    return DOPPEL_OK;
}

/* Each entry as a verb takes it that has the option: `doppel config` finds what is wrong for any.
 */
static enum doppel_status check_config(const struct config *config, struct doppel_error *error)
{
    struct doppel_error why;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < config->count && !status; i++) {
        const struct config_entry *entry = &config->items[i];
        const struct option_info *option = option_by_name(entry->name);
        const struct verb *verb = entry->verb ? verb_by_name(entry->verb)
                                  : option    ? first_verb_of(option)
                                              : NULL;
        struct settings settings;
        if (!verb)
            continue; /* apply_config found it */
        set_defaults(verb, &settings);
        if (set_configured(entry, &settings, &why))
            status = doppel_fail(error, DOPPEL_E_ARGUMENT, "%s:%u: %s: %s", config->path,
                                 entry->line, entry->name, why.message);
        settings_free(&settings);
    }
    return status;
}

enum doppel_status settings_set_limit(const char *name, const char *value,
                                      struct settings *settings, struct doppel_error *error)
{
    return set_given(option_by_name(name), value, settings, error);
}

enum doppel_status settings_parse(const struct verb *verb, int argc, char **argv,
                                  struct settings *out, struct doppel_error *error)
{
    struct settings settings;
    set_defaults(verb, &settings);
    enum doppel_status status;
    TRY(config_read(&settings.config, error));
    TRY(apply_config(&settings, error));
    if (verb->bit == VERB_CONFIG)
        TRY(check_config(&settings.config, error));
    const char *configured = settings.server;
    settings.library_given = false;
    TRY(parse_options(argc, argv, &settings, error));
    if (settings.library_given && settings.server == configured)
        settings.server = settings.server_key = settings.server_ca = NULL;
    if (!settings.help && !settings.version) {
        TRY(policy_apply(&settings, error));
        TRY(settings_check(&settings, error));
    }
    *out = settings;
    return DOPPEL_OK;
done:
    settings_free(&settings);
    return status;
}

void settings_free(struct settings *settings)
{
    free(settings->operands.items);
    free(settings->exclude.items);
    config_free(&settings->config);
    free(settings->reference.items);
    free(settings->extensions.items);
    free(settings->keep_from.items);
    free(settings->protect.items);
    free(settings->allow_paths.items);
    free(settings->library_secret);
    free(settings->upstream_secret);
    free(settings->stream_secret);
    free(settings->server_secret);
    free(settings->embeddings_secret);
    free(settings->allow_hosts.items);
    free(settings->webhook_allow.items);
    free(settings->webhook_secret);
    free(settings->jsonl.items);
    free(settings->lists.items);
    free(settings->labels.items);
    *settings = (struct settings){0};
}
