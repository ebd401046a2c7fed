/* The handlers of routes, and what they share. */
#ifndef DOPPEL_SERVE_ANSWERS_ANSWERS_H
#define DOPPEL_SERVE_ANSWERS_ANSWERS_H

#include "serve/inputs.h"
#include "serve/readers.h"
#include "serve/routes.h"
#include "serve/service.h"

/* POST, of inputs: {"results":[…]}, in their order */
enum handled answer_hash(struct exchange *exchange);
enum handled answer_compare(struct exchange *exchange);
enum handled answer_find(struct exchange *exchange);
enum handled answer_check(struct exchange *exchange);
enum handled answer_ingest(struct exchange *exchange);

/* Whether the lines of a request are records of text, and their decisions, a line each. At a desk.
 */
bool are_records(struct exchange *exchange);
void answer_records(struct exchange *exchange, const struct wanted_meaning *wanted, bool dry_run);

/* Inputs that are ingested afterwards */
enum handled answer_add_job(struct exchange *exchange);
enum handled answer_jobs(struct exchange *exchange);
enum handled answer_job(struct exchange *exchange);
enum handled answer_job_events(struct exchange *exchange);
enum handled answer_cancel_job(struct exchange *exchange);

/* GET, of the library */
enum handled answer_items(struct exchange *exchange);
enum handled answer_item(struct exchange *exchange);
enum handled answer_tag_item(struct exchange *exchange);    /* PATCH */
enum handled answer_remove_item(struct exchange *exchange); /* DELETE */
enum handled answer_item_preview(struct exchange *exchange);
enum handled answer_groups(struct exchange *exchange);
enum handled answer_lists(struct exchange *exchange);
enum handled answer_log(struct exchange *exchange);
enum handled answer_marks(struct exchange *exchange);
enum handled answer_mark(struct exchange *exchange); /* POST */
enum handled answer_schemes(struct exchange *exchange);
enum handled answer_stats(struct exchange *exchange);

/* GET, of the service */
enum handled answer_health(struct exchange *exchange);
enum handled answer_ready(struct exchange *exchange);
enum handled answer_metrics(struct exchange *exchange);
enum handled answer_openapi(struct exchange *exchange);
enum handled answer_page_html(struct exchange *exchange);
enum handled answer_page_style(struct exchange *exchange);
enum handled answer_page_script(struct exchange *exchange);

/* The same of a library in a cluster. */
enum handled answer_cluster_find(struct exchange *exchange);
enum handled answer_cluster_check(struct exchange *exchange);
enum handled answer_cluster_ingest(struct exchange *exchange);
enum handled answer_cluster_item(struct exchange *exchange);
enum handled answer_cluster_remove_item(struct exchange *exchange);
enum handled answer_cluster_stats(struct exchange *exchange);
enum handled answer_cluster_ready(struct exchange *exchange);

/* ---- what they share ---- */

/* Have a reply filled from the library, at a desk. @param put sets the status, unless it fails */
typedef enum doppel_status put_from_reader(struct exchange *exchange, struct library_reader *reader,
                                           struct doppel_error *error);
enum handled answer_by_reader(struct exchange *exchange, put_from_reader *put);

/* The same by the thread of the connection: what takes no time need not wait for what does. */
enum handled answer_by_reader_at_once(struct exchange *exchange, put_from_reader *put);

/* A number of the query, as `limit`. @return false: it is none within 0 and `most`, and the reply
 * says so. @param out stays where it is not given */
bool read_number(struct exchange *exchange, const char *name, double most, double *out);

/* Begin {"results":[, end one of them, and all. Where inputs came as lines (NDJSON) each result is
 * a line. */
void begin_results(struct exchange *exchange);
void end_result(struct exchange *exchange);
void end_results(struct exchange *exchange);

/* What an input is called, as "query" or the like. */
void put_name(struct doppel_json *json, const char *key, const struct request_input *input);

/* An input that failed: where it is the one of its request, the request; else an "error" in the
 * object that was begun last. */
void put_input_failure(struct exchange *exchange, const struct inputs *inputs,
                       const struct doppel_error *error);

#endif
