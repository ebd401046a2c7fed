/* Connections, dealt out. */
#include "serve/acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAUSE_MS = 10 }; /* where there is no descriptor, or no room, for one more */

struct acceptor {
    struct MHD_Daemon *daemon;
    int socket;
    int stop; /* an eventfd */
    unsigned most;
    size_t dealt; /* of its thread, until that has ended */
    pthread_t thread;
};

static size_t connections_of(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/* libmicrohttpd gives it to the thread whose number its descriptor has, modulo how many there are.
 * @return false: there was none to take now */
static bool accept_connection(struct acceptor *acceptor)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    int connection =
        accept4(acceptor->socket, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0)
        return false;
    /* fails where it is no TCP */
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    /* which closes it where it fails */
    acceptor->dealt +=
        MHD_add_connection(acceptor->daemon, connection, (struct sockaddr *)&from, size) == MHD_YES;
    return true;
}

/* Its threads take what it was given from a queue, and count only then: so what was accepted is
 * counted here, and what has ended meanwhile when that seems too much. */
static void *accept_connections(void *context)
{
    struct acceptor *acceptor = context;
    struct pollfd waits[] = {{.fd = acceptor->stop, .events = POLLIN},
                             {.fd = acceptor->socket, .events = POLLIN}};
    size_t held = 0;
    bool paused = false;
    while (poll(waits, paused ? 1 : 2, paused ? PAUSE_MS : -1) < 0 || !waits[0].revents) {
        if (paused)
            held = connections_of(acceptor->daemon);
        const bool full = held >= acceptor->most;
        const bool taken = !paused && !full && accept_connection(acceptor);
        held += taken;
        paused = full || (!paused && !taken);
    }
    while (held < acceptor->most && accept_connection(acceptor))
        held++;
    return NULL;
}

struct acceptor *acceptor_start(struct MHD_Daemon *daemon, int socket, unsigned most)
{
    struct acceptor *acceptor = malloc(sizeof *acceptor);
    if (!acceptor)
        return NULL;
    *acceptor = (struct acceptor){.daemon = daemon, .socket = socket, .most = most};
    acceptor->stop = eventfd(0, EFD_CLOEXEC);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    if (acceptor->stop >= 0 &&
        pthread_create(&acceptor->thread, NULL, accept_connections, acceptor) == 0)
        return acceptor;
    if (acceptor->stop >= 0)
        close(acceptor->stop);
    free(acceptor);
    return NULL;
}

size_t acceptor_stop(struct acceptor *acceptor)
{
    const uint64_t one = 1;
    if (!acceptor)
        return 0;
    while (write(acceptor->stop, &one, sizeof one) < 0)
        ;
    pthread_join(acceptor->thread, NULL);
    const size_t dealt = acceptor->dealt;
    close(acceptor->stop);
    free(acceptor);
    return dealt;
}
