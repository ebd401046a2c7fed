/* A library in a cluster: its options, and what it does not go with. */
#include "tools/args/cluster_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/shards.h>

#include "tools/args/paths.h"
#include "tools/args/service_options.h"

/* What means something there, by verbs. */
static const struct {
    uint64_t verbs;
    const char *options; /* with blanks around each */
} clustered_options[] = {
    {VERBS_CLUSTERED,
     " library library-key library-ca format json null color quiet verbose progress no-progress "
     "help all version "},
    {VERB_ADD | VERB_FIND | VERB_CHECK | VERB_INGEST,
     " kind scheme exclude hidden min-size ext newer-than older-than one-file-system follow "
     "files-from max-pixels max-bytes max-memory sandbox timeout jobs cache no-cache retry "},
    {VERB_FIND | VERB_CHECK | VERB_INGEST,
     " max-distance min-similarity views orientations no-orientations check "},
    {VERB_FIND, " code strictness list label partial replicas "},
    {VERB_ADD | VERB_CHECK | VERB_INGEST, " list label external-id source meta "},
    {VERB_ADD | VERB_INGEST | VERB_REMOVE, " durable "},
    {VERB_LIST, " kind list label replicas "},
    {VERB_SHOW | VERB_STATS, " replicas "},
    {VERB_REMOVE, " dry-run "},
    {VERB_SERVE,
     " listen keys insecure tls-cert tls-key allow-paths max-body durable partial replicas scheme "
     "max-distance min-similarity views orientations no-orientations max-pixels max-bytes "
     "max-memory sandbox timeout jobs "},
};

static bool is_for_cluster(const struct verb *verb, const char *option)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", option);
    for (size_t i = 0; i < sizeof clustered_options / sizeof *clustered_options; i++)
        if (clustered_options[i].verbs & verb->bit && strstr(clustered_options[i].options, word))
            return true;
    return false;
}

/* The first option on the command line that means nothing there; NULL: none. */
static const char *foreign_option(const struct settings *settings)
{
    for (size_t i = 0; i < option_count(); i++)
        if (settings->given[i / 64] >> i % 64 & 1 &&
            !is_for_cluster(settings->verb, option_at(i)->name))
            return option_at(i)->name;
    return NULL;
}

/* What is read, and when it matches. */
static enum doppel_status check_clustered_kinds(const struct settings *settings,
                                                struct doppel_error *error)
{
    const bool reads = settings->verb->bit & (VERB_ADD | VERB_FIND | VERB_CHECK | VERB_INGEST);
    const bool by_scheme = settings->scheme_given;
    const enum doppel_kind kind = by_scheme ? settings->scheme->kind : settings->kind;
    if (reads && kind && kind != DOPPEL_KIND_IMAGE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a library in a cluster holds images, which '--%s %s' leaves out",
                           by_scheme ? "scheme" : "kind",
                           by_scheme ? settings->scheme->name : doppel_kind_name(kind));
    if (settings->check == CHECK_PIXELS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a library in a cluster has no pixels to check: leave out "
                           "'--check pixels'");
    return DOPPEL_OK;
}

/* A library in a cluster where one in a folder is needed: what `open_library` does not refuse. */
static enum doppel_status check_places(const struct settings *settings, const char *library,
                                       struct doppel_error *error)
{
    const uint64_t verb = settings->verb->bit;
    const bool learns = verb == VERB_MODEL_WHITEN && !settings->operands.count;
    const bool is_needed = settings->library_given || learns;
    const char *other = verb == VERB_MERGE ? settings->operands.items[0] : settings->against;
    enum doppel_status status = refuse_cluster(settings, other, error);
    if (!status && is_needed && !(verb & (VERBS_CLUSTERED | VERB_CONFIG)))
        status = refuse_cluster(settings, library, error);
    return status;
}

enum doppel_status cluster_options_check(struct settings *settings, struct doppel_error *error)
{
    static const char *const own[] = {"library-key", "library-ca", "partial", "replicas", NULL};
    char *library = library_directory(settings);
    enum doppel_status status = check_places(settings, library, error);
    settings->clustered = settings->verb->bit & VERBS_CLUSTERED && !settings->server && library &&
                          doppel_is_shards_address(library);
    free(library);
    if (status)
        return status;
    const char *option = settings->clustered ? foreign_option(settings) : NULL;
    if (!settings->clustered && option_given(settings, own))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' goes with a library in a cluster: '-L redis://HOST'",
                           option_given(settings, own));
    if (!settings->clustered)
        return DOPPEL_OK;
    if (option)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' is for a library in a folder: one in a cluster (redis://) does "
                           "not have it",
                           option);
    status = check_clustered_kinds(settings, error);
    return status ? status
                  : service_read_key(settings->library_key, "DOPPEL_LIBRARY_KEY",
                                     &settings->library_secret, error);
}

enum doppel_status refuse_cluster(const struct settings *settings, const char *library,
                                  struct doppel_error *error)
{
    if (!library || !doppel_is_shards_address(library))
        return DOPPEL_OK;
    return doppel_fail(
        error, DOPPEL_E_UNSUPPORTED,
        "'%s' needs a library in a folder: one in a cluster (redis://) has add, "
        "find, check, ingest, list, show, remove, stats and serve; name a folder with "
        "--library DIR",
        settings->verb->name);
}
