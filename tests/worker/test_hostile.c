/* A worker in a stranger's hands: whatever it answers, the parent stays whole. */
#include "helper.h"

#include <fcntl.h>
#include <errno.h>
#include <locale.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include "core/bytes.h"
#include "worker/protocol.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const struct worker_order order = {
    1234567890123, {.scheme = DOPPEL_SCHEME_PHASH64, .version = 2}, -1};

/* A good answer with `codes` codes, or with none an error. @return its bytes */
static size_t make_answer(uint32_t codes, size_t attachment, uint8_t *out)
{
    struct doppel_outcome outcome = {.tag = order.serial,
                                     .kind = DOPPEL_KIND_IMAGE,
                                     .width = 70000,
                                     .height = 3,
                                     .quality = 100};
    if (codes) {
        doppel_fingerprint_make(doppel_scheme_by_id(order.wanted.scheme), 256, codes,
                                &outcome.fingerprint, NULL);
        for (uint32_t i = 0; i < codes; i++) {
            outcome.fingerprint.positions[i] = i * 2;
            outcome.fingerprint.codes[i].word[i % 4] = 0x123456789abcdef0 + i;
        }
        outcome.attachment = malloc(attachment ? attachment : 1);
        memset(outcome.attachment, 0xa5, attachment);
        outcome.attachment_size = attachment;
    } else {
        doppel_fail(&outcome.error, DOPPEL_E_CORRUPT, "the PNG is cut short");
    }
    size_t size = answer_write(&outcome, out, PROTOCOL_MAX_BYTES);
    doppel_outcome_free(&outcome);
    return size;
}

static void test_answer_round_trip(void **state)
{
    (void)state;
    uint8_t frame[PROTOCOL_MAX_BYTES];
    for (uint32_t codes = 1; codes < 300; codes += 7) {
        struct doppel_outcome outcome;
        size_t size = make_answer(codes, codes * 31, frame);
        assert_int_equal(answer_read(frame, size, &order, &outcome), ANSWER_GOOD);
        assert_int_equal(outcome.tag, order.serial);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        assert_int_equal(outcome.kind, DOPPEL_KIND_IMAGE);
        assert_int_equal(outcome.width, 70000);
        assert_int_equal(outcome.height, 3);
        assert_int_equal(outcome.quality, 100);
        assert_int_equal(outcome.fingerprint.count, codes);
        assert_int_equal(outcome.fingerprint.positions[codes - 1], (codes - 1) * 2);
        assert_int_equal(outcome.fingerprint.codes[codes - 1].word[(codes - 1) % 4],
                         0x123456789abcdef0 + codes - 1);
        assert_int_equal(outcome.attachment_size, codes * 31);
        assert_int_equal(outcome.attachment[codes * 31 - 1], 0xa5);
        doppel_outcome_free(&outcome);
    }
}

static void test_error_round_trip(void **state)
{
    (void)state;
    uint8_t frame[PROTOCOL_MAX_BYTES];
    struct doppel_outcome outcome;
    size_t size = make_answer(0, 0, frame);
    assert_int_equal(answer_read(frame, size, &order, &outcome), ANSWER_GOOD);
    assert_int_equal(outcome.error.status, DOPPEL_E_CORRUPT);
    assert_string_equal(outcome.error.message, "the PNG is cut short");
    assert_null(outcome.fingerprint.codes);
    assert_null(outcome.attachment);
}

/* Every prefix, and every longer one, of a good answer is none. */
static void test_wrong_lengths(void **state)
{
    (void)state;
    uint8_t frame[PROTOCOL_MAX_BYTES] = {0};
    struct doppel_outcome outcome;
    for (uint32_t codes = 0; codes < 3; codes++) {
        size_t good = make_answer(codes, 50, frame);
        for (size_t size = 0; size < good + 50; size++)
            if (size != good)
                assert_int_equal(answer_read(frame, size, &order, &outcome), ANSWER_NONSENSE);
        assert_int_equal(answer_read(frame, good, &order, &outcome), ANSWER_GOOD);
        doppel_outcome_free(&outcome);
    }
}

