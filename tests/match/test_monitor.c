/* An endless stream: what is heard in it, from when to when, each once. Streams are made of made
 * recordings, whose places are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>

#include <doppel/match.h>

#include <audio.h>
#include <audio_track.h>

enum { MOST_EVENTS = 256 };

struct log {
    struct doppel_monitor_event events[MOST_EVENTS];
    size_t count;
    double now, lag; /* known of the stream; the longest from a start to its being told */
};

static bool record(void *context, const struct doppel_monitor_event *event)
{
    struct log *log = context;
    assert_true(log->count < MOST_EVENTS);
    log->events[log->count++] = *event;
    if (event->type == DOPPEL_MONITOR_START)
        log->lag = fmax(log->lag, log->now - event->stream_start);
    return true;
}

static void add(struct doppel_recordings *recordings, uint64_t id,
                const struct recording *recording)
{
    struct doppel_audio_track track = audio_track(recording);
    struct doppel_recording peaks = {track.peaks, track.count, (double)track.duration_ms / 1000};
    assert_int_equal(doppel_recordings_add(recordings, id, &peaks, NULL), DOPPEL_OK);
    doppel_audio_track_free(&track);
}

/* Push a recording, `piece` seconds at a time, as it were at `origin` of the stream. */
static void push(struct doppel_monitor *monitor, const struct recording *recording, double origin,
                 double piece, struct log *log)
{
    struct doppel_audio_track track = audio_track(recording);
    double seconds = (double)recording->count / AUDIO_RATE;
    size_t at = 0;
    for (double until = 0; until < seconds;) {
        until = fmin(until + piece, seconds);
        size_t first = at;
        while (at < track.count && track.peaks[at].time < until * AUDIO_RATE *
                                                              DOPPEL_AUDIO_TIME_STEPS /
                                                              DOPPEL_AUDIO_HOP)
            at++;
        log->now = origin + until;
        assert_int_equal(doppel_monitor_push(monitor, track.peaks + first, at - first, origin,
                                             origin + until, record, log, NULL),
                         DOPPEL_OK);
    }
    doppel_audio_track_free(&track);
}

static void print(const struct log *log)
{
    for (size_t i = 0; i < log->count; i++)
        printf("# %d id %2d  %8.3f to %8.3f  item %8.3f  rate %g\n", (int)log->events[i].type,
               (int)log->events[i].id, log->events[i].stream_start, log->events[i].stream_end,
               log->events[i].item_start, log->events[i].false_positive_rate);
}

/* What is played, and where. */
struct play {
    uint64_t id;
    double at, from, to; /* in the stream; in the item */
};

/* Each play has one start and one end, and there is nothing else. Music may pause where it is cut.
 */
static void expect(const struct log *log, const struct play *plays, size_t count, double within)
{
    size_t starts = 0, ends = 0;
    for (size_t i = 0; i < log->count; i++) {
        starts += log->events[i].type == DOPPEL_MONITOR_START;
        ends += log->events[i].type == DOPPEL_MONITOR_END;
    }
    print(log);
    assert_int_equal(starts, count);
    assert_int_equal(ends, count);
    for (size_t i = 0; i < count; i++) {
        const struct play *play = &plays[i];
        int found[2] = {0};
        for (size_t j = 0; j < log->count; j++) {
            const struct doppel_monitor_event *event = &log->events[j];
            if (event->id != play->id || event->type == DOPPEL_MONITOR_GAP ||
                fabs(event->stream_start - play->at) > within ||
                fabs(event->item_start - play->from - (event->stream_start - play->at)) > 0.05)
                continue;
            double late = event->stream_end - (play->at + play->to - play->from);
            bool ended = late <= within && late >= -within - 0.4;
            found[event->type] += event->type == DOPPEL_MONITOR_START || ended;
        }
        if (found[DOPPEL_MONITOR_START] != 1 || found[DOPPEL_MONITOR_END] != 1)
            fail_msg("play of %d at %g", (int)play->id, play->at);
    }
}

/* ---- a station ---- */

enum { TRACKS = 6, JINGLE = 10, JINGLES = 2 };

struct station {
    struct recording tracks[TRACKS], jingles[JINGLES];
    struct doppel_recordings *recordings;
};

