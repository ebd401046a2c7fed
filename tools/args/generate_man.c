/* The man page. */
#include <string.h>

#include "tools/args/generate.h"

/* Text as roff shows it: hyphens are typed ones, and no line begins with a request. */
static void print_roff(FILE *stream, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stream);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else
            fputc(*text, stream);
}

static void print_paragraph(FILE *stream, const char *text)
{
    fputs(".PP\n", stream);
    print_roff(stream, text);
    fputc('\n', stream);
}

static void print_tagged(FILE *stream, const char *tag, const char *text)
{
    fputs(".TP\n.B ", stream);
    print_roff(stream, tag);
    fputc('\n', stream);
    print_roff(stream, text);
    fputc('\n', stream);
}

static void print_example(FILE *stream, const char *example)
{
    fputs(".PP\n.RS\n.nf\n", stream);
    print_roff(stream, example);
    fputs("\n.fi\n.RE\n", stream);
}

static void print_man_verb(FILE *stream, const struct verb *verb)
{
    fputs(".SS ", stream);
    fprintf(stream, "\"doppel %s", verb->name);
    fputs(*verb->operands ? " " : "", stream);
    print_roff(stream, verb->operands);
    fprintf(stream, "\"\n%c", verb->summary[0] - 'a' + 'A');
    print_roff(stream, verb->summary + 1);
    fputs(".\n", stream);
    print_paragraph(stream, verb->details);
    print_example(stream, verb->example);
    print_example(stream, verb->other_example);
}

/* "For scan, find.", unless all verbs have it. */
static void print_verbs_of(FILE *stream, const struct option_info *option)
{
    const char *before = " For ";
    if ((option->verbs & VERB_ANY) == VERB_ANY)
        return;
    for (size_t i = 0; i < verb_count; i++)
        if (option->verbs & verb_table[i].bit) {
            fprintf(stream, "%s%s", before, verb_table[i].name);
            before = ", ";
        }
    fputc('.', stream);
}

static void print_man_option(FILE *stream, const struct option_info *option)
{
    fputs(".TP\n", stream);
    if (option->letter)
        fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stream);
    print_roff(stream, option->name);
    fputs("\\fR", stream);
    if (option->argument)
        fprintf(stream, " \\fI%s\\fR", option->argument);
    fputc('\n', stream);
    print_roff(stream, option->help);
    if (option->fallback && option->type != OPTION_SHORTHAND) {
        fputs(" (default: ", stream);
        print_roff(stream, option->fallback);
        fputc(')', stream);
    }
    fputc('.', stream);
    print_verbs_of(stream, option);
    fputc('\n', stream);
}

static void print_options(FILE *stream)
{
    for (int section = 0; section < SECTION_COUNT; section++) {
        fprintf(stream, ".SS %s\n", section_title((enum option_section)section));
        for (size_t i = 0; i < option_count(); i++)
            if (option_at(i)->section == (enum option_section)section)
                print_man_option(stream, option_at(i));
    }
}

static void print_exit_codes(FILE *stream)
{
    fputs(".SH EXIT STATUS\n", stream);
    print_tagged(stream, "0", "Done; for check, compare and find: something matched.");
    print_tagged(stream, "1", "check, compare, find: nothing matched.");
    print_tagged(stream, "2", "Wrong use, or the run could not go on.");
    print_tagged(
        stream, "3",
        "The run ended, but some of what it was to work on could not be read, could not be "
        "embedded, or is not there. Each was said on standard error as \"doppel: PATH: "
        "reason\". Outranks 0 and 1.");
    print_tagged(stream, "130", "Interrupted (SIGINT); what was done is kept.");
    print_tagged(stream, "141", "Nobody reads standard output any more; the run ended quietly.");
    print_paragraph(stream, "What is not there, in every verb:");
    fputs(".TS\nallbox;\nl l.\n", stream);
    fputs("a file, folder or corpus to read; codes, queries, labels\t3\n"
          "an item, a record, a list to remove, a run to undo\t3\n"
          "a library, an index; a list named to choose by\t2\n"
          "the journal of \\-\\-journal to undo from\t2\n"
          "the list of \\-\\-files\\-from, the marks of \\-\\-marks\t2\n"
          "a folder to keep copies from, or to write into\t2\n"
          "anything at all under the PATHs\t0\n.TE\n",
          stream);
}

