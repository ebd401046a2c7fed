/* Sockets: of an address, of a path, or those that systemd hands over. */
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, FIRST_HANDED = 3 };

/* ---- systemd ---- */

/* @return -1: none was handed over to this process */
static int handed_socket(void)
{
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!process || !count || atoi(count) < 1 || strtol(process, NULL, 10) != getpid())
        return -1;
    fcntl(FIRST_HANDED, F_SETFD, FD_CLOEXEC);
    return FIRST_HANDED;
}

void notify_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof place.sun_path)
        return;
    memcpy(place.sun_path, path, strlen(path));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@')
        place.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&place, size);
    close(fd);
}

/* ---- names ---- */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* The address as it came about: the port may have been chosen by the system. */
static enum doppel_status name_listening(struct listening_socket *listening, bool tls,
                                         struct doppel_error *error)
{
    struct sockaddr_storage place = {0};
    socklen_t size = sizeof place;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(listening->socket, (struct sockaddr *)&place, &size))
        return doppel_fail(error, DOPPEL_E_IO, "the socket to listen on: %s", strerror(errno));
    if (place.ss_family == AF_UNIX) {
        listening->local = true;
        snprintf(listening->address, sizeof listening->address, "unix:%.*s",
                 (int)(sizeof listening->address - 6), ((struct sockaddr_un *)&place)->sun_path);
        return DOPPEL_OK;
    }
    if (getnameinfo((struct sockaddr *)&place, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return doppel_fail(error, DOPPEL_E_IO, "the socket to listen on has no address");
    bool six = strchr(host, ':');
    listening->local = is_loopback((struct sockaddr *)&place);
    snprintf(listening->address, sizeof listening->address, "http%s://%s%.60s%s:%s", tls ? "s" : "",
             six ? "[" : "", host, six ? "]" : "", port);
    return DOPPEL_OK;
}

/* ---- opening ---- */

/* A socket that nobody listens on any more is in the way of the next one. */
static void remove_dead_socket(const struct sockaddr_un *place)
{
    struct stat status;
    if (lstat(place->sun_path, &status) || !S_ISSOCK(status.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)place, sizeof *place) && errno == ECONNREFUSED)
        unlink(place->sun_path);
    close(fd);
}

static enum doppel_status open_listener(int fd, const struct sockaddr *place, socklen_t size,
                                        const char *where, struct doppel_error *error)
{
    if (fd >= 0 && !bind(fd, place, size) && !listen(fd, BACKLOG))
        return DOPPEL_OK;
    return doppel_fail(error, errno == EADDRINUSE ? DOPPEL_E_BUSY : DOPPEL_E_IO,
                       "cannot listen on %s: %s%s", where, strerror(errno),
                       errno == EADDRINUSE ? "; choose another with --listen" : "");
}

static enum doppel_status listen_on_path(const char *path, struct listening_socket *out,
                                         struct doppel_error *error)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (!path[0] || strlen(path) >= sizeof place.sun_path)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "--listen unix:PATH wants a path of 1 to %zu bytes",
                           sizeof place.sun_path - 1);
    memcpy(place.sun_path, path, strlen(path));
    remove_dead_socket(&place);
    out->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0177); /* for this user alone */
    enum doppel_status status =
        open_listener(out->socket, (struct sockaddr *)&place, sizeof place, path, error);
    umask(mask);
    if (!status)
        out->unix_path = strdup(path);
    return status;
}

/* "HOST:PORT" or "[HOST]:PORT" as two words. */
static bool split_address(const char *where, char host[static 256], char port[static 8])
{
    const char *colon = strrchr(where, ':');
    size_t length = colon ? (size_t)(colon - where) : 0;
    if (length && where[0] == '[' && where[length - 1] == ']') {
        where++;
        length -= 2;
    } else if (memchr(where, ':', length)) {
        return false; /* of version 6, and where it ends nobody knows */
    }
    if (!length || length >= 256 || strlen(colon + 1) - 1 >= 5 ||
        colon[1 + strspn(colon + 1, "0123456789")] || atoi(colon + 1) > UINT16_MAX)
        return false; /* getaddrinfo() takes larger ones, and their last 16 bits */
    memcpy(host, where, length);
    host[length] = '\0';
    snprintf(port, 8, "%s", colon + 1);
    return true;
}

static enum doppel_status listen_on_address(const char *where, struct listening_socket *out,
                                            struct doppel_error *error)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char host[256], port[8];
    if (!split_address(where, host, port))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "--listen wants ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH, not '%s'",
                           where);
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "--listen %s: %s", where,
                           gai_strerror(failed));
    int on = 1;
    out->socket =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
    if (out->socket >= 0)
        setsockopt(out->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    enum doppel_status status =
        open_listener(out->socket, found->ai_addr, found->ai_addrlen, where, error);
    freeaddrinfo(found);
    return status;
}

enum doppel_status listen_at(const char *where, bool tls, struct listening_socket *out,
                             struct doppel_error *error)
{
    struct listening_socket listening = {.socket = handed_socket()};
    enum doppel_status status = DOPPEL_OK;
    if (listening.socket < 0)
        status = strncmp(where, "unix:", 5) == 0 ? listen_on_path(where + 5, &listening, error)
                                                 : listen_on_address(where, &listening, error);
    if (!status)
        status = name_listening(&listening, tls, error);
    if (status)
        stop_listening(&listening);
    else
        *out = listening;
    return status;
}

void stop_listening(struct listening_socket *listening)
{
    if (listening->socket >= 0)
        close(listening->socket);
    listening->socket = -1;
    if (listening->unix_path)
        unlink(listening->unix_path);
    free(listening->unix_path);
    listening->unix_path = NULL;
}