static struct station *make_station(void)
{
    struct station *station = calloc(1, sizeof *station);
    assert_int_equal(doppel_recordings_new(&station->recordings, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < TRACKS; i++) {
        station->tracks[i] = audio_music(60, 100 + i);
        add(station->recordings, i, &station->tracks[i]);
    }
    for (uint64_t i = 0; i < JINGLES; i++) {
        station->jingles[i] = audio_music(6, 200 + i);
        add(station->recordings, JINGLE + i, &station->jingles[i]);
    }
    return station;
}

static void free_station(struct station *station)
{
    for (size_t i = 0; i < TRACKS; i++)
        free(station->tracks[i].samples);
    for (size_t i = 0; i < JINGLES; i++)
        free(station->jingles[i].samples);
    doppel_recordings_free(station->recordings);
    free(station);
}

static const struct recording *audio_of(const struct station *station, uint64_t id)
{
    return id >= JINGLE ? &station->jingles[id - JINGLE] : &station->tracks[id];
}

/* Play over what is there. */
static void play_all(struct recording *stream, const struct station *station,
                     const struct play *plays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct recording piece =
            audio_cut(audio_of(station, plays[i].id), plays[i].from, plays[i].to - plays[i].from);
        size_t at = audio_samples(plays[i].at);
        for (size_t j = 0; j < piece.count && at + j < stream->count; j++)
            stream->samples[at + j] += piece.samples[j];
        free(piece.samples);
    }
}

static struct doppel_monitor *monitor_with(const struct doppel_recordings *recordings,
                                           double min_event, bool overlaps)
{
    struct doppel_monitor *monitor = NULL;
    struct doppel_monitor_options options = doppel_monitor_options_default();
    assert_true(options.min_event == 2 && !options.overlaps);
    options.min_event = min_event;
    options.overlaps = overlaps;
    assert_int_equal(doppel_monitor_new(recordings, &options, &monitor, NULL), DOPPEL_OK);
    return monitor;
}

static struct doppel_monitor *new_monitor(const struct doppel_recordings *recordings)
{
    struct doppel_monitor *monitor = NULL;
    assert_int_equal(doppel_monitor_new(recordings, NULL, &monitor, NULL), DOPPEL_OK);
    return monitor;
}

static void listen_with(struct doppel_monitor *monitor, const struct recording *stream,
                        double piece, struct log *log)
{
    *log = (struct log){0};
    push(monitor, stream, 0, piece, log);
    assert_int_equal(doppel_monitor_finish(monitor, record, log, NULL), DOPPEL_OK);
    doppel_monitor_free(monitor);
}

static void listen_to(const struct station *station, const struct recording *stream, double piece,
                      struct log *log)
{
    listen_with(new_monitor(station->recordings), stream, piece, log);
}

/* ---- tests ---- */

/* Tracks one after the other, pauses, a jingle over music, one track twice, a track joined late. */
static void test_playlist(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {
        {2, 0, 20, 50},   {10, 55, 0, 6},  {0, 61, 0, 60},  {11, 90, 0, 6},
        {5, 130, 10, 40}, {0, 160, 0, 30}, {10, 192, 0, 6}, {3, 198, 0, 12.5},
    };
    struct recording stream = audio_noise(215, 77);
    struct log log;
    audio_gain(&stream, 0.05);
    play_all(&stream, station, plays, 8);
    listen_with(monitor_with(station->recordings, 2, true), &stream, 1, &log);
    expect(&log, plays, 8, 0.3);
    assert_true(log.lag < 5);
    free(stream.samples);
}

/* Starts and ends in turn, each end after its start by the least length, no start before an end. */
static void expect_in_turn(const struct log *log, double min_event)
{
    assert_int_equal(log->count % 2, 0);
    for (size_t i = 0; i < log->count; i += 2) {
        const struct doppel_monitor_event *start = &log->events[i], *end = start + 1;
        assert_int_equal(start->type, DOPPEL_MONITOR_START);
        assert_int_equal(end->type, DOPPEL_MONITOR_END);
        assert_int_equal(start->id, end->id);
        assert_true(end->stream_end - end->stream_start > min_event - 0.05);
        assert_true(i == 0 || start->stream_start >= log->events[i - 1].stream_end - 0.001);
    }
}

