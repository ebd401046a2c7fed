/* Connections are accepted here and dealt out to libmicrohttpd's threads in turn: where each of
 * them accepts for itself, whichever wakes first takes all that wait, and one core serves them.
 */
#ifndef DOPPEL_SERVE_ACCEPTOR_H
#define DOPPEL_SERVE_ACCEPTOR_H

#include <microhttpd.h>

struct acceptor;

/* It accepts until it is stopped.
 * @param daemon one with MHD_USE_NO_LISTEN_SOCKET and MHD_USE_ITC
 * @param socket that listens; stays the caller's, and does not block from now on
 * @param most connections at a time: others wait to be accepted
 * @return given (acceptor_stop); NULL: no memory, or no thread */
struct acceptor *acceptor_start(struct MHD_Daemon *daemon, int socket, unsigned most);

/* @param acceptor NULL: nothing happens */
void acceptor_stop(struct acceptor *acceptor);

#endif