/* Where each field lies, as docs/worker.md has it, and values that it must not have. */
static void test_wrong_fields(void **state)
{
    (void)state;
    static const struct {
        size_t at, bytes;
        uint64_t value;
    } wrong[] = {
        {0, 4, 0},   {4, 2, 3},           {6, 2, 1},           {8, 8, 1},           {16, 2, 1},
        {16, 2, 17}, {16, 2, 0xffff},     {18, 1, 0},          {18, 1, 5},          {19, 1, 101},
        {28, 4, 0},  {28, 4, 0xffffffff}, {32, 4, 0xffffffd8}, {36, 4, 1},          {40, 2, 2},
        {42, 2, 9},  {44, 2, 64},         {48, 4, 0},          {48, 4, 0x10000000}, {52, 4, 9},
    };
    uint8_t frame[PROTOCOL_MAX_BYTES];
    struct doppel_outcome outcome;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t value[8];
        size_t size = make_answer(2, 20, frame);
        put_u64(value, wrong[i].value);
        memcpy(frame + wrong[i].at, value, wrong[i].bytes);
        if (answer_read(frame, size, &order, &outcome) == ANSWER_GOOD)
            fail_msg("field at %zu may be %lx", wrong[i].at, wrong[i].value);
    }
}

static void expect_sane(const struct doppel_outcome *outcome)
{
    assert_int_equal(outcome->tag, order.serial);
    assert_true(outcome->quality <= 100);
    assert_true(outcome->kind <= DOPPEL_KIND_VIDEO);
    assert_true(strlen(outcome->error.message) < sizeof outcome->error.message);
    if (outcome->error.status) {
        assert_null(outcome->fingerprint.codes);
        return;
    }
    assert_int_equal(outcome->fingerprint.scheme, order.wanted.scheme);
    assert_true(outcome->fingerprint.count > 0);
    for (uint32_t i = 1; i < outcome->fingerprint.count; i++)
        assert_true(outcome->fingerprint.positions[i - 1] <= outcome->fingerprint.positions[i]);
}

/* Random changes to good answers, each in a buffer of its exact size, for the sanitizer. */
static void test_bent_answers(void **state)
{
    (void)state;
    uint8_t frame[PROTOCOL_MAX_BYTES];
    uint64_t seed = 99;
    unsigned accepted = 0, refused = 0;
    for (unsigned round = 0; round < 100000; round++) {
        size_t size = make_answer(round % 4, next_random(&seed) % 60, frame);
        uint8_t *bent = malloc(size);
        struct doppel_outcome outcome;
        memcpy(bent, frame, size);
        for (uint64_t i = 0; i < 1 + round % 3; i++)
            bent[next_random(&seed) % (round % 2 ? size : 56)] = (uint8_t)next_random(&seed);
        if (answer_read(bent, size, &order, &outcome) == ANSWER_GOOD) {
            expect_sane(&outcome);
            doppel_outcome_free(&outcome);
            accepted++;
        } else {
            refused++;
        }
        free(bent);
    }
    assert_true(accepted > 1000 && refused > 1000);
}

/* ---- answers that no frame holds ---- */

static struct doppel_outcome large_outcome(uint32_t codes, size_t attachment)
{
    struct doppel_outcome outcome = {.tag = order.serial, .kind = DOPPEL_KIND_IMAGE};
    doppel_fingerprint_make(doppel_scheme_by_id(order.wanted.scheme), 256, codes,
                            &outcome.fingerprint, NULL);
    outcome.attachment = calloc(1, attachment);
    outcome.attachment_size = attachment;
    return outcome;
}

static void test_long_answers(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 60000, 70000, 5 << 20, 70 << 20};
    int ends[2], before = count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t frame[PROTOCOL_MAX_BYTES];
        int fd;
        struct doppel_outcome sent = large_outcome(3, sizes[i]), got;
        assert_true(answer_send(ends[0], &sent));
        ssize_t size = frame_receive(ends[1], frame, sizeof frame, &fd);
        bool is_long = frame_is_long(frame, (size_t)size);
        assert_int_equal(is_long, fd >= 0);
        assert_int_equal(is_long, sizes[i] > 65000 && sizes[i] < 64 << 20);
        assert_int_equal(is_long ? answer_read_long(fd, &order, &got)
                                 : answer_read(frame, (size_t)size, &order, &got),
                         ANSWER_GOOD);
        if (sizes[i] < 64 << 20)
            assert_int_equal(got.attachment_size, sizes[i]);
        else
            assert_int_equal(got.error.status, DOPPEL_E_LIMIT);
        if (fd >= 0)
            close(fd);
        doppel_outcome_free(&sent);
        doppel_outcome_free(&got);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(count_fds(), before);
}

