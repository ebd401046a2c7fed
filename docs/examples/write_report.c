/* Find the duplicates in a folder, and write them into one HTML file with thumbnails.
 * Needs doppel:
 *
 *     cc write_report.c $(pkg-config --cflags --libs doppel) -o write_report
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./write_report FOLDER duplicates.html
 */
#include <stdio.h>

#include <doppel/report.h>

static void print_failure(void *context, const char *path, const struct doppel_error *reason)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", path, reason->message);
}

int main(int argc, char **argv)
{
    struct doppel_run_options run_options = doppel_run_options_default();
    struct doppel_report_options written = {0};
    struct doppel_scan_paths paths = {0};
    struct doppel_run *run = NULL;
    struct doppel_report *report = NULL;
    struct doppel_error error = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: write_report FOLDER FILE\n");
        return 2;
    }
    const char *const folders[] = {argv[1]};
    paths.paths = written.sources = folders;
    paths.count = written.source_count = 1;
    written.output = argv[2];
    run_options.on_failed = print_failure;
    enum doppel_status status = doppel_run_new(&run_options, &run, &error);
    if (status == DOPPEL_OK)
        status = doppel_report_new(run, &written, &report, &error);
    if (status == DOPPEL_OK)
        status = doppel_scan(run, &paths, NULL, doppel_report_take, report, NULL, &error);
    if (status == DOPPEL_OK)
        status = doppel_report_write(report, &error);
    if (status == DOPPEL_OK)
        printf("%zu groups in %s\n", doppel_report_count(report), argv[2]);
    else
        fprintf(stderr, "%s\n", error.message);
    doppel_report_free(report);
    doppel_run_free(run);
    return status == DOPPEL_OK ? 0 : 2;
}
