/* Declared, and not built yet. */
#include <doppel/library.h>

enum doppel_status doppel_library_set_source(struct doppel_library *library, const char *pattern,
                                             int64_t authority, struct doppel_error *error)
{
    (void)library;
    (void)pattern;
    (void)authority;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_remove_source(struct doppel_library *library, const char *pattern,
                                                struct doppel_error *error)
{
    (void)library;
    (void)pattern;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_authority(struct doppel_library *library, const char *source,
                                            int64_t *out, struct doppel_error *error)
{
    (void)library;
    (void)source;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_source(struct doppel_library *library,
                                              doppel_source_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    (void)library;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_link(struct doppel_library *library, uint64_t item,
                                       uint64_t leader, struct doppel_error *error)
{
    (void)library;
    (void)item;
    (void)leader;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_leader(struct doppel_library *library, uint64_t id, uint64_t *out,
                                         struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_follower(struct doppel_library *library, uint64_t leader,
                                                uint64_t limit, doppel_id_visitor *visitor,
                                                void *context, struct doppel_error *error)
{
    (void)library;
    (void)leader;
    (void)limit;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_canonical(struct doppel_library *library, uint64_t leader,
                                            uint64_t *out, struct doppel_error *error)
{
    (void)library;
    (void)leader;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_set_canonical(struct doppel_library *library, uint64_t leader,
                                                uint64_t item, struct doppel_error *error)
{
    (void)library;
    (void)leader;
    (void)item;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_choose(struct doppel_library *library, uint64_t leader,
                                         uint64_t newcomer,
                                         const struct doppel_candidate *candidate,
                                         uint64_t *out_replaced, enum doppel_keep *out_by,
                                         struct doppel_error *error)
{
    (void)library;
    (void)leader;
    (void)newcomer;
    (void)candidate;
    (void)out_replaced;
    (void)out_by;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_candidate(struct doppel_library *library, uint64_t id,
                                            struct doppel_candidate *out, char **out_name,
                                            struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)out;
    (void)out_name;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

const char *doppel_log_action_name(enum doppel_log_action action)
{
    (void)action;
    return "";
}

enum doppel_status doppel_library_log(struct doppel_library *library,
                                      const struct doppel_log_entry *entry,
                                      struct doppel_error *error)
{
    (void)library;
    (void)entry;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_log(struct doppel_library *library,
                                           const struct doppel_log_query *query,
                                           doppel_log_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    (void)library;
    (void)query;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_mark(struct doppel_library *library,
                                       const struct doppel_digest *a, const struct doppel_digest *b,
                                       enum doppel_word word, const char *note,
                                       struct doppel_error *error)
{
    (void)library;
    (void)a;
    (void)b;
    (void)word;
    (void)note;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_word(struct doppel_library *library,
                                       const struct doppel_digest *a, const struct doppel_digest *b,
                                       enum doppel_word *out, struct doppel_error *error)
{
    (void)library;
    (void)a;
    (void)b;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_mark(struct doppel_library *library,
                                            const struct doppel_digest *of,
                                            doppel_mark_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    (void)library;
    (void)of;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

const char *doppel_list_state_name(enum doppel_list_state state)
{
    (void)state;
    return "";
}

enum doppel_status doppel_library_tell(struct doppel_library *library, uint64_t id,
                                       const struct doppel_about *about, struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)about;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_about(struct doppel_library *library, uint64_t id,
                                        struct doppel_about *out, struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

void doppel_about_free(struct doppel_about *about)
{
    (void)about;
}

enum doppel_status doppel_library_unlist(struct doppel_library *library, uint64_t id,
                                         const char *list, struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)list;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_unlabel(struct doppel_library *library, uint64_t id,
                                          const char *label, struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)label;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_set_list(struct doppel_library *library, const char *name,
                                           enum doppel_list_state state, struct doppel_error *error)
{
    (void)library;
    (void)name;
    (void)state;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_remove_list(struct doppel_library *library, const char *name,
                                              struct doppel_error *error)
{
    (void)library;
    (void)name;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_list(struct doppel_library *library,
                                            doppel_list_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    (void)library;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_state_of(struct doppel_library *library, uint64_t id,
                                           enum doppel_list_state *out, struct doppel_error *error)
{
    (void)library;
    (void)id;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

bool doppel_library_has_states(struct doppel_library *library)
{
    (void)library;
    return false;
}

size_t doppel_exact_bytes(enum doppel_exact algorithm)
{
    (void)algorithm;
    return 0;
}

enum doppel_status doppel_library_add_exact(struct doppel_library *library,
                                            enum doppel_exact algorithm, const uint8_t *digest,
                                            uint64_t *out_id, bool *out_added,
                                            struct doppel_error *error)
{
    (void)library;
    (void)algorithm;
    (void)digest;
    (void)out_id;
    (void)out_added;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_exact_kinds(struct doppel_library *library, unsigned *out,
                                              struct doppel_error *error)
{
    (void)library;
    (void)out;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_by_exact(struct doppel_library *library,
                                           enum doppel_exact algorithm, const uint8_t *digest,
                                           uint64_t *out_id, struct doppel_error *error)
{
    (void)library;
    (void)algorithm;
    (void)digest;
    (void)out_id;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_put_failure(struct doppel_library *library,
                                              const struct doppel_failure *failure,
                                              struct doppel_error *error)
{
    (void)library;
    (void)failure;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_failure(struct doppel_library *library, const char *path,
                                          const struct doppel_file_stamp *stamp, const char *limits,
                                          struct doppel_error *out)
{
    (void)library;
    (void)path;
    (void)stamp;
    (void)limits;
    (void)out;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_forget_failure(struct doppel_library *library, const char *path,
                                                 struct doppel_error *error)
{
    (void)library;
    (void)path;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_each_failure(struct doppel_library *library,
                                               doppel_failure_visitor *visitor, void *context,
                                               struct doppel_error *error)
{
    (void)library;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}

enum doppel_status doppel_library_where(struct doppel_library *library, const char *expression,
                                        uint32_t timeout_ms, doppel_id_visitor *visitor,
                                        void *context, struct doppel_error *error)
{
    (void)library;
    (void)expression;
    (void)timeout_ms;
    (void)visitor;
    (void)context;
    (void)error;
    return DOPPEL_E_UNSUPPORTED;
}
