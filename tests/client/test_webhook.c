/* Webhooks: which hosts and addresses may be called, and how a call is signed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <doppel/client_webhook.h>

#include "client/address.h"

static void public_addresses_alone(void **state)
{
    static const char *const public[] = {"1.1.1.1",         "8.8.8.8",      "100.63.255.255",
                                         "172.15.255.255",  "172.32.0.1",   "192.167.255.255",
                                         "223.255.255.255", "2606:4700::1", "2a00::1"};
    static const char *const special[] = {"0.0.0.0",
                                          "10.1.2.3",
                                          "100.64.0.1",
                                          "127.0.0.1",
                                          "127.255.255.254",
                                          "169.254.169.254",
                                          "172.16.0.1",
                                          "172.31.255.255",
                                          "192.0.0.8",
                                          "192.0.2.1",
                                          "192.168.1.1",
                                          "198.18.0.1",
                                          "198.19.255.255",
                                          "203.0.113.9",
                                          "224.0.0.1",
                                          "255.255.255.255",
                                          "::",
                                          "::1",
                                          "fe80::1",
                                          "fc00::1",
                                          "fd12::1",
                                          "ff02::1",
                                          "::ffff:127.0.0.1",
                                          "::ffff:8.8.8.8",
                                          "64:ff9b::7f00:1",
                                          "2001::1",
                                          "2001:db8::1",
                                          "2002:7f00:1::1",
                                          "100::1"};
    struct sockaddr_storage address;
    (void)state;
    for (size_t i = 0; i < sizeof public / sizeof *public; i++) {
        assert_true(address_parse(public[i], &address));
        if (!address_is_public((struct sockaddr *)&address))
            fail_msg("%s is public", public[i]);
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        assert_true(address_parse(special[i], &address));
        if (address_is_public((struct sockaddr *)&address))
            fail_msg("%s is not public", special[i]);
    }
    assert_false(address_parse("localhost", &address));
    assert_false(address_parse("0x7f.1", &address));
}

static void loopback_addresses(void **state)
{
    static const struct {
        const char *address;
        bool loopback;
    } cases[] = {{"127.0.0.1", true},         {"127.255.0.9", true}, {"::1", true},
                 {"128.0.0.1", false},        {"0.0.0.0", false},    {"::", false},
                 {"::ffff:127.0.0.1", false}, {"10.0.0.1", false},   {"fe80::1", false}};
    struct sockaddr_storage address;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(address_parse(cases[i].address, &address));
        if (address_is_loopback((struct sockaddr *)&address) != cases[i].loopback)
            fail_msg("%s", cases[i].address);
    }
}

static void only_allowed_hosts(void **state)
{
    static const char *const allowed[] = {"hooks.example", "other.example:8443", "127.0.0.1:9000",
                                          "[::1]:9000"};
    const struct doppel_webhook_options options = {.allowed = allowed, .allowed_count = 4};
    static const struct {
        const char *url;
        enum doppel_status status;
    } cases[] = {
        {"https://hooks.example/a?b=c", DOPPEL_OK},
        {"HTTP://Hooks.Example", DOPPEL_OK},
        {"https://hooks.example:443/", DOPPEL_OK},
        {"https://other.example:8443/", DOPPEL_OK},
        {"http://127.0.0.1:9000/", DOPPEL_OK},
        {"http://[::1]:9000/", DOPPEL_OK},
        {"https://hooks.example:8443/", DOPPEL_E_UNSUPPORTED},
        {"https://other.example/", DOPPEL_E_UNSUPPORTED},
        {"https://a.hooks.example/", DOPPEL_E_UNSUPPORTED},
        {"https://hooks.example.evil/", DOPPEL_E_UNSUPPORTED},
        {"http://127.0.0.1/", DOPPEL_E_UNSUPPORTED},
        {"http://127.1:9000/", DOPPEL_E_UNSUPPORTED},
        {"ftp://hooks.example/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example@evil/", DOPPEL_E_ARGUMENT},
        {"https://user:word@hooks.example/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example\\@evil/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example#@evil/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example:0/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example:65536/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example:/", DOPPEL_E_ARGUMENT},
        {"https://hooks.example /", DOPPEL_E_ARGUMENT},
        {"https://hooks.example/\r\nx: y", DOPPEL_E_ARGUMENT},
        {"https://h\xc3\xb6ks.example/", DOPPEL_E_ARGUMENT},
        {"https://[::1/", DOPPEL_E_ARGUMENT},
        {"https://[hooks.example]/", DOPPEL_E_ARGUMENT},
        {"https:///", DOPPEL_E_ARGUMENT},
        {"", DOPPEL_E_ARGUMENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum doppel_status status = doppel_webhook_check(&options, cases[i].url, NULL);
        if (status != cases[i].status)
            fail_msg("%s: %s", cases[i].url, doppel_status_name(status));
    }
    assert_true(doppel_webhook_is_host("a.example:80") && doppel_webhook_is_host("[::1]"));
    assert_false(doppel_webhook_is_host("a.example/x") || doppel_webhook_is_host("") ||
                 doppel_webhook_is_host("http://a.example") || doppel_webhook_is_host("*"));
}

/* As Python's hmac signs. */
static void calls_are_signed(void **state)
{
    static const uint8_t secret[] = {0x31, 0xf2, 0x96, 0x3c, 0x2e, 0x8b, 0xa5, 0x08,
                                     0x2c, 0x5b, 0x6d, 0x3e, 0x76, 0x7b, 0x1c, 0x6f};
    char signature[DOPPEL_WEBHOOK_SIGNATURE];
    const struct doppel_webhook_options options = {.secret = secret, .secret_size = sizeof secret};
    const struct doppel_webhook_call call = {
        .id = "job_1", .time_s = 1614265330, .body = "{\"test\": 2432232314}", .size = 20};
    (void)state;
    doppel_webhook_sign(&options, &call, signature);
    assert_string_equal(signature, "v1,oCRGqa4sKJ0K85RyN3LGTabxiB0a+H8Ka6m8xMXKKOo=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses_alone),
        cmocka_unit_test(loopback_addresses),
        cmocka_unit_test(only_allowed_hosts),
        cmocka_unit_test(calls_are_signed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
