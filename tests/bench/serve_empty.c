/* serve_empty [THREADS]: the peer of `doppel serve`, an HTTP server whose handler takes the body
 * and answers {}, with the flags, settings and acceptor of serve/http.c. It prints its port, and
 * ends with its standard input. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve/acceptor.h"

enum { CONNECTIONS = 10000 };

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    static int begun;
    (void)context, (void)url, (void)method, (void)version, (void)data;
    if (!*state) {
        *state = &begun;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, (void *)"{}", MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    long processors = argc > 1 ? atol(argv[1]) : sysconf(_SC_NPROCESSORS_ONLN);
    char byte;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&address, size) || listen(listening, SOMAXCONN) ||
        getsockname(listening, (struct sockaddr *)&address, &size))
        return 1;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, answer, NULL, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)processors,
        MHD_OPTION_CONNECTION_LIMIT, ACCEPTOR_ROOM * CONNECTIONS * (unsigned)processors,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(8 << 10), MHD_OPTION_CONNECTION_TIMEOUT, 60u,
        MHD_OPTION_END);
    struct acceptor *acceptor = daemon ? acceptor_start(daemon, listening, CONNECTIONS) : NULL;
    if (!acceptor)
        return 1;
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    acceptor_stop(acceptor);
    MHD_stop_daemon(daemon);
    return 0;
}
