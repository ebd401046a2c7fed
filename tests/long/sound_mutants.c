/* Thousands of mutants of small sounds, each read by a process of its own: sound-mutants [COUNT
 * [SEED]]. Each must be heard or refused; what crashed or hung is counted and kept. */
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/media.h>

#include "sound_mutants.h"

enum { LONGEST_S = 10, REFUSED = 1 };

struct totals {
    unsigned mutants, heard, damaged, refused, crashed, hung;
};

static bool pass(void *context, const struct doppel_samples *samples)
{
    (void)context, (void)samples;
    return true;
}

static _Noreturn void read_mutant(const struct file *mutant)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    struct doppel_samples_info info = {0};
    options.max_seconds = 3600;
    alarm(LONGEST_S);
    enum doppel_status status = doppel_media_read_samples(file_open(mutant->data, mutant->size),
                                                          &options, pass, NULL, &info, NULL);
    _exit(status != DOPPEL_OK ? REFUSED : info.damaged_ms ? 2 : 0);
}

static void keep(const struct file *mutant, unsigned number)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/doppel-killer-%06u.sound", number);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(mutant->data, 1, mutant->size, out) != mutant->size || fclose(out))
        perror(path);
    fprintf(stderr, "kept %s\n", path);
}

static void count_one(struct totals *totals, const struct file *mutant)
{
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        read_mutant(mutant);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(2);
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    bool crashed = !hung && (WIFSIGNALED(status) || WEXITSTATUS(status) > 2);
    totals->hung += hung;
    totals->crashed += crashed;
    if (hung || crashed)
        keep(mutant, totals->mutants);
    else if (WEXITSTATUS(status) == REFUSED)
        totals->refused++;
    else
        totals->heard++;
    totals->damaged += WIFEXITED(status) && WEXITSTATUS(status) == 2;
    totals->mutants++;
}

int main(int argument_count, char **arguments)
{
    unsigned wanted = argument_count > 1 ? (unsigned)atoi(arguments[1]) : 2000;
    uint64_t random = argument_count > 2 ? (uint64_t)atoi(arguments[2]) : 1;
    struct file seeds[SOUND_SEEDS];
    size_t count = sound_seeds(seeds);
    struct totals totals = {0};
    while (totals.mutants < wanted) {
        struct file mutant = sound_mutant(&seeds[totals.mutants % count], &random);
        count_one(&totals, &mutant);
        file_free(&mutant);
    }
    for (size_t i = 0; i < count; i++)
        file_free(&seeds[i]);
    printf("| mutants | formats | heard | of these: damaged | refused | crashed | hung |\n"
           "|---|---|---|---|---|---|---|\n| %u | %zu | %u | %u | %u | %u | %u |\n",
           totals.mutants, count, totals.heard, totals.damaged, totals.refused, totals.crashed,
           totals.hung);
    return totals.crashed || totals.hung;
}
