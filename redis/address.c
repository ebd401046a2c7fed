/* Parsing addresses of Redis. */
#include "redis/address.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

enum { MOST_NAME = 64 };

static const char usual_port[] = "6379", usual_name[] = "doppel";

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

/* What an address is for. */
struct address_use {
    const char *form;
    const char *what;
    const char *key_option;
};

static const struct address_use for_stream = {
    "the address of a stream is redis://HOST/KEY, with USER@ before the host, :PORT behind it and "
    "?db=N at the end where they are needed",
    "stream", "--stream-key"};

static const struct address_use for_library = {
    "the address of a library in Redis is redis://HOST, or redis://USER@HOST:PORT,HOST:PORT/NAME; "
    "a name has up to 64 letters, digits, '.', '_' and '-'",
    "library", "--library-key"};

/* A part of an address. */
struct address_part {
    const char *text;
    size_t size;
};

struct address_parts {
    const struct address_use *use;
    struct address_part user, hosts, path, query; /* of the user, text NULL: there is none */
    bool tls, has_path, has_query;
};

static enum doppel_status fail_address(const struct address_use *use, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s", use->form);
}

static struct address_part part_between(const char *begin, const char *end)
{
    return (struct address_part){begin, (size_t)(end - begin)};
}

static const char *behind_scheme(const char *url, bool *out_tls)
{
    *out_tls = strncmp(url, "rediss://", 9) == 0;
    return *out_tls ? url + 9 : strncmp(url, "redis://", 8) == 0 ? url + 8 : NULL;
}

bool redis_address_is(const char *text)
{
    bool tls;
    return behind_scheme(text, &tls) != NULL;
}

static enum doppel_status take_parts(const char *url, const struct address_use *use,
                                     struct address_parts *out, struct doppel_error *error)
{
    struct address_parts parts = {.use = use};
    const char *host = behind_scheme(url, &parts.tls);
    if (!host)
        return fail_address(use, error);
    const char *host_end = host + strcspn(host, "/?"), *end = host + strlen(host);
    const char *query = host_end + strcspn(host_end, "?");
    const char *at = memrchr(host, '@', (size_t)(host_end - host));
    parts.has_path = *host_end == '/';
    parts.has_query = *query == '?';
    if (at)
        parts.user = part_between(host, at);
    parts.hosts = part_between(at ? at + 1 : host, host_end);
    parts.path = part_between(host_end + parts.has_path, query);
    parts.query = part_between(query + parts.has_query, end);
    *out = parts;
    return DOPPEL_OK;
}

static bool is_host(const char *text, bool bracketed)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-:%";
    const size_t size = strlen(text), good = strspn(text, letters);
    return size && good == size && (bracketed || !strpbrk(text, ":%"));
}

static enum doppel_status check_port(const char *port, const struct address_use *use,
                                     struct doppel_error *error)
{
    if (!*port || strspn(port, "0123456789") != strlen(port))
        return fail_address(use, error);
    const unsigned long number = strtoul(port, NULL, 10);
    return number && number <= 65535
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "a port is a number from 1 to 65535, not %s",
                             port);
}

/* @param part HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT. @param out the host, and the port;
 * given (free), also on failure */
static enum doppel_status parse_host(struct address_part part, const struct address_use *use,
                                     char **const out[], struct doppel_error *error)
{
    const char *text = part.text, *end = text + part.size;
    const bool bracket = part.size && *text == '[';
    const char *closing = bracket ? memchr(text, ']', part.size) : NULL;
    if (bracket && !closing)
        return fail_address(use, error);
    const char *rest = bracket ? closing + 1 : text;
    const char *colon = memchr(rest, ':', (size_t)(end - rest));
    const char *host_end = bracket ? closing : colon ? colon : end;
    if (bracket && rest != (colon ? colon : end))
        return fail_address(use, error);
    *out[0] = strndup(text + bracket, (size_t)(host_end - text) - bracket);
    *out[1] = colon ? strndup(colon + 1, (size_t)(end - colon) - 1) : strdup(usual_port);
    if (!*out[0] || !*out[1])
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
    return is_host(*out[0], bracket) ? check_port(*out[1], use, error) : fail_address(use, error);
}

/* @param out given (free); untouched where the address has no user */
static enum doppel_status parse_user(const struct address_parts *parts, char **out,
                                     struct doppel_error *error)
{
    if (!parts->user.text)
        return DOPPEL_OK;
    if (memchr(parts->user.text, ':', parts->user.size))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the address of the %s has a password, which others of this machine can "
                           "see: put it into a file, for %s",
                           parts->use->what, parts->use->key_option);
    *out = percent_decoded(parts->user.text, parts->user.size);
    return *out && **out ? DOPPEL_OK : fail_address(parts->use, error);
}

