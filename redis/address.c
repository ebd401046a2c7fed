/* Parsing redis://[USER@]HOST[:PORT]/KEY[?db=N]. */
#include "redis/address.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

static const char usual_port[] = "6379";

static int percent_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* Decode %XX. @return given (free); NULL: malformed, or no memory */
static char *percent_decoded(const char *text, size_t size)
{
    char *out = malloc(size + 1), *to = out;
    for (size_t i = 0; out && i < size; i++) {
        if (text[i] != '%') {
            *to++ = text[i];
            continue;
        }
        const int high = size - i > 2 ? percent_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? percent_digit(text[i + 2]) : -1;
        if (low < 0 || (!high && !low)) {
            free(out);
            return NULL;
        }
        *to++ = (char)(high * 16 + low);
        i += 2;
    }
    if (out)
        *to = '\0';
    return out;
}

static enum doppel_status fail_address(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "the address of a stream is redis://HOST/KEY, with USER@ before the host, "
                       ":PORT behind it and ?db=N at the end where they are needed");
}

/* @param text HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT */
static enum doppel_status parse_host(const char *text, size_t size, struct redis_address *out,
                                     struct doppel_error *error)
{
    const char *end = text + size;
    const bool bracket = size && *text == '[';
    const char *closing = bracket ? memchr(text, ']', size) : NULL;
    const char *colon =
        memchr(closing ? closing : text, ':', (size_t)(end - (closing ? closing : text)));
    const char *host_end = closing ? closing : colon ? colon : end;
    if ((bracket && !closing) || host_end == text + bracket)
        return fail_address(error);
    out->host = strndup(text + bracket, (size_t)(host_end - text) - bracket);
    out->port = colon ? strndup(colon + 1, (size_t)(end - colon) - 1) : strdup(usual_port);
    if (!out->host || !out->port)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
    if (!*out->port || strspn(out->port, "0123456789") != strlen(out->port))
        return fail_address(error);
    const unsigned long port = strtoul(out->port, NULL, 10);
    return port && port <= 65535
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "a port is a number from 1 to 65535, not %s",
                             out->port);
}

static enum doppel_status parse_user(const char *text, size_t size, struct redis_address *out,
                                     struct doppel_error *error)
{
    if (memchr(text, ':', size))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the address of the stream has a password, which others of this "
                           "machine can see: put it into a file, for --stream-key");
    out->user = percent_decoded(text, size);
    return out->user && *out->user ? DOPPEL_OK : fail_address(error);
}

static enum doppel_status parse_database(const char *query, struct redis_address *out,
                                         struct doppel_error *error)
{
    char *end;
    if (strncmp(query, "db=", 3) != 0 || query[3] < '0' || query[3] > '9')
        return fail_address(error);
    out->database = (unsigned)strtoul(query + 3, &end, 10);
    return *end || out->database > 65535 ? fail_address(error) : DOPPEL_OK;
}

enum doppel_status redis_address_parse(const char *url, struct redis_address *out,
                                       struct doppel_error *error)
{
    static const char scheme[] = "redis://";
    struct redis_address address = {0};
    enum doppel_status status;
    if (strncmp(url, "rediss://", 9) == 0)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "rediss:// is not spoken here: let a tunnel (stunnel, say) end TLS on "
                           "this machine, and name that by redis://");
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return fail_address(error);
    const char *host = url + sizeof scheme - 1, *slash = strchr(host, '/');
    if (!slash)
        return fail_address(error);
    const char *query = strchr(slash, '?'), *end = query ? query : slash + strlen(slash);
    const char *at = memrchr(host, '@', (size_t)(slash - host));
    if (at)
        TRY(parse_user(host, (size_t)(at - host), &address, error));
    TRY(parse_host(at ? at + 1 : host, (size_t)(slash - (at ? at + 1 : host)), &address, error));
    address.key = percent_decoded(slash + 1, (size_t)(end - slash) - 1);
    if (!address.key || !*address.key)
        TRY(fail_address(error));
    if (query)
        TRY(parse_database(query + 1, &address, error));
    *out = address;
    return DOPPEL_OK;
done:
    redis_address_free(&address);
    return status;
}

void redis_address_free(struct redis_address *address)
{
    free(address->user);
    free(address->host);
    free(address->port);
    free(address->key);
    *address = (struct redis_address){0};
}
