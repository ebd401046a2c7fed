/* Connections are accepted here and dealt out to libmicrohttpd's threads in turn: where each of
 * them accepts for itself, whichever wakes first takes all that wait, and one core serves them.
 */
#ifndef DOPPEL_SERVE_ACCEPTOR_H
#define DOPPEL_SERVE_ACCEPTOR_H

#include <microhttpd.h>

enum { ACCEPTOR_ROOM = 2 };

struct acceptor;

/* It accepts until it is stopped.
 * @param daemon one with MHD_USE_NO_LISTEN_SOCKET, MHD_USE_ITC, and a limit of connections of
 *     ACCEPTOR_ROOM × `most` for each thread, which is not reached: libmicrohttpd 0.9.75 hangs
 * there
 * @param socket that listens; stays the caller's, and does not block from now on
 * @param most connections at a time: others wait to be accepted
 * @return given (acceptor_stop); NULL: no memory, or no thread */
struct acceptor *acceptor_start(struct MHD_Daemon *daemon, int socket, unsigned most);

/* It takes what waits to be accepted, which would be reset when the socket is closed, and no more.
 * @param acceptor NULL: nothing happens. @return how many connections it has dealt out */
size_t acceptor_stop(struct acceptor *acceptor);

#endif
