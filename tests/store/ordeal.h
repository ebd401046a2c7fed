/* Writers that are killed, and disks that lose power. */
#ifndef TESTS_STORE_ORDEAL_H
#define TESTS_STORE_ORDEAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int out;
};

/** Start kept_process HOW FOLDER; with a shadow, on a disk that can lose power. */
struct process process_start(const char *how, const char *folder, const char *shadow);

/** Kill a writer at a random moment after it has acknowledged up to `most` transactions. @return
 * how many it acknowledged in all; fails the test when it ended by itself */
uint64_t process_kill(struct process *process, unsigned most);

/** That it still runs; then end it. */
void process_end_reader(struct process *process);

/** How many transactions the index of the folder holds: it opens, to write and to read, and is
 * whole. */
uint64_t state_of(const char *folder);

/** `rounds` writers, one after the other, are killed, while a reader watches: nothing acknowledged
 * is lost. @return transactions in the end */
uint64_t ordeal_of_kills(const char *folder, unsigned rounds);

/** One durable writer in FOLDER, made in it anew, whose power is cut. @return acknowledged
 * transactions */
uint64_t ordeal_of_power(const char *folder, bool lucky);

#endif
