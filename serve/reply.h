/* What of an exchange goes out. */
#ifndef DOPPEL_SERVE_REPLY_H
#define DOPPEL_SERVE_REPLY_H

#include <microhttpd.h>

#include "serve/exchange.h"

/* Its answer, by libmicrohttpd: before its body begins, or when all of it is there. MHD_NO: it is
 * not taken, and the connection is to be closed. */
enum MHD_Result reply_queue(struct exchange *exchange);

/* The problem that it is answered by, while its body is still coming, when libmicrohttpd takes no
 * answer: it is sent, and nothing after it. What is still coming is to be read, or the system would
 * reset the connection, and the client never read it. Nothing happens by TLS, or where the client
 * does not read. */
void reply_early(const struct exchange *exchange);

#endif
