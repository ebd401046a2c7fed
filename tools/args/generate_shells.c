/* Completions for bash, zsh and fish. */
#include <string.h>

#include "tools/args/generate.h"

/* What follows an option. */
enum follows { FOLLOWS_NOTHING, FOLLOWS_WORDS, FOLLOWS_FILE, FOLLOWS_FOLDER, FOLLOWS_OTHER };

static enum follows follows(const struct option_info *option)
{
    const char *words[MAX_CHOICES];
    char storage[CHOICE_BYTES];
    if (!option->argument)
        return FOLLOWS_NOTHING;
    if (option_choices(option, words, storage))
        return FOLLOWS_WORDS;
    if (strcmp(option->argument, "FILE") == 0)
        return FOLLOWS_FILE;
    bool folder = strcmp(option->argument, "DIR") == 0 || strcmp(option->argument, "INDEX") == 0;
    return folder ? FOLLOWS_FOLDER : FOLLOWS_OTHER;
}

static void print_words(FILE *stream, const struct option_info *option)
{
    const char *words[MAX_CHOICES];
    char storage[CHOICE_BYTES];
    size_t count = option_choices(option, words, storage);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i ? " " : "", words[i]);
}

/* ---- words ----
 *
 * A verb of two words ("index build") is one of a family, whose first word is completed like a
 * verb, and then the second. */

/* The second word of a verb of two, or NULL. */
static const char *second_word(const struct verb *verb)
{
    const char *space = strchr(verb->name, ' ');
    return space ? space + 1 : NULL;
}

static int first_length(const struct verb *verb)
{
    return (int)strcspn(verb->name, " ");
}

/* Whether it is the first of the table with its first word. */
static bool begins_family(size_t number)
{
    const struct verb *verb = &verb_table[number];
    size_t length = (size_t)first_length(verb);
    for (size_t i = 0; i < number; i++)
        if (strncmp(verb_table[i].name, verb->name, length + 1) == 0)
            return false;
    return second_word(verb) != NULL;
}

static bool same_family(const struct verb *a, const struct verb *b)
{
    int length = first_length(a);
    return second_word(a) && second_word(b) && first_length(b) == length &&
           strncmp(a->name, b->name, (size_t)length) == 0;
}

static void print_verbs(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++)
        if (!second_word(&verb_table[i]) || begins_family(i))
            fprintf(stream, "%.*s ", first_length(&verb_table[i]), verb_table[i].name);
    fputs("help", stream);
}

/* The second words of a family. */
static void print_family(FILE *stream, const struct verb *family)
{
    const char *before = "";
    for (size_t i = 0; i < verb_count; i++)
        if (same_family(family, &verb_table[i])) {
            fprintf(stream, "%s%s", before, second_word(&verb_table[i]));
            before = " ";
        }
}

/* `text` without the characters that would end its quotes. */
static void print_escaped(FILE *stream, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stream);
        else if (strchr(special, *text))
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

static bool takes_paths(const struct verb *verb)
{
    return strstr(verb->operands, "PATH") || strstr(verb->operands, "FILE") ||
           strstr(verb->operands, "INDEX") || strstr(verb->operands, "CODES") ||
           strcmp(verb->operands, "A B") == 0;
}

/* ---- bash ---- */

/* `case "$before" in --cache | --files-from) … ;;` for all options that something follows. */
static void print_bash_values(FILE *stream)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_info *option = option_at(i);
        enum follows what = follows(option);
        if (what == FOLLOWS_NOTHING)
            continue;
        fprintf(stream, "    --%s", option->name);
        if (option->letter)
            fprintf(stream, " | -%c", option->letter);
        fputs(")\n        ", stream);
        if (what == FOLLOWS_WORDS) {
            fputs("COMPREPLY=($(compgen -W '", stream);
            print_words(stream, option);
            fputs("' -- \"$word\"))", stream);
        } else if (what == FOLLOWS_OTHER) {
            fputs(":", stream);
        } else {
            fprintf(stream,
                    "compopt -o filenames\n        mapfile -t COMPREPLY < <(compgen -%c -- "
                    "\"$word\")",
                    what == FOLLOWS_FILE ? 'f' : 'd');
        }
        fputs("\n        return\n        ;;\n", stream);
    }
}

static void print_bash_verb(FILE *stream, const struct verb *verb)
{
    fprintf(stream, "    '%s')\n        options='", verb->name);
    const char *before = "";
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->verbs & verb->bit) {
            fprintf(stream, "%s--%s", before, option_at(i)->name);
            before = " ";
        }
    fprintf(stream, "'\n        paths=%d\n        ;;\n", takes_paths(verb));
}