static void print_surroundings(FILE *stream)
{
    fputs(".SH ENVIRONMENT\n", stream);
    print_tagged(stream, "DOPPEL_LIBRARY", "The library, where --library is not given.");
    print_tagged(stream, "DOPPEL_MODELS", "The folder of embedding models.");
    print_tagged(stream,
                 "DOPPEL_EMBEDDINGS_KEY, DOPPEL_LIBRARY_KEY, DOPPEL_SERVER_KEY, "
                 "DOPPEL_STREAM_KEY, DOPPEL_UPSTREAM_KEY",
                 "Keys, where no file has them: see --embeddings, --library, --server, --stream, "
                 "--upstream.");
    print_tagged(stream, "DOPPEL_WORKER",
                 "The program doppel-worker, where it is not beside "
                 "doppel.");
    print_tagged(stream, "XDG_DATA_HOME, XDG_CACHE_HOME, XDG_STATE_HOME",
                 "Where the library (doppel), embedding models (doppel/models), the caches "
                 "(doppel/cache.db, doppel/vectors.db) and the journal of what was done "
                 "(doppel/actions.jsonl) lie.");
    print_tagged(stream, "XDG_CONFIG_HOME", "Where the file of options (doppel/config) lies.");
    print_tagged(stream, "NO_COLOR", "No colours, unless --color asks for them.");
    print_tagged(stream, "TMPDIR", "Where standard input is put when it is read as a file.");
}

static void print_output(FILE *stream)
{
    fputs(".SH OUTPUT\n", stream);
    print_roff(stream, "Results go to standard output, everything else to standard error. "
                       "With --json each result is one JSON object on a line, written at "
                       "once; fields may be added, none is renamed, and one that is absent "
                       "is not known. A path that is not UTF-8 is shown with U+FFFD and "
                       "carries its bytes in base64 in a field of the same name with _base64 "
                       "at its end.");
    fputc('\n', stream);
    print_paragraph(stream, "Sizes may end in K, M, G or T (powers of 1024); numbers of pixels "
                            "likewise (powers of 1000); times in ms, s, m or h, seconds without.");
}

static void print_examples(FILE *stream)
{
    static const struct {
        const char *what, *commands;
    } examples[] = {
        {"The duplicates of a folder, looked at; those of the same bytes put into the trash, and "
         "taken back:",
         "doppel scan ~/Pictures\ndoppel report ~/Pictures -o page.html\n"
         "doppel scan ~/Pictures --action trash --yes\ndoppel undo"},
        {"What is in an inbox and not in the archive yet:",
         "doppel add ~/archive\ndoppel check inbox/*.jpg --json"},
        {"Where a piece of music is heard:", "doppel add ~/music\ndoppel find broadcast.mp3"},
        {"A corpus of texts without duplicates:",
         "doppel dedup crawl.jsonl.zst --emit unique > unique.jsonl"},
    };
    fputs(".SH EXAMPLES\n", stream);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        print_paragraph(stream, examples[i].what);
        print_example(stream, examples[i].commands);
    }
}

static void print_files(FILE *stream)
{
    fputs(".SH FILES\n", stream);
    print_tagged(stream, "~/.config/doppel/config",
                 "Options for every run: 'option = value' for all verbs that have it, or behind "
                 "'[verb]' for that one; 'doppel config' prints them.");
    print_tagged(stream, "~/.local/share/doppel",
                 "The library: a folder with catalogue.db and the indexes that are made of it.");
    print_tagged(stream, "~/.cache/doppel/cache.db",
                 "What was read of files, so that a second run is fast. It may be removed.");
    print_tagged(stream, "~/.local/state/doppel/actions.jsonl",
                 "The journal of what was done to files, for 'doppel undo'.");
    print_tagged(stream, "~/.local/share/Trash", "Where --action trash puts files.");
}

void generate_man(FILE *stream)
{
    fputs("'\\\" t\n", stream); /* there is a table */
    fprintf(stream, ".TH DOPPEL 1 \"\" \"doppel %s\" \"User Commands\"\n", doppel_version());
    fputs(".SH NAME\ndoppel \\- find the duplicates of your media\n"
          ".SH SYNOPSIS\n.B doppel\n.I VERB\n.RI [ OPTION ...]\n.RI [ PATH ...]\n"
          ".SH DESCRIPTION\n",
          stream);
    print_roff(stream, "doppel turns files into fingerprints that survive re-encoding, resizing, "
                       "cropping and editing, and finds those that are the same, or a part of each "
                       "other.");
    fputs("\n.SH VERBS\n", stream);
    for (size_t i = 0; i < verb_count; i++)
        print_man_verb(stream, &verb_table[i]);
    fputs(".SH OPTIONS\n", stream);
    print_options(stream);
    print_output(stream);
    print_exit_codes(stream);
    print_surroundings(stream);
    print_files(stream);
    print_examples(stream);
}
