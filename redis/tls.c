/* TLS of connections to Redis. */
#include "redis/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/try.h"
#include "redis/gnutls.h"
#include "redis/transport.h"

enum { ALERT_CERTIFICATE_REQUIRED = 116 };

struct redis_tls {
    const struct libgnutls *gnutls;
    gnutls_certificate_credentials_t credentials;
    const char *option;
};

/* ---- whom to trust ---- */

static enum doppel_status trust_file(struct redis_tls *tls, const char *path,
                                     struct doppel_error *error)
{
    if (access(path, R_OK))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: %s", path, strerror(errno));
    const int count =
        tls->gnutls->certificate_set_x509_trust_file(tls->credentials, path, GNUTLS_X509_FMT_PEM);
    return count > 0 ? DOPPEL_OK
                     : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                   "%s: it holds no certificate in PEM (%s)", path, tls->option);
}

static enum doppel_status trust_as_system(struct redis_tls *tls, struct doppel_error *error)
{
    return tls->gnutls->certificate_set_x509_system_trust(tls->credentials) > 0
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "this system trusts nobody who signs certificates: install "
                             "ca-certificates, or name a file of some (%s)",
                             tls->option);
}

enum doppel_status redis_tls_new(const char *ca_file, const char *option, struct redis_tls **out,
                                 struct doppel_error *error)
{
    struct redis_tls *tls = calloc(1, sizeof *tls);
    enum doppel_status status;
    if (!tls)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for TLS");
    tls->option = option;
    TRY(libgnutls_load(&tls->gnutls, error));
    if (tls->gnutls->certificate_allocate_credentials(&tls->credentials))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for TLS"));
    TRY(ca_file ? trust_file(tls, ca_file, error) : trust_as_system(tls, error));
    *out = tls;
    return DOPPEL_OK;
done:
    redis_tls_free(tls);
    return status;
}

void redis_tls_free(struct redis_tls *tls)
{
    if (tls && tls->credentials)
        tls->gnutls->certificate_free_credentials(tls->credentials);
    free(tls);
}

/* ---- sentences ---- */

static enum doppel_status fail_certificate(const struct redis_connection *connection,
                                           const struct redis_address *address, unsigned why,
                                           struct doppel_error *error)
{
    static const struct {
        unsigned why;
        const char *sentence;
    } known[] = {
        {GNUTLS_CERT_SIGNER_NOT_FOUND, "is signed by nobody who is trusted here"},
        {GNUTLS_CERT_SIGNER_NOT_CA, "is signed by nobody who is trusted here"},
        {GNUTLS_CERT_EXPIRED, "has expired"},
        {GNUTLS_CERT_NOT_ACTIVATED, "is not valid yet"},
        {GNUTLS_CERT_UNEXPECTED_OWNER, "is for another host"},
    };
    const char *sentence = "is not to be trusted";
    for (size_t i = sizeof known / sizeof *known; i-- > 0;)
        if (why & known[i].why)
            sentence = known[i].sentence;
    const bool unknown = (why & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNER_NOT_CA)) != 0;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis at %s:%s: its certificate %s%s%s%s",
                       address->host, address->port, sentence, unknown ? " (" : "",
                       unknown ? connection->tls->option : "", unknown ? ")" : "");
}

static enum doppel_status fail_alert(const struct redis_connection *connection,
                                     struct doppel_error *error)
{
    const struct libgnutls *gnutls = connection->tls->gnutls;
    const gnutls_alert_description_t alert = gnutls->alert_get(connection->session);
    const char *name = gnutls->alert_get_name(alert);
    if ((int)alert == ALERT_CERTIFICATE_REQUIRED)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "Redis: it wants a certificate of its clients, and doppel has none: set "
                           "'tls-auth-clients no' there, and let clients have a password");
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: it refuses TLS: %s",
                       name ? name : "it does not say why");
}

static enum doppel_status fail_handshake(const struct redis_connection *connection,
                                         const struct redis_address *address, int result,
                                         struct doppel_error *error)
{
    const struct libgnutls *gnutls = connection->tls->gnutls;
    const char *peer = transport_peer(connection);
    if (result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
        return fail_certificate(connection, address,
                                gnutls->session_get_verify_cert_status(connection->session), error);
    if (result == GNUTLS_E_FATAL_ALERT_RECEIVED)
        return fail_alert(connection, error);
    if (connection->first_size && peer)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis at %s:%s: %s", address->host,
                           address->port, peer);
    if (result == GNUTLS_E_MEMORY_ERROR)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for TLS");
    const bool lost = result == GNUTLS_E_PREMATURE_TERMINATION || result == GNUTLS_E_PULL_ERROR ||
                      result == GNUTLS_E_PUSH_ERROR;
    return doppel_fail(error, lost ? DOPPEL_E_BUSY : DOPPEL_E_ARGUMENT,
                       "Redis at %s:%s: TLS cannot begin: %s", address->host, address->port,
                       lost ? "the connection is closed" : gnutls->strerror(result));
}

