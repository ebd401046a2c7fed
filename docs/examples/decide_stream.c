/* Decide about each line that comes in: a file, where it names one, else a text. It is remembered,
 * and the decision printed as JSON. Needs doppel:
 *
 *     cc decide_stream.c $(pkg-config --cflags --libs doppel) -o decide_stream
 *     ls *.jpg | DOPPEL_WORKER=/usr/bin/doppel-worker ./decide_stream LIBRARY
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doppel/decide.h>

static int fail(const struct doppel_error *error)
{
    return fprintf(stderr, "%s\n", error->message), 2;
}

static enum doppel_status decide_line(struct doppel_decider *decider, const char *line,
                                      struct doppel_error *error)
{
    struct doppel_decide_input input = {NULL};
    struct doppel_decided decided;
    struct doppel_json json = {NULL};
    input.text = line;
    input.path = access(line, R_OK) ? NULL : line;
    input.text_size = strlen(line);
    enum doppel_status status = doppel_decider_push(decider, &input, error);
    if (!status)
        status = doppel_decider_pull(decider, &decided, error);
    if (status)
        return status;
    doppel_decision_to_json(&json, &decided);
    puts(json.bytes);
    doppel_json_free(&json);
    return DOPPEL_OK;
}

int main(int argc, char **argv)
{
    char line[65536];
    struct doppel_error error;
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_decider *decider;
    const struct doppel_library_options made = {true, false, false};
    const struct doppel_decide_options options = doppel_decide_options_default();
    enum doppel_status status = 0;
    if (argc != 2 || doppel_run_new(NULL, &run, &error) ||
        doppel_library_open(argv[1], &made, &library, &error) ||
        doppel_decider_new(run, library, &options, &decider, &error))
        return argc == 2 ? fail(&error) : 2;
    while (!status && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        status = decide_line(decider, line, &error);
    }
    doppel_decider_free(decider);
    doppel_library_close(library);
    doppel_run_free(run);
    return status ? fail(&error) : 0;
}
