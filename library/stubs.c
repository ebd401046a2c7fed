/* Declared, and not built yet. */
#include <doppel/library.h>

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
