/* Addresses of streams and of libraries in Redis: what is read of good ones, and what is said of
 * bad ones. */
#include "redis/address.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- what both share ---- */

static void test_schemes(void **state)
{
    (void)state;
    assert_true(redis_address_is("redis://h"));
    assert_true(redis_address_is("rediss://h"));
    static const char *const others[] = {
        "",         "redis",    "redis:/h",     "./redis://h", "redis-db",
        "rediss:h", "REDIS://", "http://redis", "redisss://h", " redis://host"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(redis_address_is(others[i]));
}

/* ---- streams ---- */

static const struct {
    const char *url, *user, *host, *port, *key;
    unsigned database;
} good_streams[] = {
    {"redis://h/k", NULL, "h", "6379", "k", 0},
    {"redis://h:1/k", NULL, "h", "1", "k", 0},
    {"redis://h:65535/k/l", NULL, "h", "65535", "k/l", 0},
    {"redis://reader@10.0.0.1:7000/%7Bnews%7D?db=15", "reader", "10.0.0.1", "7000", "{news}", 15},
    {"redis://a%3Ab@[::1]/a%20b?db=0", "a:b", "::1", "6379", "a b", 0},
    {"redis://a@b@[fe80::1%eth0]:7/k", "a@b", "fe80::1%eth0", "7", "k", 0},
    {"redis://h/k@l:m", NULL, "h", "6379", "k@l:m", 0},
};

static void test_good_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_streams / sizeof *good_streams; i++) {
        struct redis_address got;
        struct doppel_error error = {0};
        if (redis_address_parse(good_streams[i].url, &got, &error))
            fail_msg("%s: %s", good_streams[i].url, error.message);
        if (good_streams[i].user)
            assert_string_equal(got.user, good_streams[i].user);
        else
            assert_null(got.user);
        assert_string_equal(got.host, good_streams[i].host);
        assert_string_equal(got.port, good_streams[i].port);
        assert_string_equal(got.key, good_streams[i].key);
        assert_int_equal(got.database, good_streams[i].database);
        redis_address_free(&got);
    }
}

static const char a_form[] = "the address of a stream is redis://HOST/KEY";

static const struct {
    const char *url, *sentence;
} bad_streams[] = {
    {"", a_form},
    {"redis:/h/k", a_form},
    {"http://h/k", a_form},
    {"redis://", a_form},
    {"redis:///k", a_form},
    {"redis://h", a_form},
    {"redis://h/", a_form},
    {"redis://h?db=1", a_form},
    {"redis://h/?db=1", a_form},
    {"redis://h/k%", a_form},
    {"redis://h/k%0", a_form},
    {"redis://h/k%00", a_form},
    {"redis://h/k%zz", a_form},
    {"redis://@h/k", a_form},
    {"redis://%@h/k", a_form},
    {"redis://h:/k", a_form},
    {"redis://h:12a/k", a_form},
    {"redis://h:-1/k", a_form},
    {"redis://h h/k", a_form},
    {"redis://a,b/k", a_form},
    {"redis://::1/k", a_form},
    {"redis://[::1/k", a_form},
    {"redis://[]/k", a_form},
    {"redis://[::1]7/k", a_form},
    {"redis://[h h]/k", a_form},
    {"redis://h/k?", a_form},
    {"redis://h/k?db=", a_form},
    {"redis://h/k?db=x", a_form},
    {"redis://h/k?db=1x", a_form},
    {"redis://h/k?db=-1", a_form},
    {"redis://h/k?db=65536", a_form},
    {"redis://h/k?db=4294967296", a_form},
    {"redis://h:0/k", "a port is a number from 1 to 65535, not 0"},
    {"redis://h:65536/k", "a port is a number from 1 to 65535, not 65536"},
    {"redis://h:99999999999999999999/k", "a port is a number from 1 to 65535"},
    {"redis://u:hunter2@h/k", "for --stream-key"},
    {"redis://:hunter2@h/k", "for --stream-key"},
};

static void test_bad_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_streams / sizeof *bad_streams; i++) {
        struct redis_address got = {.database = 77};
        struct doppel_error error = {0};
        if (redis_address_parse(bad_streams[i].url, &got, &error) != DOPPEL_E_ARGUMENT ||
            !strstr(error.message, bad_streams[i].sentence) || strstr(error.message, "hunter2"))
            fail_msg("'%s': %s", bad_streams[i].url, error.message);
        assert_true(got.database == 77 && !got.host);
    }
}