/* ---- of a stream ---- */

static enum doppel_status parse_database(const struct address_parts *parts,
                                         struct redis_address *out, struct doppel_error *error)
{
    const char *query = parts->query.text;
    char *end;
    if (!parts->has_query)
        return DOPPEL_OK;
    if (strncmp(query, "db=", 3) != 0 || query[3] < '0' || query[3] > '9')
        return fail_address(parts->use, error);
    const unsigned long number = strtoul(query + 3, &end, 10);
    if (*end || number > 65535)
        return fail_address(parts->use, error);
    out->database = (unsigned)number;
    return DOPPEL_OK;
}

enum doppel_status redis_address_parse(const char *url, struct redis_address *out,
                                       struct doppel_error *error)
{
    struct redis_address address = {0};
    struct address_parts parts = {0};
    enum doppel_status status;
    TRY(take_parts(url, &for_stream, &parts, error));
    address.tls = parts.tls;
    TRY(parse_user(&parts, &address.user, error));
    TRY(parse_host(parts.hosts, &for_stream, (char **[]){&address.host, &address.port}, error));
    address.key = percent_decoded(parts.path.text, parts.path.size);
    if (!address.key || !*address.key)
        TRY(fail_address(&for_stream, error));
    TRY(parse_database(&parts, &address, error));
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

enum doppel_status redis_address_move(struct redis_address *address, const char *place,
                                      struct doppel_error *error)
{
    const char *colon = strrchr(place, ':'); /* without brackets, also of IPv6 */
    if (!colon || check_port(colon + 1, &for_stream, NULL))
        return doppel_fail(error, DOPPEL_E_FORMAT, "Redis: '%s' is no node of a cluster", place);
    char *host = colon == place ? strdup(address->host) : strndup(place, (size_t)(colon - place));
    char *port = strdup(colon + 1);
    if (!host || !port) {
        free(host);
        free(port);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
    }
    free(address->host);
    free(address->port);
    address->host = host;
    address->port = port;
    return DOPPEL_OK;
}

/* ---- of a library ---- */

static enum doppel_status parse_hosts(const struct address_parts *parts,
                                      struct redis_addresses *out, struct doppel_error *error)
{
    const char *text = parts->hosts.text, *end = text + parts->hosts.size;
    size_t most = 1;
    for (const char *at = text; at < end; at++)
        most += *at == ',';
    out->hosts = calloc(most, sizeof *out->hosts);
    out->ports = calloc(most, sizeof *out->ports);
    if (!out->hosts || !out->ports)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
    enum doppel_status status = DOPPEL_OK;
    while (out->count < most && !status) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        char **const host[2] = {&out->hosts[out->count], &out->ports[out->count]};
        out->count++;
        status = parse_host(part_between(text, comma ? comma : end), parts->use, host, error);
        text = comma ? comma + 1 : end;
    }
    return status;
}

static enum doppel_status parse_name(const struct address_parts *parts, char **out,
                                     struct doppel_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    *out = parts->path.size ? strndup(parts->path.text, parts->path.size) : strdup(usual_name);
    if (!*out)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
    return strspn(*out, letters) == strlen(*out) && strlen(*out) <= MOST_NAME && !parts->has_query
               ? DOPPEL_OK
               : fail_address(parts->use, error);
}

enum doppel_status redis_addresses_parse(const char *url, struct redis_addresses *out,
                                         struct doppel_error *error)
{
    struct redis_addresses addresses = {0};
    struct address_parts parts = {0};
    enum doppel_status status;
    TRY(take_parts(url, &for_library, &parts, error));
    addresses.tls = parts.tls;
    TRY(parse_user(&parts, &addresses.user, error));
    if (parts.user.text && memchr(parts.user.text, ',', parts.user.size))
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                        "the address of the library has one user, before the first host"));
    TRY(parse_hosts(&parts, &addresses, error));
    TRY(parse_name(&parts, &addresses.name, error));
    *out = addresses;
    return DOPPEL_OK;
done:
    redis_addresses_free(&addresses);
    return status;
}

void redis_addresses_free(struct redis_addresses *addresses)
{
    for (size_t i = 0; i < addresses->count; i++) {
        free(addresses->hosts[i]);
        free(addresses->ports[i]);
    }
    free(addresses->hosts);
    free(addresses->ports);
    free(addresses->user);
    free(addresses->name);
    *addresses = (struct redis_addresses){0};
}
