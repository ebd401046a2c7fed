/* Which addresses are whose. */
#include "client/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_URL = 2000 };

struct network {
    const char *base;
    unsigned bits;
};

static const struct network special4[] = {
    {"0.0.0.0", 8},      {"10.0.0.0", 8},     {"100.64.0.0", 10}, {"127.0.0.0", 8},
    {"169.254.0.0", 16}, {"172.16.0.0", 12},  {"192.0.0.0", 24},  {"192.0.2.0", 24},
    {"192.88.99.0", 24}, {"192.168.0.0", 16}, {"198.18.0.0", 15}, {"198.51.100.0", 24},
    {"203.0.113.0", 24}, {"224.0.0.0", 3},
};

/* Of 2000::/3: protocols, Teredo among them; documentation; and 6to4, which holds others. */
static const struct network public6 = {"2000::", 3};
static const struct network special6[] = {
    {"2001::", 23}, {"2001:db8::", 32}, {"2002::", 16}, {"3fff::", 20}};

static bool has_prefix(const uint8_t *address, const uint8_t *base, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;
    return memcmp(address, base, bytes) == 0 &&
           (!rest || (address[bytes] ^ base[bytes]) >> (8 - rest) == 0);
}

static bool lies_in(int family, const void *address, const struct network *network)
{
    uint8_t base[16];
    return inet_pton(family, network->base, base) == 1 && has_prefix(address, base, network->bits);
}

static bool lies_in_some(int family, const void *address, const struct network *networks,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lies_in(family, address, &networks[i]))
            return true;
    return false;
}

bool address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return !lies_in_some(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, special4,
                             sizeof special4 / sizeof *special4);
    const void *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return address->sa_family == AF_INET6 && lies_in(AF_INET6, six, &public6) &&
           !lies_in_some(AF_INET6, six, special6, sizeof special6 / sizeof *special6);
}

bool address_parse(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    out->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(out->ss_family, text,
                     out->ss_family == AF_INET6 ? (void *)&six->sin6_addr
                                                : (void *)&four->sin_addr) == 1;
}

bool address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

bool address_equal(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Letters, digits, '.' and '-' alone: so that nobody else reads another host from it. */
static bool take_host(const char **at, bool six, struct host_port *out)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    struct sockaddr_storage address;
    size_t size = strspn(*at, six ? "0123456789abcdefABCDEF:." : name);
    if (!size || size >= sizeof out->host)
        return false;
    for (size_t i = 0; i < size; i++)
        out->host[i] = (char)((*at)[i] >= 'A' && (*at)[i] <= 'Z' ? (*at)[i] + 32 : (*at)[i]);
    out->host[size] = '\0';
    *at += size;
    return !six || (address_parse(out->host, &address) && *(*at)++ == ']');
}

const char *host_port_parse(const char *text, const char *ends, struct host_port *out)
{
    bool six = *text == '[';
    const char *at = text + six;
    out->port = 0;
    if (!take_host(&at, six, out))
        return NULL;
    if (*at == ':') {
        size_t digits = strspn(++at, "0123456789");
        out->port = digits >= 1 && digits <= 5 ? (unsigned)atoi(at) : 0;
        if (!out->port || out->port > UINT16_MAX)
            return NULL;
        at += digits;
    }
    return !*at || strchr(ends, *at) ? at : NULL;
}

bool http_url_parse(const char *url, struct host_port *out)
{
    bool tls = strncasecmp(url, "https://", 8) == 0;
    if ((!tls && strncasecmp(url, "http://", 7) != 0) || strlen(url) > LONGEST_URL)
        return false;
    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '#' || *at == '\\' || *at == '@')
            return false;
    if (!host_port_parse(url + (tls ? 8 : 7), "/?", out))
        return false;
    if (!out->port)
        out->port = tls ? 443 : 80;
    return true;
}

bool host_is_allowed(const char *const *allowed, size_t count, const struct host_port *host)
{
    for (size_t i = 0; i < count; i++) {
        struct host_port one;
        if (!host_port_parse(allowed[i], "", &one) || strcmp(one.host, host->host) != 0)
            continue;
        if (one.port ? one.port == host->port : host->port == 80 || host->port == 443)
            return true;
    }
    return false;
}