static void test_moved_streams(void **state)
{
    (void)state;
    struct redis_address got;
    assert_int_equal(redis_address_parse("redis://u@h:1/k", &got, NULL), DOPPEL_OK);
    static const struct {
        const char *place, *host, *port; /* NULL: refused */
    } moves[] = {{"10.0.0.2:7001", "10.0.0.2", "7001"},
                 {":7002", "10.0.0.2", "7002"},
                 {"", NULL, NULL},
                 {"host", NULL, NULL},
                 {"host:", NULL, NULL},
                 {"host:0", NULL, NULL},
                 {"host:7x", NULL, NULL},
                 {"::1:7003", "::1", "7003"},
                 {"node.example:6379", "node.example", "6379"}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        enum doppel_status status = redis_address_move(&got, moves[i].place, NULL);
        assert_int_equal(status, moves[i].host ? DOPPEL_OK : DOPPEL_E_FORMAT);
        if (moves[i].host) {
            assert_string_equal(got.host, moves[i].host);
            assert_string_equal(got.port, moves[i].port);
        }
        assert_string_equal(got.user, "u");
        assert_string_equal(got.key, "k");
    }
    redis_address_free(&got);
}

/* ---- libraries ---- */

static const struct {
    const char *url, *user, *places, *name; /* places: "HOST PORT;" of each */
    bool tls;
} good_libraries[] = {
    {"redis://h", NULL, "h 6379;", "doppel", false},
    {"redis://h/", NULL, "h 6379;", "doppel", false},
    {"rediss://h", NULL, "h 6379;", "doppel", true},
    {"redis://h:7000/photos", NULL, "h 7000;", "photos", false},
    {"redis://a,b:7001,c", NULL, "a 6379;b 7001;c 6379;", "doppel", false},
    {"rediss://me@10.0.0.1:1,10.0.0.2:2/A-b_c.9", "me", "10.0.0.1 1;10.0.0.2 2;", "A-b_c.9", true},
    {"redis://a%2Cb%40c@[::1]:7,[fe80::1%eth0]/x", "a,b@c", "::1 7;fe80::1%eth0 6379;", "x", false},
    {"redis://h/0123456789012345678901234567890123456789012345678901234567890123", NULL, "h 6379;",
     "0123456789012345678901234567890123456789012345678901234567890123", false},
};

static void test_good_libraries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_libraries / sizeof *good_libraries; i++) {
        struct redis_addresses got;
        struct doppel_error error = {0};
        char places[200] = "";
        if (redis_addresses_parse(good_libraries[i].url, &got, &error))
            fail_msg("%s: %s", good_libraries[i].url, error.message);
        for (size_t at = 0, size = 0; at < got.count; at++)
            size += (size_t)snprintf(places + size, sizeof places - size, "%s %s;", got.hosts[at],
                                     got.ports[at]);
        assert_string_equal(places, good_libraries[i].places);
        if (good_libraries[i].user)
            assert_string_equal(got.user, good_libraries[i].user);
        else
            assert_null(got.user);
        assert_string_equal(got.name, good_libraries[i].name);
        assert_int_equal(got.tls, good_libraries[i].tls);
        redis_addresses_free(&got);
    }
}

static const char its_form[] = "the address of a library in Redis is redis://HOST";

static const struct {
    const char *url, *sentence;
} bad_libraries[] = {
    {"", its_form},
    {"/a/folder", its_form},
    {"redis:h", its_form},
    {"redis://", its_form},
    {"redis:///name", its_form},
    {"redis://,", its_form},
    {"redis://a,", its_form},
    {"redis://,a", its_form},
    {"redis://a,,b", its_form},
    {"redis://a, b", its_form},
    {"redis://a;b", its_form},
    {"redis://a:7,b:/x", its_form},
    {"redis://a:7,[::1", its_form},
    {"redis://@a", its_form},
    {"redis://a/b/c", its_form},
    {"redis://a/{b}", its_form},
    {"redis://a/b:c", its_form},
    {"redis://a/b%20c", its_form},
    {"redis://a/b c", its_form},
    {"redis://a/b*", its_form},
    {"redis://a/\xc3\xa4", its_form},
    {"redis://a?db=1", its_form},
    {"redis://a/b?db=1", its_form},
    {"redis://a/b?", its_form},
    {"redis://h/01234567890123456789012345678901234567890123456789012345678901234", its_form},
    {"redis://a:7,b:0", "a port is a number from 1 to 65535, not 0"},
    {"redis://a:7,b:70000/x", "a port is a number from 1 to 65535, not 70000"},
    {"redis://me@a,you@b", "one user, before the first host"},
    {"redis://me:hunter2@a,b", "for --library-key"},
    {"redis://me@a,you:hunter2@b", "for --library-key"},
};

static void test_bad_libraries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_libraries / sizeof *bad_libraries; i++) {
        struct redis_addresses got = {.count = 77};
        struct doppel_error error = {0};
        if (redis_addresses_parse(bad_libraries[i].url, &got, &error) != DOPPEL_E_ARGUMENT ||
            !strstr(error.message, bad_libraries[i].sentence) || strstr(error.message, "hunter2"))
            fail_msg("'%s': %s", bad_libraries[i].url, error.message);
        assert_true(got.count == 77 && !got.hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes),       cmocka_unit_test(test_good_streams),
        cmocka_unit_test(test_bad_streams),   cmocka_unit_test(test_good_libraries),
        cmocka_unit_test(test_bad_libraries), cmocka_unit_test(test_moved_streams),
    };
    return cmocka_run_group_tests_name("redis address", tests, NULL, NULL);
}