static void print_bash_families(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++) {
        if (!begins_family(i))
            continue;
        fprintf(stream,
                "    if [ \"$verb\" = %.*s ]; then\n"
                "        if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
                "            COMPREPLY=($(compgen -W '",
                first_length(&verb_table[i]), verb_table[i].name);
        print_family(stream, &verb_table[i]);
        fputs("' -- \"$word\"))\n"
              "            return\n"
              "        fi\n"
              "        verb=\"$verb ${COMP_WORDS[2]}\"\n"
              "    fi\n",
              stream);
    }
}

void generate_bash(FILE *stream)
{
    fputs("# Completion of doppel for bash.\n"
          "_doppel() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local verb=${COMP_WORDS[1]} options paths=0 verbs='",
          stream);
    print_verbs(stream);
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case $before in\n",
          stream);
    print_bash_values(stream);
    fputs("    esac\n", stream);
    print_bash_families(stream);
    fputs("    case $verb in\n", stream);
    for (size_t i = 0; i < verb_count; i++)
        print_bash_verb(stream, &verb_table[i]);
    fputs("    help)\n        COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
          "        return\n        ;;\n    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    elif [ \"$paths\" -eq 1 ]; then\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -F _doppel doppel\n",
          stream);
}

/* ---- zsh ---- */

/* '(-L --library)'{-L+,--library=}'[help]:DIR:_files -/' */
static void print_zsh_option(FILE *stream, const struct option_info *option)
{
    enum follows what = follows(option);
    bool repeatable = option->type == OPTION_TEXTS;
    const char *long_end = what == FOLLOWS_NOTHING ? "" : "=";
    fputs("            ", stream);
    if (option->letter)
        fprintf(stream, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
                option->letter, what == FOLLOWS_NOTHING ? "" : "+", option->name, long_end);
    else
        fprintf(stream, "'%s--%s%s[", repeatable ? "*" : "", option->name, long_end);
    print_escaped(stream, option->help, "[]:\\");
    fputc(']', stream);
    if (what != FOLLOWS_NOTHING) {
        fputc(':', stream);
        print_escaped(stream, option->argument, ":\\");
        fputc(':', stream);
    }
    if (what == FOLLOWS_WORDS) {
        fputc('(', stream);
        print_words(stream, option);
        fputc(')', stream);
    } else if (what == FOLLOWS_FILE || what == FOLLOWS_FOLDER) {
        fputs(what == FOLLOWS_FILE ? "_files" : "_files -/", stream);
    }
    fputs("' \\\n", stream);
}

static void print_zsh_verb(FILE *stream, const struct verb *verb)
{
    fprintf(stream, "    '%s')\n        _arguments -s -S \\\n", verb->name);
    for (size_t i = 0; i < option_count(); i++)
        if (option_at(i)->verbs & verb->bit)
            print_zsh_option(stream, option_at(i));
    fprintf(stream, "            '*:%s:%s'\n        ;;\n",
            *verb->operands ? verb->operands : "nothing", takes_paths(verb) ? "_files" : "");
}

static void print_zsh_description(FILE *stream, const char *word, int length, const char *text)
{
    fprintf(stream, "        '%.*s:", length, word);
    print_escaped(stream, text, ":\\");
    fputs("'\n", stream);
}

static void print_zsh_families(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++) {
        if (!begins_family(i))
            continue;
        fprintf(stream, "    if [[ $verb == %.*s ]]; then\n        verbs=(\n",
                first_length(&verb_table[i]), verb_table[i].name);
        for (size_t j = i; j < verb_count; j++)
            if (same_family(&verb_table[i], &verb_table[j])) {
                const char *word = second_word(&verb_table[j]);
                print_zsh_description(stream, word, (int)strlen(word), verb_table[j].summary);
            }
        fputs("        )\n"
              "        if (( CURRENT == 2 )); then\n"
              "            _describe -t verbs verb verbs\n"
              "            return\n"
              "        fi\n"
              "        verb=\"$verb $words[2]\"\n"
              "        shift words\n        (( CURRENT-- ))\n"
              "    fi\n",
              stream);
    }
}

