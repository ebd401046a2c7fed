/* libpq, loaded when a sink is opened: with Kerberos, LDAP and TLS it is some twenty shared
 * objects, which would slow every other start of doppel. */
#ifndef DOPPEL_STREAM_POSTGRES_LIBPQ_H
#define DOPPEL_STREAM_POSTGRES_LIBPQ_H

#include <libpq-fe.h>

#include <doppel/core.h>

/* The functions that are used, without the prefix "PQ". */
#define LIBPQ_FUNCTIONS(X)                                                                         \
    X(conninfoParse)                                                                               \
    X(conninfoFree)                                                                                \
    X(connectStartParams)                                                                          \
    X(connectPoll)                                                                                 \
    X(pingParams)                                                                                  \
    X(status)                                                                                      \
    X(socket)                                                                                      \
    X(errorMessage)                                                                                \
    X(finish)                                                                                      \
    X(setNoticeReceiver)                                                                           \
    X(setnonblocking)                                                                              \
    X(sendQuery)                                                                                   \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(ntuples)                                                                                     \
    X(getvalue)                                                                                    \
    X(getisnull)                                                                                   \
    X(clear)                                                                                       \
    X(putCopyData)                                                                                 \
    X(putCopyEnd)                                                                                  \
    X(escapeLiteral)                                                                               \
    X(freemem)

struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(&PQ##name) name;
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

/* It stays loaded. Thread-safe. DOPPEL_E_UNSUPPORTED: it is not there */
enum doppel_status libpq_load(const struct libpq **out, struct doppel_error *error);

#endif
