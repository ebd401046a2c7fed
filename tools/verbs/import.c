/* doppel import: items from an export, or from lists of fingerprints and digests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doppel/exchange.h>
#include <doppel/json_writer.h>

#include "core/files/write_all.h"
#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/output/messages.h"

static void say_sync(const struct settings *settings, const struct doppel_sync_counts *counts,
                     bool done, struct report *report)
{
    const char *list = settings->lists.items[0];
    struct doppel_json json = {0};
    report_notice(
        report,
        "list '%s': %llu added, %llu removed%s, %llu with another code, %llu with other tags, "
        "%llu unchanged%s",
        list, (unsigned long long)counts->added, (unsigned long long)counts->removed,
        counts->kept ? " (some stay in the library: they are on other lists, or were "
                       "added by hand)"
                     : "",
        (unsigned long long)counts->updated, (unsigned long long)counts->retagged,
        (unsigned long long)counts->unchanged,
        done                ? ""
        : settings->dry_run ? "; dry run, nothing is changed"
                            : "; nothing is changed");
    if (!settings->json)
        return;
    doppel_json_object_begin(&json, NULL);
    doppel_json_text(&json, "list", list);
    doppel_json_integer(&json, "added", counts->added);
    doppel_json_integer(&json, "removed", counts->removed);
    doppel_json_integer(&json, "removed_from_library", counts->removed - counts->kept);
    doppel_json_integer(&json, "changed_codes", counts->updated);
    doppel_json_integer(&json, "changed_tags", counts->retagged);
    doppel_json_integer(&json, "unchanged", counts->unchanged);
    doppel_json_integer(&json, "unreadable", counts->unreadable);
    doppel_json_integer(&json, "before", counts->before);
    doppel_json_integer(&json, "after", counts->after);
    doppel_json_boolean(&json, "done", done);
    doppel_json_object_end(&json);
    doppel_json_end_line(&json);
    (void)write_all(STDOUT_FILENO, json.bytes, json.size);
    doppel_json_free(&json);
}

static enum doppel_status sync_list(struct doppel_library *library, int fd,
                                    const struct doppel_import_options *import,
                                    const struct settings *settings, struct report *report,
                                    struct doppel_error *error)
{
    const struct doppel_sync_options options = {
        .import = *import, .dry_run = settings->dry_run, .force = settings->force};
    struct doppel_sync_counts counts = {0};
    enum doppel_status status = doppel_sync(report->run, library, fd, &options, &counts, error);
    if (!status || status == DOPPEL_E_LIMIT)
        say_sync(settings, &counts, !status && !settings->dry_run, report);
    if (status == DOPPEL_E_LIMIT) {
        char sentence[sizeof error->message];
        snprintf(sentence, sizeof sentence, "%s", error->message);
        doppel_fail(error, status, "%s; '--force' takes it all the same", sentence);
    }
    return status;
}

/* Where texts are found by their meaning, those that came are not. */
static void notice_texts_without_vectors(struct doppel_library *library, uint64_t texts,
                                         struct report *report)
{
    struct doppel_library_vectors_count known;
    if (texts && !doppel_library_count_vectors(library, &known, NULL) && known.texts)
        report_notice(report,
                      "semantic: %llu texts came without vectors: 'doppel ingest --semantic' of "
                      "them makes these",
                      (unsigned long long)texts);
}

static enum doppel_status import_file(struct doppel_library *library, const char *path,
                                      const struct settings *settings, struct report *report,
                                      struct doppel_error *error)
{
    const struct doppel_metadata metadata = imported_metadata_from(settings);
    const struct doppel_import_options options = {
        .format = (enum doppel_exchange_format)settings->import_format,
        .name = strcmp(path, "-") == 0 ? NULL : path,
        .name_in_summary = settings->operands.count > 1,
        .metadata = &metadata};
    struct doppel_import_counts counts = {0};
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) { /* the others come in */
        report_input(report, path, strerror(errno));
        return DOPPEL_OK;
    }
    enum doppel_status status =
        settings->sync ? sync_list(library, fd, &options, settings, report, error)
                       : doppel_import(report->run, library, fd, &options, &counts, error);
    close(fd);
    notice_texts_without_vectors(library, counts.texts, report);
    if (status && status != DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "%s: %s", options.name ? path : "standard input",
                    error->message);
    return status;
}

static enum doppel_status check_sync(const struct settings *settings, struct doppel_error *error)
{
    if (!settings->sync && (settings->dry_run || settings->force || settings->json))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' goes with '--sync'",
                           settings->dry_run ? "dry-run"
                           : settings->force ? "force"
                                             : "json");
    if (settings->sync && settings->lists.count != 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "say which list FILE is all of: '--sync FILE --list NAME'");
    if (settings->sync && settings->operands.count != 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--sync' takes one FILE, which is all of the "
                           "list; - is standard input");
    return DOPPEL_OK;
}

int cmd_import(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (check_sync(settings, &error))
        return report_fatal(report, "%s", error.message);
    if (about_check(settings, &error) ||
        open_library(settings, !settings->dry_run, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < settings->operands.count && !status; i++)
        status = import_file(library, settings->operands.items[i], settings, report, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
