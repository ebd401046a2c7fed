/* Entries of the log as rows of the table `decisions`. */
#ifndef DOPPEL_STREAM_POSTGRES_SINK_ROWS_H
#define DOPPEL_STREAM_POSTGRES_SINK_ROWS_H

#include <doppel/json_writer.h>
#include <doppel/library.h>

/* Creates the table, which must not exist, and its indexes. Columns are called as in the library's
 * views `decisions` and `items` (library/views.h). */
#define SINK_TABLE                                                                                 \
    "CREATE TABLE decisions("                                                                      \
    "library text NOT NULL, entry bigint NOT NULL, time timestamptz NOT NULL,"                     \
    " action text NOT NULL, item bigint, name text, source text, decision text,"                   \
    " of_item bigint, canonical bigint, former_item bigint, reason text,"                          \
    " similarity double precision, record json NOT NULL, PRIMARY KEY (library, entry));"           \
    "CREATE INDEX decisions_item ON decisions(library, item);"                                     \
    "CREATE INDEX decisions_canonical ON decisions(library, canonical);"

#define SINK_COLUMNS                                                                               \
    "library, entry, time, action, item, name, source, decision, of_item, canonical, former_item," \
    " reason, similarity, record"

/* Append an entry as a line of COPY's text format. @param library its name in the table
 * @param rows a buffer of bytes; its `failed` is set without memory */
void sink_row(struct doppel_json *rows, const char *library, const struct doppel_log_entry *entry);

#endif
