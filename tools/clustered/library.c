/* A library in a cluster: opened as the settings say. */
#include "tools/clustered/library.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/files/absolute_path.h"
#include "tools/args/metadata_options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"

enum doppel_status clustered_open(const struct settings *settings, struct report *report,
                                  struct doppel_shards **out, struct doppel_error *error)
{
    char *address = library_directory(settings);
    const struct doppel_shards_options options = {.address = address,
                                                  .password = settings->library_secret,
                                                  .authority = settings->library_ca,
                                                  .durable = settings->durable,
                                                  .replicas = settings->replicas,
                                                  .refuse_partial =
                                                      settings->partial == PARTIAL_REFUSE};
    const enum doppel_status status = doppel_shards_open(report->run, &options, out, error);
    free(address);
    return status;
}

int clustered_fatal(const struct settings *settings, struct report *report,
                    const struct doppel_error *error)
{
    /* Where it is the address that is refused, it may hold a password. */
    const bool is_safe = error->status != DOPPEL_E_ARGUMENT;
    char *address = is_safe ? library_directory(settings) : NULL;
    report_fatal(report, "%s%s%s", address ? address : "", address ? ": " : "", error->message);
    free(address);
    return EXIT_WRONG_USE;
}

struct doppel_shards_item clustered_item(const struct settings *settings,
                                         const struct intake_file *file)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct doppel_shards_item){
        .item = {.path = must_have(absolute_path(file->path)),
                 .stamp = file->stamp,
                 .added_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
                 .record = file->record},
        .about = about_of(settings)};
}

/* Whether it has one of some names. */
static bool has_one_of(char *const *own, size_t own_count, const struct strings *names)
{
    for (size_t i = 0; i < own_count; i++)
        for (size_t j = 0; j < names->count; j++)
            if (strcmp(own[i], names->items[j]) == 0)
                return true;
    return !names->count;
}

bool clustered_is_wanted(const struct settings *settings, const struct doppel_metadata *about)
{
    return has_one_of(about->lists, about->list_count, &settings->lists) &&
           has_one_of(about->labels, about->label_count, &settings->labels);
}
