/* Inputs of requests, decided about together: in one transaction those that wait together. */
#ifndef DOPPEL_SERVE_DECIDING_H
#define DOPPEL_SERVE_DECIDING_H

#include <doppel/decide.h>

#include "serve/meaning.h"

/* A request to decide about its inputs. */
struct decision_task {
    struct exchange *exchange;
    struct inputs inputs;
    struct doppel_record *records; /* of each input that is a file or a code */
    size_t pushed, kept, told;     /* inputs that the decider was given, whose decisions are in the
                                      library, and in the reply */
    uint64_t request;              /* it is to be done once (request_key.h); 0: it is not */
    double max_fp_rate;            /* of images, audio and videos; 0: the service's */
    const char *no_meaning; /* why new texts are not searched for by their meaning; NULL: they
                               are, or that is not wanted. Static storage */
    char **answers;         /* of each input what was answered before; NULL: nothing */
    struct decision_task *next;
};

/* Read the inputs, and what the files among them hold; else the reply is set. At a desk.
 * @return given (decision_task_free); NULL: the exchange is answered */
struct decision_task *decision_task_new(struct exchange *exchange);
void decision_task_free(struct decision_task *task);

/* What decides about inputs. */
struct deciding {
    struct doppel_decider *decider;
    struct doppel_library *library; /* of the decider */
    struct open_meaning *meaning;   /* texts are also searched for by it; NULL: they are not */
};

/* Decide about all inputs of tasks, one after the other, and fill the replies of their exchanges.
 * @return not DOPPEL_OK: the decider cannot go on; what has no whole reply then, has the error */
enum doppel_status decide_tasks(const struct deciding *deciding, struct decision_task *first,
                                struct doppel_error *error);

/* Give an input to a decider; unless it has an error. @param record what was read of it, where it
 * is a file or a code. DOPPEL_OK, also when the decider refuses it, which is its error then */
enum doppel_status push_request_input(struct doppel_decider *decider, struct request_input *input,
                                      struct doppel_record *record, struct doppel_error *error);

/* Read an input of tasks in flight again, by another scheme. As the `fingerprint` of struct
 * doppel_search_options. @param first the tasks; NULL: none */
enum doppel_status read_task_input_again(const struct decision_task *first,
                                         const struct doppel_record *query, const char *name,
                                         const struct doppel_scheme *scheme,
                                         struct doppel_record *out, struct doppel_error *error);

/* A decision as an object, in the words of who sent the input. @param decided NULL: it has an
 * error */
void put_decision(struct doppel_json *json, const struct request_input *input,
                  const struct doppel_decided *decided);

/* What was kept as new, before the upstream was asked, may not be by now, or may still wait.
 * @param answer as put_decision() made it; given, and replaced where it changed
 * @param out_unreadable whether it is that by now */
enum doppel_status bring_up_answer(char **answer, struct doppel_decider *decider, bool *out_changed,
                                   bool *out_unreadable, struct doppel_error *error);

/* Keep what is answered to the next input of these tasks, as of `on_keep` of a decider. */
enum doppel_status keep_answer_of_input(struct decision_task *first, struct doppel_library *library,
                                        const struct doppel_decided *decided,
                                        struct doppel_error *error);

/* How the service decides. @param dry_run nothing is remembered */
struct doppel_decide_options decide_options_of(const struct service *service, bool dry_run);

#endif
