/* audio_monitor DIR: false alarms of a monitor that hears hours of tracks which its library does
 * not have, how soon and how well it tells those that it has, and what that costs. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "ask.h"

static const char USAGE[] =
    "usage: audio_monitor [OPTION...] DIR\n"
    "  --hours H           of unknown tracks that are heard (default 3)\n"
    "  --plays N           pieces of known tracks that are played, each edit (default 100)\n"
    "  --seconds S         of a piece (default 20)\n"
    "  --pause S           between two pieces (default 8)\n"
    "  --alarms X          limit of false alarms an hour (default .01)\n"
    "  --most SECONDS      of each track (default 600)\n"
    "  --seed N            of pieces and noise (default 1)\n"
    "Each track is held out of one of four libraries, and stands in the others.\n";

enum { PAUSE_SECONDS = 3, LEVELS = 7, MOST_EVENTS = 10000 };

struct settings {
    double hours, seconds, pause, alarms, most_seconds;
    size_t plays;
    uint64_t seed;
    const char *folder;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {
        {"hours", required_argument, NULL, 'h'},   {"plays", required_argument, NULL, 'p'},
        {"seconds", required_argument, NULL, 's'}, {"pause", required_argument, NULL, 'b'},
        {"alarms", required_argument, NULL, 'a'},  {"most", required_argument, NULL, 'm'},
        {"seed", required_argument, NULL, 'r'},    {NULL, 0, NULL, 0}};
    *out = (struct settings){.hours = 3,
                             .seconds = 20,
                             .pause = 8,
                             .alarms = .01,
                             .most_seconds = 600,
                             .plays = 100,
                             .seed = 1};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        double value = option == '?' ? 0 : strtod(optarg, NULL);
        if (option == 'h')
            out->hours = value;
        else if (option == 's')
            out->seconds = value;
        else if (option == 'b')
            out->pause = value;
        else if (option == 'a')
            out->alarms = value;
        else if (option == 'm')
            out->most_seconds = value;
        else if (option == 'p')
            out->plays = (size_t)value;
        else if (option == 'r')
            out->seed = (uint64_t)value;
        else
            return false;
    }
    out->folder = argv[optind];
    return optind + 1 == argc;
}

/* ---- a monitor that hears one recording after the other ---- */

struct hearing {
    struct doppel_monitor *monitor;
    double at, now; /* seconds of the stream: where this recording began; what is pushed */
    double pause;   /* between two recordings */
    double cpu;
    doppel_monitor_visitor *visitor;
};

static void push(struct hearing *hearing, const struct doppel_audio_track *track, void *context)
{
    double seconds = (double)track->duration_ms / 1000,
           began = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    size_t next = 0;
    for (double until = 0; until < seconds;) {
        size_t first = next;
        until = fmin(until + 1, seconds);
        while (next < track->count && track->peaks[next].time < until * AUDIO_RATE /
                                                                    DOPPEL_AUDIO_HOP *
                                                                    DOPPEL_AUDIO_TIME_STEPS)
            next++;
        hearing->now = hearing->at + until;
        if (doppel_monitor_push(hearing->monitor, track->peaks + first, next - first, hearing->at,
                                hearing->now, hearing->visitor, context, NULL))
            abort();
    }
    hearing->cpu += bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
    hearing->at = hearing->now + hearing->pause;
}

static void begin(struct hearing *hearing, const struct doppel_recordings *recordings,
                  double alarms, doppel_monitor_visitor *visitor)
{
    struct doppel_monitor_options options = doppel_monitor_options_default();
    options.max_false_alarms = alarms;
    *hearing = (struct hearing){.visitor = visitor, .pause = PAUSE_SECONDS};
    if (doppel_monitor_new(recordings, &options, &hearing->monitor, NULL))
        abort();
}

static void finish(struct hearing *hearing, void *context)
{
    if (doppel_monitor_finish(hearing->monitor, hearing->visitor, context, NULL))
        abort();
    doppel_monitor_free(hearing->monitor);
}

/* ---- unknown tracks ---- */

static const double levels[LEVELS] = {10, 3, 1, .3, .1, .03, .01};

struct alarms {
    const struct tracks *tracks;
    const struct track *playing;
    const struct hearing *hearing;
    size_t counts[LEVELS]; /* that would be reported at each limit */
};

/* What the track shares with one that is known is rightly told. */
static bool is_shared(const struct alarms *alarms, double start)
{
    double at = start - alarms->hearing->at;
    size_t second = at > 0 ? (size_t)at : 0;
    return second < tracks_whole_seconds(alarms->playing) && alarms->playing->shared[second];
}