/* ---- a session ---- */

static bool is_not_now(ssize_t result)
{
    return result == GNUTLS_E_AGAIN || result == GNUTLS_E_INTERRUPTED ||
           result == GNUTLS_E_WARNING_ALERT_RECEIVED;
}

static ssize_t push_bytes(gnutls_transport_ptr_t pointer, const void *bytes, size_t size)
{
    const struct redis_connection *connection = pointer;
    return send(connection->fd, bytes, size, MSG_NOSIGNAL);
}

static ssize_t pull_bytes(gnutls_transport_ptr_t pointer, void *bytes, size_t size)
{
    return transport_pull(pointer, bytes, size);
}

static bool is_ip_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static enum doppel_status make_session(struct redis_connection *connection, const char *host,
                                       struct doppel_error *error)
{
    const struct libgnutls *gnutls = connection->tls->gnutls;
    if (gnutls->init(&connection->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for TLS");
    gnutls_session_t session = connection->session;
    if (gnutls->set_default_priority_append(session, "-VERS-TLS1.0:-VERS-TLS1.1", NULL, 0) ||
        gnutls->credentials_set(session, GNUTLS_CRD_CERTIFICATE, connection->tls->credentials) ||
        (!is_ip_address(host) &&
         gnutls->server_name_set(session, GNUTLS_NAME_DNS, host, strlen(host))))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis at %s: TLS cannot begin with that name",
                           host);
    gnutls->session_set_verify_cert(session, host, 0);
    gnutls->transport_set_ptr(session, connection);
    gnutls->transport_set_push_function(session, push_bytes);
    gnutls->transport_set_pull_function(session, pull_bytes);
    return DOPPEL_OK;
}

enum doppel_status tls_begin(struct redis_connection *connection,
                             const struct redis_address *address, int64_t end_ms,
                             struct doppel_error *error)
{
    if (!connection->tls)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "nobody is trusted who signs certificates");
    const struct libgnutls *gnutls = connection->tls->gnutls;
    enum doppel_status status = make_session(connection, address->host, error);
    while (!status) {
        const int result = gnutls->handshake(connection->session);
        if (result == GNUTLS_E_SUCCESS)
            return DOPPEL_OK;
        const short events = gnutls->record_get_direction(connection->session) ? POLLOUT : POLLIN;
        if (!is_not_now(result))
            status = fail_handshake(connection, address, result, error);
        else if (!transport_wait(connection, events, end_ms))
            status = doppel_fail(error, DOPPEL_E_BUSY, "Redis at %s:%s: it does not begin TLS",
                                 address->host, address->port);
    }
    return status;
}

void tls_end(struct redis_connection *connection)
{
    if (!connection->session)
        return;
    connection->tls->gnutls->bye(connection->session, GNUTLS_SHUT_WR);
    connection->tls->gnutls->deinit(connection->session);
    connection->session = NULL;
}

/* ---- bytes ---- */

static enum doppel_status fail_record(const struct redis_connection *connection, ssize_t result,
                                      struct doppel_error *error)
{
    const struct libgnutls *gnutls = connection->tls->gnutls;
    if (result == 0 || result == GNUTLS_E_PREMATURE_TERMINATION)
        return transport_fail_lost("the connection is closed", error);
    if (result == GNUTLS_E_FATAL_ALERT_RECEIVED &&
        (int)gnutls->alert_get(connection->session) == ALERT_CERTIFICATE_REQUIRED)
        return fail_alert(connection, error);
    return transport_fail_lost(gnutls->strerror((int)result), error);
}

enum doppel_status tls_send(struct redis_connection *connection, const char *bytes, size_t size,
                            size_t *out_sent, struct doppel_error *error)
{
    const ssize_t result = connection->tls->gnutls->record_send(connection->session, bytes, size);
    *out_sent = result > 0 ? (size_t)result : 0;
    return result >= 0 || is_not_now(result) ? DOPPEL_OK : fail_record(connection, result, error);
}

enum doppel_status tls_receive(struct redis_connection *connection, char *bytes, size_t size,
                               size_t *out_size, struct doppel_error *error)
{
    const ssize_t result = connection->tls->gnutls->record_recv(connection->session, bytes, size);
    *out_size = result > 0 ? (size_t)result : 0;
    return result > 0 || is_not_now(result) ? DOPPEL_OK : fail_record(connection, result, error);
}