void generate_zsh(FILE *stream)
{
    fputs("#compdef doppel\n# Completion of doppel for zsh.\n_doppel() {\n"
          "    local -a verbs\n    verbs=(\n",
          stream);
    for (size_t i = 0; i < verb_count; i++)
        if (begins_family(i))
            print_zsh_description(stream, verb_table[i].name, first_length(&verb_table[i]),
                                  "more verbs");
        else if (!second_word(&verb_table[i]))
            print_zsh_description(stream, verb_table[i].name, first_length(&verb_table[i]),
                                  verb_table[i].summary);
    fputs("        'help:tell of a verb'\n    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t verbs verb verbs\n"
          "        _arguments '--help[print help]' '--version[print the version]'\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n",
          stream);
    print_zsh_families(stream);
    fputs("    case $verb in\n", stream);
    for (size_t i = 0; i < verb_count; i++)
        print_zsh_verb(stream, &verb_table[i]);
    fputs("    help)\n        _describe -t verbs verb verbs\n        ;;\n"
          "    esac\n}\n_doppel \"$@\"\n",
          stream);
}

/* ---- fish ---- */

/* " and __fish_seen_subcommand_from A B", of the verbs of a family, or of those in none (NULL),
 * that have the option; false when there are none. */
static bool fish_condition(const struct option_info *option, const struct verb *family, char *out,
                           size_t size)
{
    bool any = false;
    int used = family ? snprintf(out, size,
                                 "__fish_seen_subcommand_from %.*s; and "
                                 "__fish_seen_subcommand_from",
                                 first_length(family), family->name)
                      : snprintf(out, size, "__fish_seen_subcommand_from");
    for (size_t i = 0; i < verb_count && (size_t)used < size; i++) {
        const struct verb *verb = &verb_table[i];
        bool here = family ? same_family(family, verb) : !second_word(verb);
        if (!here || !(option->verbs & verb->bit))
            continue;
        used += snprintf(out + used, size - (size_t)used, " %s",
                         family ? second_word(verb) : verb->name);
        any = true;
    }
    return any;
}

static void print_fish_option(FILE *stream, const struct option_info *option, const char *condition)
{
    enum follows what = follows(option);
    fprintf(stream, "complete -c doppel -n '%s' -l %s", condition, option->name);
    if (option->letter)
        fprintf(stream, " -s %c", option->letter);
    if (what == FOLLOWS_FILE)
        fputs(" -r -F", stream);
    else if (what == FOLLOWS_FOLDER)
        fputs(" -x -a '(__fish_complete_directories)'", stream);
    else if (what != FOLLOWS_NOTHING)
        fputs(" -x", stream);
    if (what == FOLLOWS_WORDS) {
        fputs(" -a '", stream);
        print_words(stream, option);
        fputc('\'', stream);
    }
    fputs(" -d '", stream);
    print_escaped(stream, option->help, "\\");
    fputs("'\n", stream);
}

static void print_fish_options(FILE *stream, const struct option_info *option)
{
    char condition[512];
    if (fish_condition(option, NULL, condition, sizeof condition))
        print_fish_option(stream, option, condition);
    for (size_t i = 0; i < verb_count; i++)
        if (begins_family(i) && fish_condition(option, &verb_table[i], condition, sizeof condition))
            print_fish_option(stream, option, condition);
}

static void print_fish_verbs(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++) {
        const char *second = second_word(&verb_table[i]);
        int length = first_length(&verb_table[i]);
        if (begins_family(i))
            fprintf(stream, "complete -c doppel -n __fish_use_subcommand -f -a %.*s\n", length,
                    verb_table[i].name);
        if (second)
            fprintf(stream,
                    "complete -c doppel -n '__fish_seen_subcommand_from %.*s' -f -a %s -d '",
                    length, verb_table[i].name, second);
        else
            fprintf(stream, "complete -c doppel -n __fish_use_subcommand -f -a %s -d '",
                    verb_table[i].name);
        print_escaped(stream, verb_table[i].summary, "\\");
        fputs("'\n", stream);
        if (!second && !takes_paths(&verb_table[i]))
            fprintf(stream, "complete -c doppel -n '__fish_seen_subcommand_from %s' -f\n",
                    verb_table[i].name);
    }
}

void generate_fish(FILE *stream)
{
    fputs("# Completion of doppel for fish.\n", stream);
    print_fish_verbs(stream);
    fputs("complete -c doppel -n __fish_use_subcommand -f -a help -d 'tell of a verb'\n"
          "complete -c doppel -n '__fish_seen_subcommand_from help' -f -a '",
          stream);
    print_verbs(stream);
    fputs("'\n"
          "complete -c doppel -n __fish_use_subcommand -f -l help -s h -d 'Print help'\n"
          "complete -c doppel -n __fish_use_subcommand -f -l version -d 'Print the version'\n",
          stream);
    for (size_t i = 0; i < option_count(); i++)
        print_fish_options(stream, option_at(i));
}