static bool count_alarm(void *context, const struct doppel_monitor_event *event)
{
    struct alarms *alarms = context;
    if (event->type != DOPPEL_MONITOR_START || is_shared(alarms, event->stream_start))
        return true;
    printf("  %s at %.1f s: %s at %.1f s, rate %.2g\n", alarms->playing->name,
           event->stream_start - alarms->hearing->at, alarms->tracks->list[event->id].name,
           event->item_start, event->false_positive_rate);
    for (int i = 0; i < LEVELS; i++)
        alarms->counts[i] += event->false_positive_rate <= levels[i] / DOPPEL_MONITOR_LOOKUPS;
    return true;
}

static void hear_unknown(const struct settings *settings, struct tracks *tracks)
{
    double heard = 0, cpu = 0, known = 0;
    struct alarms alarms = {.tracks = tracks};
    printf("false alarms, at a limit of %g an hour:\n", levels[0]);
    mark_shared(tracks);
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        struct doppel_recordings *recordings = index_fold(tracks, fold, 1);
        struct hearing hearing;
        begin(&hearing, recordings, levels[0], count_alarm);
        alarms.hearing = &hearing;
        for (size_t i = 0; i < tracks->count; i++) {
            if (track_role(&tracks->list[i], fold) != ROLE_NEGATIVE ||
                hearing.now > settings->hours * 3600 / FOLDS)
                continue;
            alarms.playing = &tracks->list[i];
            push(&hearing, &tracks->list[i].peaks, &alarms);
        }
        finish(&hearing, &alarms);
        heard += hearing.now;
        cpu += hearing.cpu;
        known += doppel_recordings_seconds(recordings) / FOLDS;
        doppel_recordings_free(recordings);
    }
    printf("%.2f hours heard against %.1f hours, %.0f x real time (one core, without decoding and "
           "analysis)\n",
           heard / 3600, known / 3600, heard / cpu);
    for (int i = 0; i < LEVELS; i++)
        printf("  limit %5g an hour: %.3f an hour (%zu)\n", levels[i],
               (double)alarms.counts[i] * 3600 / heard, alarms.counts[i]);
}

/* ---- known tracks ---- */

struct play {
    uint64_t id;
    double at, from, to;
};

struct note {
    struct doppel_monitor_event event;
    double now; /* when it was told */
};

struct plays {
    const struct hearing *hearing;
    const struct settings *settings;
    struct play *list;
    size_t count;
    struct note *notes;
    size_t note_count;
};

static bool note_event(void *context, const struct doppel_monitor_event *event)
{
    struct plays *plays = context;
    if (plays->note_count == MOST_EVENTS)
        abort();
    plays->notes[plays->note_count++] = (struct note){*event, plays->hearing->now};
    return true;
}

/* What became of the plays. */
struct scores {
    size_t found, ended;
    size_t twice;              /* a play that was told before */
    size_t elsewhere;          /* its item, at another place of it: loops */
    size_t wrong;              /* another item */
    size_t brief, overlapping; /* events under the least length; two of one item at once */
    double *delays, *starts, *ends;
};

static const struct play *play_at(const struct plays *plays, double time)
{
    for (size_t i = 0; i < plays->count; i++)
        if (time > plays->list[i].at - 1 &&
            time < plays->list[i].at + plays->list[i].to - plays->list[i].from - .5)
            return &plays->list[i];
    return NULL;
}

static bool is_on_line(const struct play *play, const struct doppel_monitor_event *event)
{
    double line = event->item_start - play->from - (event->stream_start - play->at);
    return event->id == play->id && fabs(line) < 1;
}

static void score_start(const struct plays *plays, const struct note *note, bool *told,
                        struct scores *scores)
{
    const struct doppel_monitor_event *event = &note->event;
    const struct play *play = play_at(plays, event->stream_start);
    if (play && is_on_line(play, event)) {
        scores->twice += told[play - plays->list];
        if (told[play - plays->list])
            return;
        scores->delays[scores->found] = note->now - play->at;
        scores->starts[scores->found++] = fabs(event->stream_start - play->at);
        told[play - plays->list] = true;
    } else if (play && event->id == play->id)
        scores->elsewhere++;
    else
        scores->wrong++;
}

static void score_end(const struct plays *plays, const struct note *note, struct scores *scores)
{
    const struct doppel_monitor_event *event = &note->event;
    const struct play *play = play_at(plays, event->stream_start);
    if (play && is_on_line(play, event))
        scores->ends[scores->ended++] =
            fabs(event->stream_end - play->at - plays->settings->seconds);
    scores->brief += event->stream_end - event->stream_start < 1.9;
    for (const struct note *other = plays->notes; other < note; other++)
        scores->overlapping += other->event.type == DOPPEL_MONITOR_END &&
                               other->event.id == event->id &&
                               other->event.stream_end > event->stream_start + .001;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, by_value);
    return count ? values[(size_t)(part * (double)(count - 1))] : NAN;
}

