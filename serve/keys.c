/* Keys: compared by their digests, in the same time whatever is sent. */
#include "serve/keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "core/clock.h"
#include "core/try.h"
#include "serve/routes.h"
#include "serve/service.h"

enum { MOST_KEYS = 10000, NAME_BYTES = 63 };

struct key {
    uint8_t digest[SHA256_DIGEST_SIZE];
    char name[NAME_BYTES + 1];
    enum right right;
    double rate;   /* requests a second; 0: no limit */
    double tokens; /* that may be made now: a second's at most */
    int64_t filled_ns;
};

struct client_keys {
    pthread_mutex_t lock;
    ARRAY(struct key) all;
    bool open; /* there is no file of keys */
};

/* ---- the file ---- */

static bool parse_right(const char *word, enum right *out)
{
    static const char *const names[] = {
        [RIGHT_READ] = "read", [RIGHT_WRITE] = "write", [RIGHT_ADMIN] = "admin"};
    for (enum right right = RIGHT_READ; right <= RIGHT_ADMIN; right++)
        if (strcmp(word, names[right]) == 0) {
            *out = right;
            return true;
        }
    return false;
}

static bool parse_key(const char *line, struct key *out)
{
    char digest[65], right[8], rate[32], rest[2], *end = rate;
    struct key key = {.filled_ns = monotonic_ns()};
    int fields = sscanf(line, "%64s %63s %7s %31s %1s", digest, key.name, right, rate, rest);
    if (fields < 3 || fields > 4 || !parse_right(right, &key.right) ||
        doppel_hex_decode(digest, key.digest, sizeof key.digest))
        return false;
    if (fields == 4) {
        key.rate = strtod(rate, &end);
        if (*end || !(key.rate > 0 && key.rate <= 1e9))
            return false;
    }
    key.tokens = key.rate;
    *out = key;
    return true;
}

static enum doppel_status read_key_lines(struct client_keys *keys, FILE *file, const char *path,
                                         struct doppel_error *error)
{
    char line[256];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        struct key key;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
            continue;
        if (!parse_key(line, &key))
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "%s, line %u: it has no SHA-256, name, right (read, write or admin) "
                               "and rate",
                               path, number);
        if (keys->all.count == MOST_KEYS || !array_push(&keys->all, key))
            return doppel_fail(error, DOPPEL_E_LIMIT, "%s has more than %d keys", path,
                               (int)MOST_KEYS);
    }
    return ferror(file) ? doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno))
                        : DOPPEL_OK;
}

enum doppel_status keys_read(const char *path, struct client_keys **out, struct doppel_error *error)
{
    struct client_keys *keys = calloc(1, sizeof *keys);
    FILE *file = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!keys)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for keys");
    pthread_mutex_init(&keys->lock, NULL);
    keys->open = !path;
    if (path && !(file = fopen(path, "re")))
        TRY(doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s", path,
                        strerror(errno)));
    if (file)
        TRY(read_key_lines(keys, file, path, error));
    if (file && !keys->all.count)
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "%s: there is no key in it", path));
done:
    if (file)
        (void)fclose(file);
    if (status)
        keys_free(keys);
    else
        *out = keys;
    return status;
}

void keys_free(struct client_keys *keys)
{
    if (!keys)
        return;
    array_free(&keys->all);
    pthread_mutex_destroy(&keys->lock);
    free(keys);
}

/* ---- requests ---- */

static const char *sent_key(const struct exchange *exchange)
{
    static const char scheme[] = "Bearer ";
    const char *header = exchange_header(exchange, "Authorization");
    return header && strncmp(header, scheme, sizeof scheme - 1) == 0 ? header + sizeof scheme - 1
                                                                     : NULL;
}

/* All are compared, to their ends. */
static struct key *find_key(struct client_keys *keys, const char *sent)
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct key *found = NULL;
    sha256_init(&context);
    sha256_update(&context, strlen(sent), (const uint8_t *)sent);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < keys->all.count; i++) {
        unsigned differs = 0;
        for (size_t j = 0; j < sizeof digest; j++)
            differs |= (unsigned)(digest[j] ^ keys->all.items[i].digest[j]);
        found = differs ? found : &keys->all.items[i];
    }
    return found;
}

/* @return seconds until the next request may be made; 0: it may be made now */
static unsigned take_token(struct client_keys *keys, struct key *key)
{
    unsigned wait = 0;
    if (key->rate == 0)
        return 0;
    double most = key->rate < 1 ? 1 : key->rate;
    pthread_mutex_lock(&keys->lock);
    int64_t now = monotonic_ns();
    key->tokens += (double)(now - key->filled_ns) * 1e-9 * key->rate;
    key->tokens = key->tokens > most ? most : key->tokens;
    key->filled_ns = now;
    if (key->tokens >= 1)
        key->tokens--;
    else
        wait = 1 + (unsigned)((1 - key->tokens) / key->rate);
    pthread_mutex_unlock(&keys->lock);
    return wait;
}

/* Whether a name of the DNS leads here: it has a dot, and is no address. */
static bool is_domain(const char *host)
{
    size_t size = strcspn(host, ":");
    return *host != '[' && memchr(host, '.', size) && strspn(host, "0123456789.") < size;
}

/* Whether a browser of this machine asks for a page of another site, which says so as its origin,
 * or has a name of its own lead here (DNS rebinding). */
static bool asks_for_another_site(const struct exchange *exchange)
{
    const char *host = exchange_header(exchange, "Host");
    const char *origin = exchange_header(exchange, "Origin");
    const char *site = origin ? strstr(origin, "://") : NULL;
    if (origin && (!site || !host || strcmp(site + strlen("://"), host) != 0))
        return true;
    return host && is_domain(host);
}

static bool admit_without_key(struct exchange *exchange)
{
    bool guarded = exchange->route->right != RIGHT_NONE && !exchange->service->options->insecure;
    exchange->client = (struct client){NULL, RIGHT_ADMIN};
    if (!guarded || !asks_for_another_site(exchange))
        return true;
    exchange_problem(exchange, HTTP_FORBIDDEN,
                     "without --keys only this machine may ask, by its address or as localhost, "
                     "and no page of another site");
    return false;
}

bool keys_admit(struct client_keys *keys, struct exchange *exchange)
{
    if (keys->open)
        return admit_without_key(exchange);
    if (exchange->route->right == RIGHT_NONE)
        return true;
    const char *sent = sent_key(exchange);
    struct key *key = sent ? find_key(keys, sent) : NULL;
    if (!key) {
        exchange_problem(exchange, HTTP_UNAUTHORIZED, "%s",
                         sent ? "the key is not known"
                              : "a key is wanted, as 'Authorization: Bearer KEY'");
        return false;
    }
    exchange->client = (struct client){key->name, key->right};
    if (key->right < exchange->route->right) {
        exchange_problem(exchange, HTTP_FORBIDDEN, "the key '%s' may not do this", key->name);
        return false;
    }
    exchange->retry_after = take_token(keys, key);
    if (!exchange->retry_after)
        return true;
    exchange_problem(exchange, HTTP_TOO_MANY, "the key '%s' may make %g requests a second",
                     key->name, key->rate);
    return false;
}
