/* Help from the tables. */
#include "tools/args/help.h"

#include <string.h>

#include "tools/args/options.h"
#include "core/text/printable.h"

enum { LINE_WIDTH = 80, HELP_INDENT = 28, SUMMARY_INDENT = 22 };

/* Words of `text` in lines, from column `column`; later lines begin at `indent`. */
static void print_wrapped(FILE *stream, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > LINE_WIDTH) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', stream);
            column++;
        }
        fwrite(text, 1, length, stream);
        column += length;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* `label`, then `text` from column `indent` on, on the next line when the label is too long. */
static void print_help_entry(FILE *stream, const char *label, const char *text, size_t indent)
{
    fputs(label, stream);
    if (strlen(label) + 2 > indent)
        fprintf(stream, "\n%*s", (int)indent, "");
    else
        fprintf(stream, "%*s", (int)(indent - strlen(label)), "");
    print_wrapped(stream, text, indent, indent);
}

void help_short(FILE *stream)
{
    fputs("Usage: doppel VERB [OPTION]... [PATH]...\n"
          "Finds duplicates among your images, texts, audio and video.\n\n"
          "  doppel scan ~/Pictures     find duplicates and near-duplicates\n"
          "  doppel --help              all verbs\n"
          "  doppel VERB --help         what a verb does, examples, common options\n",
          stream);
}

static void print_help_verb(FILE *stream, const struct verb *verb)
{
    char label[64];
    snprintf(label, sizeof label, "  %s %s", verb->name, verb->operands);
    print_help_entry(stream, label, verb->summary, SUMMARY_INDENT);
}

/* Verbs under headings, each under one. */
static const struct {
    const char *title;
    uint64_t verbs;
} chapters[] = {
    {"Files, without a library",
     VERB_SCAN | VERB_COMPARE | VERB_HASH | VERB_SCHEMES | VERB_TUNE | VERB_REPORT | VERB_UNDO},
    {"A library",
     VERB_ADD | VERB_FIND | VERB_GROUPS | VERB_LIST | VERB_SHOW | VERB_REMOVE | VERB_MONITOR |
         VERB_SERVE},
    {"Incoming files and records", VERB_INGEST | VERB_WATCH | VERB_CHECK | VERB_DEDUP | VERB_LOG},
    {"Manual labels and metadata",
     VERB_MARK | VERB_SOURCE | VERB_TAG | VERB_LISTS | VERB_LISTS_SET},
    {"Maintenance and exchange", VERB_EXPORT | VERB_IMPORT | VERB_MERGE | VERB_BACKUP |
                                     VERB_VERIFY | VERB_COMPACT | VERB_STATS | VERB_CONFIG |
                                     VERB_DOCTOR},
    {"Embedding models", VERB_MODEL_ADD | VERB_MODEL_WHITEN | VERB_MODEL},
    {"Codes and vectors of your own", VERB_INDEX_BUILD | VERB_INDEX_ADD | VERB_INDEX_REMOVE |
                                         VERB_INDEX_SEARCH | VERB_INDEX_KNN | VERB_INDEX_JOIN |
                                         VERB_INDEX_INFO | VERB_INDEX_VERIFY |
                                         VERB_INDEX_COMPACT},
};

static void print_chapters(FILE *stream)
{
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++) {
        fprintf(stream, "\n%s:\n", chapters[i].title);
        for (size_t j = 0; j < verb_count; j++)
            if (verb_table[j].bit & chapters[i].verbs)
                print_help_verb(stream, &verb_table[j]);
    }
}

void help_family(FILE *stream, const char *family)
{
    fprintf(stream, "Usage: doppel %s VERB [OPTION]...\n\nVerbs:\n", family);
    for (size_t i = 0; i < verb_count; i++)
        if (verb_is_of(&verb_table[i], family))
            print_help_verb(stream, &verb_table[i]);
    fprintf(stream, "\n'doppel %s VERB --help' describes a verb.\n", family);
}

void help_main(FILE *stream)
{
    fputs("Usage: doppel VERB [OPTION]... [PATH]...\n"
          "Finds duplicates among your images, texts, audio and video, also after re-encoding,\n"
          "resizing, cropping and editing.\n",
          stream);
    print_chapters(stream);
    fputs("\n'doppel VERB --help' describes a verb, 'doppel VERB --help --all' in full; 'doppel\n"
          "--version' prints the version.\n\n"
          "Exit codes: 0 done, or something matched; 1 nothing matched; 2 wrong use, or the\n"
          "run could not go on; 3 some inputs could not be read; 130 interrupted.\n",
          stream);
}

static void print_help_option(FILE *stream, const struct option_info *option)
{
    char label[64], text[512];
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(label, sizeof label, "  %s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    if (option->fallback && option->type != OPTION_SHORTHAND)
        snprintf(text, sizeof text, "%s (default: %s)", option->help, option->fallback);
    else
        snprintf(text, sizeof text, "%s", option->help);
    print_help_entry(stream, label, text, HELP_INDENT);
}

static void print_section(FILE *stream, const struct verb *verb, enum option_section section)
{
    bool titled = false;
    for (size_t i = 0; i < option_count(); i++) {
        if (option_at(i)->section != section || !(option_at(i)->verbs & verb->bit))
            continue;
        if (!titled)
            fprintf(stream, "\n%s:\n", section_title(section));
        titled = true;
        print_help_option(stream, option_at(i));
    }
}

/* The options of the list that are the verb's, in its order. */
static void print_common(FILE *stream, const struct verb *verb)
{
    for (const char *name = verb->common; *name; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        for (size_t i = 0; i < option_count(); i++)
            if (option_at(i)->verbs & verb->bit && strlen(option_at(i)->name) == length &&
                strncmp(option_at(i)->name, name, length) == 0)
                print_help_option(stream, option_at(i));
        name += length;
    }
}

void help_verb(FILE *stream, const struct verb *verb, bool whole)
{
    char sentence[256];
    fprintf(stream, "Usage: doppel %s [OPTION]...%s%s\n", verb->name, *verb->operands ? " " : "",
            verb->operands);
    snprintf(sentence, sizeof sentence, "%c%s.", verb->summary[0] - 'a' + 'A', verb->summary + 1);
    print_wrapped(stream, sentence, 0, 0);
    if (whole)
        fputc('\n', stream);
    if (whole)
        print_wrapped(stream, verb->details, 0, 0);
    fprintf(stream, "\nExamples:\n  %s\n  %s\n", verb->example, verb->other_example);
    if (!whole)
        fputs("\nCommon options:\n", stream);
    for (int section = 0; section < SECTION_COUNT && whole; section++)
        print_section(stream, verb, (enum option_section)section);
    if (whole)
        return;
    print_common(stream, verb);
    fprintf(stream, "\n'doppel %s --help --all' prints all options, and details.\n", verb->name);
}
