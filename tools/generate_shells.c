/* Completions for bash, zsh and fish. */
#include <string.h>

#include "tools/generate.h"

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
    return strcmp(option->argument, "DIR") == 0 ? FOLLOWS_FOLDER : FOLLOWS_OTHER;
}

static void print_words(FILE *stream, const struct option_info *option)
{
    const char *words[MAX_CHOICES];
    char storage[CHOICE_BYTES];
    size_t count = option_choices(option, words, storage);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i ? " " : "", words[i]);
}

static void print_verbs(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++)
        fprintf(stream, "%s ", verb_table[i].name);
    fputs("help", stream);
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
           strcmp(verb->operands, "A B") == 0;
}

/* ---- bash ---- */

/* `case "$before" in --cache | --files-from) … ;;` for all options that something follows. */
static void print_bash_values(FILE *stream)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_info *option = &option_table[i];
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
    fprintf(stream, "    %s)\n        options='", verb->name);
    const char *before = "";
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].verbs & verb->bit) {
            fprintf(stream, "%s--%s", before, option_table[i].name);
            before = " ";
        }
    fprintf(stream, "'\n        paths=%d\n        ;;\n", takes_paths(verb));
}

void generate_bash(FILE *stream)
{
    fputs("# Completion of doppel for bash.\n"
          "_doppel() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local options paths=0 verbs='",
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
    fputs("    esac\n    case ${COMP_WORDS[1]} in\n", stream);
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
    fprintf(stream, "    %s)\n        _arguments -s -S \\\n", verb->name);
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].verbs & verb->bit)
            print_zsh_option(stream, &option_table[i]);
    fprintf(stream, "            '*:%s:%s'\n        ;;\n",
            *verb->operands ? verb->operands : "nothing", takes_paths(verb) ? "_files" : "");
}

void generate_zsh(FILE *stream)
{
    fputs("#compdef doppel\n# Completion of doppel for zsh.\n_doppel() {\n"
          "    local -a verbs\n    verbs=(\n",
          stream);
    for (size_t i = 0; i < verb_count; i++) {
        fprintf(stream, "        '%s:", verb_table[i].name);
        print_escaped(stream, verb_table[i].summary, ":\\");
        fputs("'\n", stream);
    }
    fputs("        'help:tell of a verb'\n    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t verbs verb verbs\n"
          "        _arguments '--help[print help]' '--version[print the version]'\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n"
          "    case $verb in\n",
          stream);
    for (size_t i = 0; i < verb_count; i++)
        print_zsh_verb(stream, &verb_table[i]);
    fputs("    help)\n        _describe -t verbs verb verbs\n        ;;\n"
          "    esac\n}\n_doppel \"$@\"\n",
          stream);
}

/* ---- fish ---- */

static void print_fish_option(FILE *stream, const struct option_info *option)
{
    enum follows what = follows(option);
    fputs("complete -c doppel -n '__fish_seen_subcommand_from", stream);
    for (size_t i = 0; i < verb_count; i++)
        if (option->verbs & verb_table[i].bit)
            fprintf(stream, " %s", verb_table[i].name);
    fprintf(stream, "' -l %s", option->name);
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

static void print_fish_verbs(FILE *stream)
{
    for (size_t i = 0; i < verb_count; i++) {
        fprintf(stream, "complete -c doppel -n __fish_use_subcommand -f -a %s -d '",
                verb_table[i].name);
        print_escaped(stream, verb_table[i].summary, "\\");
        fputs("'\n", stream);
        if (!takes_paths(&verb_table[i]))
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
    for (size_t i = 0; i < option_count; i++)
        print_fish_option(stream, &option_table[i]);
}
