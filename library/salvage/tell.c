/* What a salvage says: of each table how many rows there are, where some are missing, and why. */
#include <inttypes.h>
#include <stdio.h>

#include "library/salvage/salvage.h"

enum { MAX_SENTENCE = 256 };

static enum doppel_status tell_visitor(struct salvage *salvage,
                                       const struct doppel_problem *problem,
                                       struct doppel_error *error)
{
    return salvage->visitor(salvage->context, problem)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}

static enum doppel_status report_problem(struct salvage *salvage, const char *table, uint64_t id,
                                         const char *detail, bool repaired,
                                         struct doppel_error *error)
{
    const struct doppel_problem problem = {
        .problem = table, .id = id, .detail = detail, .repaired = repaired};
    return tell_visitor(salvage, &problem, error);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Of which rows a gap is. */
static void name_gap(const struct rescue *rescue, const struct gap *gap, char *out, size_t size)
{
    int64_t first = gap->after == INT64_MIN ? INT64_MIN : gap->after + 1;
    if (rescue->table->keyed)
        snprintf(out, size, "of this table");
    else if (first == INT64_MIN && gap->last == INT64_MAX)
        snprintf(out, size, "of all rows");
    else if (first == INT64_MIN)
        snprintf(out, size, "of the rows up to %" PRId64, gap->last);
    else if (gap->last == INT64_MAX)
        snprintf(out, size, "of the rows from %" PRId64 " on", first);
    else if (first == gap->last)
        snprintf(out, size, "of the row %" PRId64, first);
    else
        snprintf(out, size, "of the rows from %" PRId64 " to %" PRId64, first, gap->last);
}

static enum doppel_status tell_gap(struct salvage *salvage, const struct rescue *rescue,
                                   const struct gap *gap, struct doppel_error *error)
{
    char detail[MAX_SENTENCE], of[96];
    name_gap(rescue, gap, of, sizeof of);
    if (gap->found)
        snprintf(detail, sizeof detail, "a page %s is damaged; without it %" PRIu64 " row%s found",
                 of, gap->found, gap->found == 1 ? " was" : "s were");
    else
        snprintf(detail, sizeof detail, "a page %s is damaged, and what was on it is lost", of);
    return report_problem(
        salvage, rescue->table->name,
        !rescue->table->keyed && gap->after >= 0 && !gap->found ? (uint64_t)gap->after + 1 : 0,
        detail, gap->found > 0, error);
}

static enum doppel_status tell_losses(struct salvage *salvage, const struct rescue *rescue,
                                      struct doppel_error *error)
{
    char detail[MAX_SENTENCE];
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < rescue->gaps.count && !status; i++)
        status = tell_gap(salvage, rescue, &rescue->gaps.items[i], error);
    if (!status && rescue->lost) {
        snprintf(detail, sizeof detail, "%" PRIu64 " row%s cannot be read, and %s lost",
                 rescue->lost, plural(rescue->lost), rescue->lost == 1 ? "is" : "are");
        status = report_problem(salvage, rescue->table->name, 0, detail, false, error);
    }
    if (status || !rescue->aside)
        return status;
    snprintf(detail, sizeof detail,
             "%" PRIu64 " row%s, of which it is not sure that %s, quarantined", rescue->aside,
             rescue->aside == 1 ? " was" : "s were",
             rescue->aside == 1 ? "it is as it was written" : "they are as they were written");
    return report_problem(salvage, rescue->table->name, 0, detail, true, error);
}

static enum doppel_status tell_saved(struct salvage *salvage, const struct rescue *rescue,
                                     struct doppel_error *error)
{
    char detail[MAX_SENTENCE];
    snprintf(detail, sizeof detail, "%" PRIu64 " row%s in the new catalogue", rescue->rows,
             rescue->rows == 1 ? " is" : "s are");
    const struct doppel_problem news = {
        .problem = rescue->table->name, .detail = detail, .repaired = true, .is_news = true};
    return tell_visitor(salvage, &news, error);
}

static enum doppel_status tell_schema(struct salvage *salvage, const struct rescue *schema,
                                      struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (schema->gaps.count || schema->lost)
        status = report_problem(
            salvage, "catalogue", 0,
            "the list of its tables is damaged; what it does not say is told by the rows", true,
            error);
    bool strays = false;
    for (size_t i = RESCUE_TABLES; i < salvage->count; i++)
        strays |= salvage->rescues[i].strays > 0;
    if (!status && strays && salvage->free_unknown)
        status = report_problem(
            salvage, "catalogue", 0,
            "which pages were free is not known: rows that were removed may be back", false, error);
    return status;
}

enum doppel_status salvage_tell(struct salvage *salvage, struct doppel_error *error)
{
    enum doppel_status status = tell_schema(salvage, &salvage->rescues[RESCUE_SCHEMA], error);
    for (size_t i = RESCUE_TABLES; i < salvage->count && !status; i++) {
        const struct rescue *rescue = &salvage->rescues[i];
        status = tell_losses(salvage, rescue, error);
        if (!status && (rescue->rows || rescue->gaps.count))
            status = tell_saved(salvage, rescue, error);
    }
    return status;
}