/* One at a time: a jingle over music is the music; over music that it drowns, it is itself. */
static void test_one_at_a_time(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {{0, 5, 0, 60}, {11, 30, 0, 6}}, rest[] = {{0, 5, 0, 60}};
    static const struct play turns[] = {{0, 5, 0, 30}, {11, 30, 0, 6}, {0, 36, 31, 60}};
    struct recording stream = audio_silence(75);
    struct log log;
    play_all(&stream, station, plays, 2);
    listen_to(station, &stream, 1, &log);
    expect(&log, rest, 1, 0.3);
    listen_with(monitor_with(station->recordings, 2, true), &stream, 1, &log);
    expect(&log, plays, 2, 0.3);
    for (int i = 0; i < 30; i++)
        play_all(&stream, station, plays + 1, 1);
    listen_to(station, &stream, 1, &log);
    print(&log);
    expect_in_turn(&log, 2);
    assert_int_equal(log.count, 6);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(log.events[2 * i].id, turns[i].id);
        assert_true(fabs(log.events[2 * i].stream_start - turns[i].at) < 1.5);
    }
    free(stream.samples);
}

/* Two copies in the library: one of them is told. */
static void test_copies(void **state)
{
    (void)state;
    struct recording track = audio_music(60, 500), stream = audio_noise(90, 5);
    struct doppel_recordings *recordings;
    struct log log;
    assert_int_equal(doppel_recordings_new(&recordings, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < 2; i++)
        add(recordings, i, &track);
    audio_gain(&stream, 0.02);
    audio_paste(&stream, 10, &track);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        listen_with(monitor_with(recordings, 2, overlaps), &stream, 1, &log);
        print(&log);
        assert_int_equal(log.count, overlaps ? 4 : 2);
    }
    doppel_recordings_free(recordings);
    free(stream.samples);
    free(track.samples);
}

/* Pieces of one to nine seconds that follow each other: those that last are told, once. */
static void test_least_event(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {
        {2, 0, 20, 23},   {3, 3, 5, 6.4},      {4, 4.4, 30, 38}, {0, 12.4, 40, 41.8},
        {1, 14.2, 3, 12}, {1, 23.2, 40, 41.5}, {5, 24.7, 7, 16},
    };
    static const struct {
        double min_event;
        size_t least, most;
    } cases[] = {{0, 4, 7}, {2, 4, 4}, {5, 3, 3}, {8, 2, 2}, {20, 0, 0}};
    struct recording stream = audio_silence(45);
    play_all(&stream, station, plays, 7);
    for (int i = 0; i < 5; i++)
        for (int overlaps = 0; overlaps < 2; overlaps++) {
            struct log log;
            listen_with(monitor_with(station->recordings, cases[i].min_event, overlaps), &stream, 1,
                        &log);
            print(&log);
            assert_in_range(log.count, 2 * cases[i].least, 2 * cases[i].most);
            if (!overlaps)
                expect_in_turn(&log, cases[i].min_event);
        }
    free(stream.samples);
}

/* However the stream is cut into calls, the events are the same. */
static void test_pieces(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {{1, 3, 0, 40}, {10, 50, 0, 6}, {4, 60, 5, 25}};
    struct recording stream = audio_noise(90, 78);
    struct log logs[4];
    double pieces[] = {1, 0.1, 3.7, 1000};
    audio_gain(&stream, 0.05);
    play_all(&stream, station, plays, 3);
    for (int i = 0; i < 4; i++) {
        listen_to(station, &stream, pieces[i], &logs[i]);
        expect(&logs[i], plays, 3, 0.2);
        assert_int_equal(logs[i].count, logs[0].count);
        for (size_t j = 0; j < logs[0].count; j++)
            assert_true(logs[i].events[j].stream_start == logs[0].events[j].stream_start &&
                        logs[i].events[j].item_start == logs[0].events[j].item_start);
    }
    free(stream.samples);
}

/* In loud noise, and a speaker over it for a while: still once. */
static void test_noise(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {{1, 10, 0, 60}, {4, 90, 0, 60}};
    struct recording stream = audio_silence(160), talk = audio_speech(12, 5);
    struct log log;
    play_all(&stream, station, plays, 2);
    audio_add_noise(&stream, 0, 3);
    for (size_t i = 0; i < talk.count; i++)
        stream.samples[audio_samples(110) + i] += 2 * talk.samples[i];
    listen_to(station, &stream, 1, &log);
    expect(&log, plays, 2, 1);
    free(talk.samples);
    free(stream.samples);
}