static void print_plays(const char *name, const struct plays *plays)
{
    size_t most = plays->note_count + 1;
    bool *told = calloc(plays->count + 1, sizeof *told);
    struct scores scores = {.delays = calloc(most, sizeof(double)),
                            .starts = calloc(most, sizeof(double)),
                            .ends = calloc(most, sizeof(double))};
    for (size_t i = 0; i < plays->note_count; i++)
        if (plays->notes[i].event.type == DOPPEL_MONITOR_START)
            score_start(plays, &plays->notes[i], told, &scores);
        else
            score_end(plays, &plays->notes[i], &scores);
    printf("%-12s %5.1f %%  %5.2f %5.2f   %5.2f %5.2f   %5.2f %5.2f   %5zu %5zu %5zu %5zu %5zu\n",
           name, 100 * (double)scores.found / (double)plays->count,
           quantile(scores.delays, scores.found, .5), quantile(scores.delays, scores.found, .95),
           quantile(scores.starts, scores.found, .5), quantile(scores.starts, scores.found, .95),
           quantile(scores.ends, scores.ended, .5), quantile(scores.ends, scores.ended, .95),
           scores.twice, scores.elsewhere, scores.wrong, scores.brief, scores.overlapping);
    free(told);
    free(scores.delays);
    free(scores.starts);
    free(scores.ends);
}

/* White noise at so many decibels below the music; NAN: none. */
static struct doppel_audio_track noisy_peaks(const struct track *track, double start,
                                             double seconds, double decibels, struct random *random)
{
    struct recording piece = audio_part(&track->audio, start, seconds);
    struct recording noise = audio_new(piece.count);
    for (size_t j = 0; j < noise.count; j++)
        noise.data[j] = (float)random_between(random, -1, 1);
    if (isfinite(decibels))
        audio_add(&piece, &noise, decibels);
    struct doppel_audio_track peaks = peaks_of(&piece);
    audio_free(&noise);
    audio_free(&piece);
    return peaks;
}

static void hear_known(const struct settings *settings, const struct tracks *tracks,
                       const struct doppel_recordings *recordings, const char *name,
                       double decibels)
{
    struct random random = random_seeded(settings->seed, name, "monitor");
    struct hearing hearing;
    struct plays plays = {.hearing = &hearing,
                          .settings = settings,
                          .list = calloc(settings->plays, sizeof *plays.list),
                          .notes = calloc(MOST_EVENTS, sizeof *plays.notes)};
    begin(&hearing, recordings, settings->alarms, note_event);
    hearing.pause = settings->pause;
    for (size_t i = 0; i < settings->plays; i++) {
        double start = 0;
        const struct track *track =
            tracks_draw_clip(tracks, 0, ROLE_INDEXED, settings->seconds, &random, &start);
        if (!track)
            continue;
        struct doppel_audio_track peaks =
            noisy_peaks(track, start, settings->seconds, decibels, &random);
        plays.list[plays.count++] = (struct play){.id = (uint64_t)(track - tracks->list),
                                                  .at = hearing.at,
                                                  .from = start,
                                                  .to = start + settings->seconds};
        push(&hearing, &peaks, &plays);
        doppel_audio_track_free(&peaks);
    }
    finish(&hearing, &plays);
    print_plays(name, &plays);
    free(plays.list);
    free(plays.notes);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct tracks tracks = {0};
    if (!parse(argc, argv, &settings) ||
        !tracks_read(&tracks, settings.folder, settings.most_seconds)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (settings.hours > 0)
        hear_unknown(&settings, &tracks);
    if (settings.plays) {
        struct doppel_recordings *recordings = index_fold(&tracks, 0, 1);
        printf("%g-s pieces of known tracks (n = %zu), limit %g an hour; seconds, median and 95 "
               "%%\n%-12s   found   told after   start off by    end off by    twice  loop wrong "
               "brief overlapping\n",
               settings.seconds, settings.plays, settings.alarms, "");
        hear_known(&settings, &tracks, recordings, "clean", NAN);
        hear_known(&settings, &tracks, recordings, "white +6 dB", 6);
        hear_known(&settings, &tracks, recordings, "white 0 dB", 0);
        doppel_recordings_free(recordings);
    }
    tracks_free(&tracks);
    return 0;
}
