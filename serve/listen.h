/* Where a service listens. */
#ifndef DOPPEL_SERVE_LISTEN_H
#define DOPPEL_SERVE_LISTEN_H

#include <stdbool.h>

#include <doppel/core.h>

struct listening_socket {
    int socket;
    bool local;        /* this machine alone can connect */
    char *unix_path;   /* of a socket that was made, and goes again; given; NULL: none */
    char address[160]; /* as a client writes it: "http://127.0.0.1:8040" */
};

/* @param where "ADDRESS:PORT", "[ADDRESS]:PORT", or "unix:PATH"; port 0: one that the system
 * chooses. Where systemd has opened a socket for this process (sd_listen_fds(3)), it is that one.
 * @param tls what clients write then
 * @param out given (stop_listening). DOPPEL_E_ARGUMENT, _BUSY, _IO */
enum doppel_status listen_at(const char *where, bool tls, struct listening_socket *out,
                             struct doppel_error *error);
void stop_listening(struct listening_socket *listening);

/* Tell systemd how it is ("READY=1", "STOPPING=1"), where it wants to know (sd_notify(3)). */
void notify_manager(const char *state);

#endif
