/* doppel doctor: what holds the processes that decode, and by which libraries they do. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <doppel/version.h>
#include <doppel/worker.h>

#include "tools/args/commands.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

static const struct column columns[] = {
    {"part", "part", CELL_TEXT},
    {"active", "active", CELL_BOOL},
    {"value", "value", CELL_TEXT},
    {"what", "what", CELL_TEXT},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void print_part(struct output *output, const char *part, bool active, const char *what)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "part", part);
    doppel_json_boolean(row, "active", active);
    if (!active)
        doppel_json_text(row, "value", "missing");
    doppel_json_text(row, "what", what);
    output_end(output);
}

static void print_value(struct output *output, const char *part, const char *value,
                        const char *what)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "part", part);
    doppel_json_text(row, "value", value);
    doppel_json_text(row, "what", what);
    output_end(output);
}

static void print_system(struct output *output, const struct doppel_confinement *held)
{
    struct utsname system;
    char text[32];
    print_value(output, "doppel", DOPPEL_VERSION, NULL);
    if (uname(&system) == 0)
        print_value(output, "kernel", system.release, system.sysname);
    snprintf(text, sizeof text, "%u", held->landlock_abi);
    print_value(output, "landlock-abi", text, held->landlock_abi ? NULL : "there is no Landlock");
}

static void print_sandbox(struct output *output, const struct doppel_confinement *held)
{
    print_part(output, "no-new-privileges", held->no_new_privileges,
               "no program has more rights than the worker");
    print_part(output, "files", held->files, "Landlock: nothing is opened, made or run by name");
    print_part(output, "network", held->network, "Landlock, from ABI 4: no TCP");
    print_part(output, "signals", held->scopes,
               "Landlock, from ABI 6: no signals to others, no abstract sockets");
    print_part(output, "system-calls", held->calls,
               "seccomp: those that decoding needs; others end the worker");
}

static void print_limits(struct output *output, const struct settings *settings)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)settings->max_memory);
    print_value(output, "memory", text, "bytes of a worker, see --max-memory; 0: no limit");
    print_value(output, "core", "0", "bytes of a core file");
}

/* Lines of name, blank and version. */
static void print_libraries(struct output *output, char *lines)
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *version = strchr(line, ' ');
        if (version)
            *version++ = '\0';
        print_value(output, line, version, NULL);
    }
}

int cmd_doctor(const struct settings *settings, struct report *report)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_confinement held;
    struct doppel_error error;
    options.max_memory = settings->max_memory;
    options.sandbox = settings->sandbox;
    if (doppel_worker_examine(&options, &held, &error))
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    print_system(output, &held);
    print_sandbox(output, &held);
    print_limits(output, settings);
    print_libraries(output, held.libraries);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}
