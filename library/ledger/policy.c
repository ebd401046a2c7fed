/* A library's own policy of which member of a group is kept. */
#include "library/items/rows.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

#define POLICY_COLUMNS "one, keep"

enum { MAX_POLICY_BYTES = 128 };

enum doppel_status doppel_library_policy(struct doppel_library *library,
                                         struct doppel_keep_policy *out, struct doppel_error *error)
{
    sqlite3_stmt *row = NULL;
    struct doppel_keep_policy policy = doppel_keep_policy_default();
    enum doppel_status status;
    TRY(rows_first(library, "SELECT keep, " IS_WHOLE(POLICY_COLUMNS) " FROM policy", NO_VALUES,
                   &row, error));
    if (row) {
        const char *keep = (const char *)sqlite3_column_text(row, 0);
        if (sqlite3_column_int(row, 1) != 1 || !keep ||
            doppel_keep_policy_parse(keep, &policy, NULL))
            TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                            "%s: its policy of what is kept is damaged; set it again",
                            library->directory));
    }
    *out = policy;
done:
    sqlite3_reset(row);
    return status;
}

static void print_policy(const struct doppel_keep_policy *policy, char out[MAX_POLICY_BYTES])
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < policy->count && at < MAX_POLICY_BYTES; i++)
        at += (size_t)snprintf(out + at, MAX_POLICY_BYTES - at, "%s%s", i ? "," : "",
                               doppel_keep_name(policy->criteria[i]));
}

static enum doppel_status put_policy(struct doppel_library *library, const char *keep,
                                     struct doppel_error *error)
{
    char sentence[MAX_POLICY_BYTES + 32];
    snprintf(sentence, sizeof sentence, "what is kept: %s", keep);
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .reason = sentence};
    enum doppel_status status = rows_run(library,
                                         "INSERT OR REPLACE INTO policy(" POLICY_COLUMNS
                                         ", checksum) VALUES(1, ?1, " CHECKSUM_OF("1, ?1") ")",
                                         VALUES(value_text(keep)), error);
    return status ? status : log_append(library, &entry, error);
}

enum doppel_status doppel_library_set_policy(struct doppel_library *library,
                                             const struct doppel_keep_policy *policy,
                                             struct doppel_error *error)
{
    char keep[MAX_POLICY_BYTES];
    struct doppel_keep_policy checked;
    print_policy(policy, keep);
    enum doppel_status status;
    TRY(doppel_keep_policy_parse(keep, &checked, error));
    TRY(library_begin(library, error));
    TRY(library_end(library, put_policy(library, keep, error)));
done:
    return status;
}
