/* What is carried, taken into a library: new ids, whom follows whom kept, nothing twice. */
#ifndef DOPPEL_EXCHANGE_IMPORTER_H
#define DOPPEL_EXCHANGE_IMPORTER_H

#include "exchange/model.h"

struct importer;

/* @param run,library,metadata borrowed for its life: the metadata is said of all items; may be
 * NULL.
 * @param out given (importer_free) */
enum doppel_status importer_new(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_metadata *metadata, struct importer **out,
                                struct doppel_error *error);

/* What comes is all of the list of the metadata, and nothing is committed: a transaction is open
 * from here on. The sync is borrowed from the importer. */
enum doppel_status importer_begin_sync(struct importer *importer, struct doppel_list_sync **out,
                                       struct doppel_error *error);
void importer_free(struct importer *importer);

/* Call `on_item` of the options, which are borrowed for its life. */
void importer_set_on_item(struct importer *importer, const struct doppel_import_options *options);

/* Where it is to be given. Functions return DOPPEL_E_ARGUMENT for what cannot be taken in: the
 * others still can. */
const struct exchange_sink *importer_sink(struct importer *importer);

struct doppel_import_counts importer_counts(const struct importer *importer);

/* Write what waits, and let items follow whom they followed. */
enum doppel_status importer_settle(struct importer *importer, struct doppel_error *error);

/* Settle and commit. Also after an interruption: what was taken in stays. */
enum doppel_status importer_finish(struct importer *importer, struct doppel_error *error);

/* Say what came of it.
 * @param name of what it came from, where there are several; NULL: there is one */
void importer_notice_counts(const struct importer *importer, const char *name);

#endif