/* The same track goes on from elsewhere: an end, and a start. */
static void test_jump(void **state)
{
    struct station *station = *state;
    static const struct play plays[] = {{3, 5, 0, 25}, {3, 30, 40, 60}, {3, 50, 10, 30}};
    struct recording stream = audio_silence(80);
    struct log log;
    play_all(&stream, station, plays, 3);
    listen_to(station, &stream, 1, &log);
    expect(&log, plays, 3, 0.3);
    free(stream.samples);
}

/* A track that is a loop lies along many lines, and is heard once. */
static void test_loop(void **state)
{
    (void)state;
    struct recording loop = audio_music(8, 300), track = audio_silence(64);
    struct doppel_recordings *recordings;
    struct log log = {0};
    assert_int_equal(doppel_recordings_new(&recordings, NULL), DOPPEL_OK);
    for (int i = 0; i < 8; i++)
        audio_paste(&track, i * 8, &loop);
    add(recordings, 1, &track);
    struct doppel_monitor *monitor = new_monitor(recordings);
    struct recording stream = audio_noise(90, 4);
    audio_gain(&stream, 0.02);
    audio_paste(&stream, 10, &track);
    push(monitor, &stream, 0, 1, &log);
    assert_int_equal(doppel_monitor_finish(monitor, record, &log, NULL), DOPPEL_OK);
    print(&log);
    assert_int_equal(log.count, 2);
    assert_true(fabs(log.events[1].stream_start - 10) < 0.2);
    assert_true(fabs(log.events[1].stream_end - 74) < 0.2);
    doppel_monitor_free(monitor);
    doppel_recordings_free(recordings);
    free(stream.samples);
    free(track.samples);
    free(loop.samples);
}

/* Played faster, and higher. */
static void test_speed(void **state)
{
    struct station *station = *state;
    static const double factors[] = {1.03, 0.98, 1.002};
    for (int i = 0; i < 3; i++) {
        struct recording stream = audio_silence(90);
        struct recording fast = audio_speed(&station->tracks[2], factors[i]);
        struct log log;
        audio_paste(&stream, 10, &fast);
        listen_to(station, &stream, 1, &log);
        print(&log);
        assert_int_equal(log.count, 2);
        assert_int_equal(log.events[1].id, 2);
        assert_true(fabs(log.events[1].stream_start - 10) < 0.5);
        assert_true(fabs(log.events[1].stream_end - 10 - 60 / factors[i]) < 0.5);
        free(fast.samples);
        free(stream.samples);
    }
}

/* What was heard ends at a gap, and begins anew after it. */
static void test_gap(void **state)
{
    struct station *station = *state;
    struct recording first = audio_cut(&station->tracks[1], 0, 20);
    struct recording second = audio_cut(&station->tracks[1], 25, 20);
    struct doppel_monitor *monitor = new_monitor(station->recordings);
    struct log log = {0};
    static const struct play plays[] = {{1, 100, 0, 20}, {1, 125, 25, 45}};
    push(monitor, &first, 100, 1, &log);
    assert_int_equal(doppel_monitor_gap(monitor, 120, 125, record, &log, NULL), DOPPEL_OK);
    push(monitor, &second, 125, 1, &log);
    assert_int_equal(doppel_monitor_finish(monitor, record, &log, NULL), DOPPEL_OK);
    expect(&log, plays, 2, 0.2);
    assert_int_equal(log.count, 5);
    assert_int_equal(log.events[2].type, DOPPEL_MONITOR_GAP);
    assert_true(log.events[2].stream_start == 120 && log.events[2].stream_end == 125);
    doppel_monitor_free(monitor);
    free(first.samples);
    free(second.samples);
}

