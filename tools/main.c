/* The doppel command: picks the verb, and turns what it returns into the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <doppel/store.h>

#include "core/sanitizer.h"
#include "tools/args/help.h"
#include "tools/args/mistakes.h"
#include "tools/memory.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

static int wrong_use(const struct doppel_error *error)
{
    struct report report;
    report_start(&report, &(struct settings){0});
    int code = report_fatal(&report, "%s", error->message);
    report_end(&report);
    return code;
}

/* Help and version are results: a full disk or a closed pipe shows in the exit code. */
static int printed(void)
{
    struct doppel_error error;
    /* What was longer than a buffer may have failed before: errno is still that of the write. */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    if (errno == EPIPE) {
        signals_closed_pipe();
        return signals_exit_code();
    }
    doppel_fail(&error, DOPPEL_E_IO, "standard output: %s", strerror(errno));
    return wrong_use(&error);
}

static int print_version(void)
{
    printf("doppel %s\n", doppel_version());
    return printed();
}

static int run_verb_of(const struct settings *settings)
{
    if (settings->help) {
        help_verb(stdout, settings->verb, settings->whole_help);
        return printed();
    }
    if (settings->version)
        return print_version();
    struct report report;
    report_start(&report, settings);
    if (settings->deletes)
        report_notice(&report, "nothing is deleted: files go to the trash, and 'doppel undo' "
                               "takes them back");
    int code = settings->verb->run(settings, &report);
    code = report_exit_code(&report, code);
    if (signals_interrupted())
        report_interruption(&report, settings);
    report_end(&report);
    return code;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    struct settings settings;
    struct doppel_error error;
    if (settings_parse(verb, argc, argv, &settings, &error))
        return wrong_use(&error);
    int code = run_verb_of(&settings);
    settings_free(&settings);
    return code;
}

/* A word that begins verbs of two words stands for all of them. */
static bool is_family(const char *word)
{
    for (size_t i = 0; i < verb_count; i++)
        if (verb_is_of(&verb_table[i], word))
            return true;
    return false;
}

static int no_such_verb(int argc, char **argv)
{
    struct doppel_error error;
    char name[128];
    bool two = argc > 1 && is_family(argv[0]);
    snprintf(name, sizeof name, "%s%s%s", argv[0], two ? " " : "", two ? argv[1] : "");
    unknown_verb(name, &error);
    return wrong_use(&error);
}

/* `doppel help VERB` */
static int help_command(int argc, char **argv)
{
    size_t used;
    const struct verb *verb = verb_by_words((const char *const *)argv, (size_t)argc, &used);
    if (argc == 0)
        help_main(stdout);
    else if (verb)
        help_verb(stdout, verb, (size_t)argc > used && strcmp(argv[used], "--all") == 0);
    else if (argc == 1 && is_family(argv[0]))
        help_family(stdout, argv[0]);
    else
        return no_such_verb(argc, argv);
    return printed();
}

/* `doppel index` and `doppel index --help` */
static int family_command(int argc, char **argv)
{
    if (argc == 1) {
        help_family(stderr, argv[0]);
        return EXIT_WRONG_USE;
    }
    if (strcmp(argv[1], "--help") && strcmp(argv[1], "-h") && strcmp(argv[1], "help"))
        return no_such_verb(argc, argv);
    help_family(stdout, argv[0]);
    return printed();
}

/* An option where the verb should be. */
static int main_option(const char *option)
{
    struct doppel_error error;
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        help_main(stdout);
        return printed();
    }
    if (strcmp(option, "--version") == 0)
        return print_version();
    doppel_fail(&error, DOPPEL_E_ARGUMENT, "the verb comes before '%s'; see 'doppel --help'",
                option);
    return wrong_use(&error);
}

/* A stream that was closed (`>&-`) would be the next file that is opened. In its place comes one on
 * which it fails, as it should: standard input that can only be written, and the reverse. */
static void fill_closed_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_WRONG_USE);
}

/* Other processes of the user's, a worker that was taken over among them, can neither trace this
 * one nor write where it lies. Core files are not made either. */
static void forbid_tracing(void)
{
#ifndef UNDER_SANITIZER /* which looks for leaks by tracing */
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* How many words an option of a service takes here; 0: it is none. */
static int server_words(const char *word)
{
    static const char *const options[] = {"--server", "--server-key", "--server-ca"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t size = strlen(options[i]);
        if (strncmp(word, options[i], size) == 0 && (!word[size] || word[size] == '='))
            return word[size] ? 1 : 2;
    }
    return 0;
}

/* `doppel --server URL VERB …` is `doppel VERB --server URL …`. */
static void put_verb_first(int argc, char **argv)
{
    int at = 1;
    for (int words; at < argc && (words = server_words(argv[at]));)
        at += words;
    if (at == 1 || at >= argc || *argv[at] == '-')
        return;
    char *verb = argv[at];
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = verb;
}

int main(int argc, char **argv)
{
    forbid_tracing();
    /* Arrays that grow with the collection move by remapping, and leave no holes behind. */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    (void)doppel_store_skip_memory_count();
    fill_closed_streams();
    signals_install();
    json_set_alloc_funcs(must_allocate, free);
    if (argc < 2) {
        help_short(stderr);
        return EXIT_WRONG_USE;
    }
    put_verb_first(argc, argv);
    if (argv[1][0] == '-')
        return main_option(argv[1]);
    if (strcmp(argv[1], "help") == 0)
        return help_command(argc - 2, argv + 2);
    if (strcmp(argv[1], "version") == 0)
        return print_version();
    size_t used;
    const struct verb *verb = verb_by_words((const char *const *)argv + 1, (size_t)argc - 1, &used);
    if (verb)
        return run_verb(verb, argc - (int)used, argv + used);
    if (is_family(argv[1]))
        return family_command(argc - 1, argv + 1);
    return no_such_verb(argc - 1, argv + 1);
}