/* What is no file in memory, or none with an answer in it, is not read. */
static void test_wrong_descriptors(void **state)
{
    (void)state;
    struct doppel_outcome outcome;
    int pipe_ends[2], empty = memfd_create("empty", MFD_CLOEXEC);
    assert_int_equal(pipe(pipe_ends), 0);
    int plain = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int garbage = file_of("garbage", 7), huge = memfd_create("huge", MFD_CLOEXEC);
    assert_int_equal(ftruncate(huge, (off_t)1 << 40), 0);
    const int wrong[] = {-1, empty, pipe_ends[0], plain, garbage, huge};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(answer_read_long(wrong[i], &order, &outcome), ANSWER_NONSENSE);
        if (wrong[i] >= 0)
            close(wrong[i]);
    }
    close(pipe_ends[1]);
}

/* A good answer in memory, sealed so far. @return its descriptor */
static int sealed_answer(int seals)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    size_t size = make_answer(3, 20, frame);
    int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(fd, frame, size), size);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* What its worker could still change, or cut off, is not read either. */
static void test_only_what_is_sealed_is_read(void **state)
{
    (void)state;
    static const int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
    static const int seals[] = {0,
                                F_SEAL_SEAL,
                                all & ~F_SEAL_WRITE,
                                all & ~F_SEAL_GROW,
                                all & ~F_SEAL_SHRINK,
                                F_SEAL_FUTURE_WRITE | F_SEAL_GROW,
                                all,
                                all | F_SEAL_SEAL};
    for (size_t i = 0; i < sizeof seals / sizeof *seals; i++) {
        struct doppel_outcome outcome = {0};
        int fd = sealed_answer(seals[i]);
        bool whole = (seals[i] & all) == all;
        assert_int_equal(answer_read_long(fd, &order, &outcome),
                         whole ? ANSWER_GOOD : ANSWER_NONSENSE);
        doppel_outcome_free(&outcome);
        close(fd);
    }
}

static void send_descriptors(int socket, const int *fds, size_t count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control = {0};
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof *fds)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof *fds);
    memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
    assert_int_equal(sendmsg(socket, &message, 0), 1);
}

