/* The doppel command: picks the verb, and turns what it returns into the exit code. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/help.h"
#include "tools/memory.h"
#include "tools/options.h"
#include "tools/report.h"
#include "tools/signals.h"

static int wrong_use(const struct doppel_error *error)
{
    struct report report;
    report_start(&report, &(struct settings){0});
    return report_fatal(&report, "%s", error->message);
}

/* Help and version are results: a full disk or a closed pipe shows in the exit code. */
static int printed(void)
{
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_WRONG_USE;
}

static int print_version(void)
{
    printf("doppel %s\n", doppel_version());
    return printed();
}

static int run(const struct settings *settings)
{
    if (settings->help) {
        help_verb(stdout, settings->verb);
        return printed();
    }
    if (settings->version)
        return print_version();
    struct report report;
    report_start(&report, settings);
    int code = settings->verb->run(settings, &report);
    progress_clear(&report.progress);
    return report_exit_code(&report, code);
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    struct settings settings;
    struct doppel_error error;
    if (settings_parse(verb, argc, argv, &settings, &error))
        return wrong_use(&error);
    int code = run(&settings);
    settings_free(&settings);
    return code;
}

/* `doppel help VERB` */
static int help_command(int argc, char **argv)
{
    struct doppel_error error;
    if (argc < 2) {
        help_main(stdout);
        return printed();
    }
    const struct verb *verb = verb_by_name(argv[1]);
    if (!verb) {
        unknown_verb(argv[1], &error);
        return wrong_use(&error);
    }
    help_verb(stdout, verb);
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

int main(int argc, char **argv)
{
    struct doppel_error error;
    signals_install();
    json_set_alloc_funcs(must_allocate, free);
    if (argc < 2) {
        help_short(stderr);
        return EXIT_WRONG_USE;
    }
    if (argv[1][0] == '-')
        return main_option(argv[1]);
    if (strcmp(argv[1], "help") == 0)
        return help_command(argc - 1, argv + 1);
    const struct verb *verb = verb_by_name(argv[1]);
    if (!verb) {
        unknown_verb(argv[1], &error);
        return wrong_use(&error);
    }
    return run_verb(verb, argc - 1, argv + 1);
}