/* Items that come are heard, items that go end. */
static void test_exchange(void **state)
{
    (void)state;
    struct recording track = audio_music(90, 400), other = audio_music(30, 401);
    struct doppel_recordings *sets[3];
    struct log log = {0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(doppel_recordings_new(&sets[i], NULL), DOPPEL_OK);
        add(sets[i], 9, &other);
    }
    add(sets[1], 1, &track);
    struct doppel_monitor *monitor = new_monitor(sets[0]);
    for (int i = 0; i < 3; i++) {
        struct recording third = audio_cut(&track, i * 30, 30);
        doppel_monitor_exchange(monitor, sets[i]);
        push(monitor, &third, i * 30, 1, &log);
        free(third.samples);
        assert_int_equal(log.count, i == 0 ? 0 : i);
    }
    print(&log);
    assert_true(log.events[0].stream_start > 15 && log.events[0].stream_start < 31);
    assert_int_equal(log.events[1].type, DOPPEL_MONITOR_END);
    assert_true(fabs(log.events[1].stream_end - 60) < 2);
    doppel_monitor_free(monitor);
    for (int i = 0; i < 3; i++)
        doppel_recordings_free(sets[i]);
    free(track.samples);
    free(other.samples);
}

/* Silence, tones, and recordings that nobody knows. */
static void test_no_alarm(void **state)
{
    struct station *station = *state;
    struct doppel_monitor *monitor = new_monitor(station->recordings);
    struct log log = {0};
    double origin = 0;
    for (uint64_t i = 0; i < 3; i++) {
        struct recording recordings[] = {audio_music(60, 1000 + i), audio_speech(60, 2000 + i),
                                         audio_noise(20, i), audio_silence(20),
                                         audio_tone(10, 300 + 55 * (double)i)};
        for (int j = 0; j < 5; j++) {
            push(monitor, &recordings[j], origin, 1, &log);
            origin += (double)recordings[j].count / AUDIO_RATE;
            free(recordings[j].samples);
        }
    }
    assert_int_equal(doppel_monitor_finish(monitor, record, &log, NULL), DOPPEL_OK);
    print(&log);
    assert_int_equal(log.count, 0);
    doppel_monitor_free(monitor);
}

/* Half an hour of the same playlist take no more memory than its first minutes, and times do not
 * drift. */
static void test_hours(void **state)
{
    struct station *station = *state;
    enum { ROUNDS = 30, MINUTE = 60 };
    static const struct play plays[] = {{2, 2, 0, 20}, {10, 25, 0, 6}};
    struct recording stream = audio_noise(MINUTE, 7);
    audio_gain(&stream, 0.05);
    play_all(&stream, station, plays, 2);
    struct doppel_audio_track track = audio_track(&stream);
    struct doppel_monitor *monitor = new_monitor(station->recordings);
    size_t before = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct log log = {0};
        double origin = 2e7 + i * MINUTE;
        assert_int_equal(doppel_monitor_push(monitor, track.peaks, track.count, origin,
                                             origin + MINUTE, record, &log, NULL),
                         DOPPEL_OK);
        assert_int_equal(log.count, 4);
        assert_true(fabs(log.events[0].stream_start - origin - 2) < 0.1);
        if (i == ROUNDS / 10)
            before = mallinfo2().uordblks;
    }
    assert_true(mallinfo2().uordblks <= before + 65536);
    doppel_monitor_free(monitor);
    doppel_audio_track_free(&track);
    free(stream.samples);
}

static bool refuse(void *context, const struct doppel_monitor_event *event)
{
    (void)event;
    return --*(int *)context > 0;
}

/* A visitor that has enough ends the call, and the monitor can be freed. */
static void test_cancel(void **state)
{
    struct station *station = *state;
    struct doppel_audio_track track = audio_track(&station->tracks[0]);
    for (int most = 1; most <= 2; most++) {
        struct doppel_monitor *monitor = new_monitor(station->recordings);
        int left = most;
        enum doppel_status status =
            doppel_monitor_push(monitor, track.peaks, track.count, 0, 60, refuse, &left, NULL);
        if (!status)
            status = doppel_monitor_finish(monitor, refuse, &left, NULL);
        assert_int_equal(status, DOPPEL_E_CANCELLED);
        doppel_monitor_free(monitor);
    }
    doppel_audio_track_free(&track);
}

static int set_up(void **state)
{
    *state = make_station();
    return 0;
}

static int tear_down(void **state)
{
    free_station(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_playlist), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_noise),    cmocka_unit_test(test_jump),
        cmocka_unit_test(test_loop),     cmocka_unit_test(test_speed),
        cmocka_unit_test(test_gap),      cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_no_alarm), cmocka_unit_test(test_hours),
        cmocka_unit_test(test_cancel),   cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_copies),   cmocka_unit_test(test_least_event),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
