/* A segment with parts of several sizes, its file in a folder, and the handler of SIGBUS. */
#include "index/segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "index/codes.h"

enum { REMOVED = 5 };

const uint64_t part_bytes[PARTS] = {1, 200000, 4096};
static const uint64_t removed[REMOVED] = {3, 4, 7, 1000, UINT64_MAX};

char folder[] = "/tmp/test-segment-XXXXXX";
char path[64], temporary[72];

int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

struct segment_plan plan_of(const uint64_t *bytes)
{
    struct segment_plan plan = {.table = SEGMENT_BANDS, .parameters = {11, 22}};
    for (unsigned i = 0; i < PARTS; i++)
        plan.part_bytes[2 * i] = bytes[i];
    plan.parameters[SEGMENT_PARAMETERS - 1] = UINT64_MAX;
    return plan;
}

static uint8_t content(unsigned part, size_t at)
{
    uint64_t state = part * 1000003u + at;
    return (uint8_t)random_word(&state);
}

struct segment *make_segment(const char *file, bool durable)
{
    struct segment_plan plan = plan_of(part_bytes);
    struct segment_target target = {
        .path = file, .durable = durable, .removed = removed, .removed_count = REMOVED};
    struct segment *segment = NULL;
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_OK);
    for (unsigned i = 0; i < PARTS; i++) {
        uint8_t *at = segment_fill(segment, 2 * i);
        for (size_t j = 0; j < part_bytes[i]; j++) {
            assert_int_equal(at[j], 0);
            at[j] = content(i, j);
        }
    }
    segment->plan.parameters[2] = 33; /* known only now */
    assert_int_equal(segment_seal(segment, NULL), DOPPEL_OK);
    return segment;
}

bool is_whole(const struct segment *segment)
{
    size_t count;
    const uint64_t *gone = segment_removed(segment, &count);
    bool same = count == REMOVED && memcmp(gone, removed, sizeof removed) == 0 &&
                segment->plan.table == SEGMENT_BANDS && segment->plan.parameters[0] == 11 &&
                segment->plan.parameters[2] == 33 &&
                segment->plan.parameters[SEGMENT_PARAMETERS - 1] == UINT64_MAX;
    for (unsigned i = 0; i < PARTS && same; i++) {
        const uint8_t *at = segment->parts[2 * i];
        same = segment->plan.part_bytes[2 * i] == part_bytes[i] && (uintptr_t)at % 4096 == 0;
        segment_touch(segment, at, part_bytes[i]);
        for (size_t j = 0; j < part_bytes[i] && same; j++)
            same = at[j] == content(i, j);
        for (size_t j = 0; j < 64 && same; j++)
            same = at[part_bytes[i] + j] == 0;
    }
    return same;
}

/* ---- children, and the handler of SIGBUS ---- */

int end_of_child(void (*act)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        act();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void read_another_cut_file(void)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        _exit(2);
    volatile uint8_t *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED || ftruncate(fd, 0))
        _exit(3);
    (void)*at;
}

static void exit_4(int number)
{
    (void)number;
    _exit(4);
}

static void read_with_a_handler_before(void)
{
    signal(SIGBUS, exit_4);
    struct segment_plan plan = plan_of(part_bytes);
    struct segment_target target = {.path = path};
    struct segment *segment;
    if (segment_create(&plan, &target, &segment, NULL))
        _exit(5);
    read_another_cut_file();
}

/* cmocka has a handler of SIGBUS of its own in each test: ours is set over it. */
static struct sigaction our_handler;
int end_with_a_handler_before;

int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/one", folder);
    snprintf(temporary, sizeof temporary, "%s/one.new", folder);
    end_with_a_handler_before = end_of_child(read_with_a_handler_before);
    unlink(temporary);
    signal(SIGBUS, SIG_DFL);
    segment_release(make_segment(path, false));
    return sigaction(SIGBUS, NULL, &our_handler);
}

void use_our_handler(void)
{
    assert_int_equal(sigaction(SIGBUS, &our_handler, NULL), 0);
}
