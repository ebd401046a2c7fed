/* GnuTLS, loaded when a connection by TLS is wanted: no other start of doppel is to pay for it. */
#ifndef DOPPEL_REDIS_GNUTLS_H
#define DOPPEL_REDIS_GNUTLS_H

#include <gnutls/gnutls.h>

#include <doppel/core.h>

/* The functions that are used, without the prefix "gnutls_". */
#define GNUTLS_FUNCTIONS(X)                                                                        \
    X(certificate_allocate_credentials)                                                            \
    X(certificate_free_credentials)                                                                \
    X(certificate_set_x509_trust_file)                                                             \
    X(certificate_set_x509_system_trust)                                                           \
    X(init)                                                                                        \
    X(deinit)                                                                                      \
    X(set_default_priority_append)                                                                 \
    X(credentials_set)                                                                             \
    X(server_name_set)                                                                             \
    X(session_set_verify_cert)                                                                     \
    X(session_get_verify_cert_status)                                                              \
    X(transport_set_ptr)                                                                           \
    X(transport_set_push_function)                                                                 \
    X(transport_set_pull_function)                                                                 \
    X(handshake)                                                                                   \
    X(record_get_direction)                                                                        \
    X(record_send)                                                                                 \
    X(record_recv)                                                                                 \
    X(bye)                                                                                         \
    X(alert_get)                                                                                   \
    X(alert_get_name)                                                                              \
    X(strerror)

struct libgnutls {
#define GNUTLS_MEMBER(name) __typeof__(&gnutls_##name) name;
    GNUTLS_FUNCTIONS(GNUTLS_MEMBER)
#undef GNUTLS_MEMBER
};

/* It stays loaded. Thread-safe. DOPPEL_E_UNSUPPORTED: it is not there */
enum doppel_status libgnutls_load(const struct libgnutls **out, struct doppel_error *error);

#endif
