/* Thousands of mutants of small recordings or videos, each read by a process of its own:
 * container-mutants recordings|videos [COUNT [SEED]]. Each must be read or refused; what crashed or
 * hung is counted and kept. */
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/media.h>

#include "video_mutants.h"
#include "audio_mutants.h"

enum { LONGEST_S = 10, REFUSED = 1, MOST_SEEDS = 32 };

_Static_assert((int)MOST_SEEDS >= (int)AUDIO_SEEDS && (int)MOST_SEEDS >= (int)VIDEO_SEEDS, "room");

struct totals {
    unsigned mutants, read, damaged, refused, crashed, hung;
};

static bool pass_audio(void *context, const struct doppel_samples *samples)
{
    (void)context, (void)samples;
    return true;
}

static bool pass_frame(void *context, const struct doppel_frame *frame)
{
    (void)context, (void)frame;
    return true;
}

static enum doppel_status read_audio(int fd, uint64_t *out_damaged_ms)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    struct doppel_samples_info info = {0};
    options.max_seconds = 3600;
    enum doppel_status status =
        doppel_media_read_samples(fd, &options, pass_audio, NULL, &info, NULL);
    *out_damaged_ms = info.damaged_ms;
    return status;
}

/* Fast, in full, and from a moment on. */
static enum doppel_status read_video(int fd, unsigned number, uint64_t *out_damaged_ms)
{
    struct doppel_frames_options options = doppel_frames_options_default();
    struct doppel_frames_info info = {0};
    options.keyframes = number % 3 == 0;
    options.from_ms = number % 4 == 0 ? 1500 : 0;
    options.step_ms = number % 5 == 0 ? 0 : 250;
    enum doppel_status status =
        doppel_media_read_frames(fd, &options, pass_frame, NULL, &info, NULL);
    *out_damaged_ms = info.damaged_ms;
    return status;
}

static _Noreturn void read_mutant(const struct file *mutant, bool clips, unsigned number)
{
    uint64_t damaged_ms = 0;
    alarm(LONGEST_S);
    int fd = file_open(mutant->data, mutant->size);
    enum doppel_status status =
        clips ? read_video(fd, number, &damaged_ms) : read_audio(fd, &damaged_ms);
    _exit(status != DOPPEL_OK ? REFUSED : damaged_ms ? 2 : 0);
}

static void keep(const struct file *mutant, unsigned number)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/doppel-killer-%06u", number);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(mutant->data, 1, mutant->size, out) != mutant->size || fclose(out))
        perror(path);
    fprintf(stderr, "kept %s\n", path);
}

static void count_one(struct totals *totals, const struct file *mutant, bool clips)
{
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        read_mutant(mutant, clips, totals->mutants);
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
        totals->read++;
    totals->damaged += WIFEXITED(status) && WEXITSTATUS(status) == 2;
    totals->mutants++;
}

int main(int argument_count, char **arguments)
{
    bool clips = argument_count > 1 && !strcmp(arguments[1], "films");
    if (argument_count < 2 || (!clips && strcmp(arguments[1], "sounds") != 0)) {
        fprintf(stderr, "usage: %s recordings|videos [COUNT [SEED]]\n", arguments[0]);
        return 2;
    }
    unsigned wanted = argument_count > 2 ? (unsigned)atoi(arguments[2]) : 2000;
    uint64_t random = argument_count > 3 ? (uint64_t)atoi(arguments[3]) : 1;
    struct file seeds[MOST_SEEDS];
    size_t count = clips ? video_seeds(seeds) : audio_seeds(seeds);
    struct totals totals = {0};
    while (totals.mutants < wanted) {
        struct file mutant = file_mutant(&seeds[totals.mutants % count], &random);
        count_one(&totals, &mutant, clips);
        file_free(&mutant);
    }
    for (size_t i = 0; i < count; i++)
        file_free(&seeds[i]);
    printf("| mutants | formats | read | of these: damaged | refused | crashed | hung |\n"
           "|---|---|---|---|---|---|---|\n| %u | %zu | %u | %u | %u | %u | %u |\n",
           totals.mutants, count, totals.read, totals.damaged, totals.refused, totals.crashed,
           totals.hung);
    return totals.crashed || totals.hung;
}