/* More descriptors than one come with no answer, and none of them stays. */
static void test_many_descriptors(void **state)
{
    (void)state;
    const int before = count_fds();
    int ends[2], fd;
    uint8_t frame[16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    for (size_t count = 1; count <= 4; count++) {
        const int sent[] = {ends[0], ends[0], ends[0], ends[0]};
        send_descriptors(ends[0], sent, count);
        ssize_t size = frame_receive(ends[1], frame, sizeof frame, &fd);
        assert_int_equal(size, count == 1 ? 1 : -1);
        assert_true(count == 1 ? fd >= 0 : fd == -1 && errno == EBADMSG);
        frame_descriptor_close(fd);
        assert_int_equal(count_fds(), before + 2);
    }
    close(ends[0]);
    close(ends[1]);
}

static int64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A socket with bytes that nobody takes, whose close is to wait for that: 20 s. */
static int lingering_socket(int *out_listener, int *out_peer)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 20};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    static const char bytes[1 << 16];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(one, (struct sockaddr *)&address, size), 0);
    *out_peer = accept(listener, NULL, NULL);
    *out_listener = listener;
    while (send(one, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(one, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    return one;
}

static void test_a_descriptor_that_lingers(void **state)
{
    (void)state;
    int listener, peer, one = lingering_socket(&listener, &peer);
    int64_t start = milliseconds_now();
    frame_descriptor_close(one);
    assert_true(milliseconds_now() - start < 10000);
    close(peer);
    close(listener);
}

static void test_orders_arrive(void **state)
{
    (void)state;
    struct worker_order sent[2] = {order, order}, got[PROTOCOL_BATCH];
    int ends[2];
    sent[1].wanted = (struct doppel_order){.scheme = DOPPEL_SCHEME_WINNOW32,
                                           .version = 0x1234,
                                           .text_format = 2,
                                           .text_unit = 1,
                                           .text_shingle = 9,
                                           .text_fold_case = true,
                                           .text_places = true,
                                           .pcm = 3,
                                           .pcm_rate = 768000,
                                           .pcm_channels = 64};
    sent[0].fd = file_of("a", 1);
    sent[1].fd = file_of("b", 1);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(orders_send(ends[0], sent, 2));
    assert_int_equal(orders_receive(ends[1], true, got), 2);
    for (int i = 0; i < 2; i++) {
        const struct doppel_order *a = &sent[i].wanted, *b = &got[i].wanted;
        assert_int_equal(got[i].serial, order.serial);
        assert_int_equal(a->scheme, b->scheme);
        assert_int_equal(a->version, b->version);
        assert_int_equal(a->text_format, b->text_format);
        assert_int_equal(a->text_unit, b->text_unit);
        assert_int_equal(a->text_shingle, b->text_shingle);
        assert_int_equal(a->text_nfkc, b->text_nfkc);
        assert_int_equal(a->text_fold_case, b->text_fold_case);
        assert_int_equal(a->text_drop_punctuation, b->text_drop_punctuation);
        assert_int_equal(a->text_places, b->text_places);
        assert_int_equal(a->pcm, b->pcm);
        assert_int_equal(a->pcm_rate, b->pcm_rate);
        assert_int_equal(a->pcm_channels, b->pcm_channels);
        close(sent[i].fd);
        close(got[i].fd);
    }
    close(ends[0]);
    close(ends[1]);
}

/* Text of an error, from random bytes: always UTF-8 without controls. */
static void test_sentences_are_clean(void **state)
{
    (void)state;
    uint8_t frame[PROTOCOL_MAX_BYTES];
    uint64_t seed = 3;
    for (unsigned round = 0; round < 20000; round++) {
        struct doppel_outcome outcome;
        size_t size = make_answer(0, 0, frame), length = 1 + next_random(&seed) % 700;
        size_t head = size - strlen("the PNG is cut short");
        for (size_t i = 0; i < length; i++)
            frame[head + i] = (uint8_t)(next_random(&seed) | (round % 2 ? 0x80 : 0));
        put_u32(frame + 36, (uint32_t)length);
        assert_int_equal(answer_read(frame, head + length, &order, &outcome), ANSWER_GOOD);
        const char *text = outcome.error.message;
        assert_true(strlen(text) > 0 && strlen(text) < 512);
        assert_int_not_equal(mbstowcs(NULL, text, 0), (size_t)-1);
        for (; *text; text++)
            assert_true((uint8_t)*text >= ' ' && *text != 0x7f);
    }
}

/* Through the pool: nonsense costs the file at work, and only it. */
static void test_pool_survives(void **state)
{
    (void)state;
    enum { FILES = 300 };
    int before = count_fds();
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    unsigned seen[FILES] = {0};
    for (unsigned given = 0, taken = 0; taken < FILES; taken++) {
        for (; given < FILES && doppel_pool_room(pool); given++) {
            char command[32];
            snprintf(command, sizeof command, "%s %u",
                     given % 3 == 0   ? "garbage"
                     : given % 3 == 1 ? "bend"
                                      : "ok",
                     given);
            submit(pool, command, given);
        }
        struct doppel_outcome outcome = next(pool);
        assert_true(outcome.tag < FILES);
        seen[outcome.tag]++;
        if (outcome.tag % 3 == 0)
            assert_int_equal(outcome.error.status, DOPPEL_E_CRASH);
        if (outcome.tag % 3 == 2)
            assert_int_equal(outcome.error.status, DOPPEL_OK);
        doppel_outcome_free(&outcome);
    }
    for (unsigned i = 0; i < FILES; i++)
        assert_int_equal(seen[i], 1);
    doppel_pool_free(pool);
    assert_int_equal(count_fds(), before);
    assert_true(has_no_children());
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_round_trip),
        cmocka_unit_test(test_error_round_trip),
        cmocka_unit_test(test_wrong_lengths),
        cmocka_unit_test(test_wrong_fields),
        cmocka_unit_test(test_bent_answers),
        cmocka_unit_test(test_sentences_are_clean),
        cmocka_unit_test(test_long_answers),
        cmocka_unit_test(test_wrong_descriptors),
        cmocka_unit_test(test_many_descriptors),
        cmocka_unit_test(test_a_descriptor_that_lingers),
        cmocka_unit_test(test_orders_arrive),
        cmocka_unit_test(test_pool_survives),
        cmocka_unit_test(test_only_what_is_sealed_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
