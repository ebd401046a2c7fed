/* The times of a video's frames: from its first one on, ascending, whatever the container says. */
#include "media/video/video.h"

/* Jumps beyond are closed, as are those that go back by more than a decoder's disorder. */
static const int64_t MAX_JUMP_US = INT64_C(3600) * 1000000, MAX_BACK_US = 1000000;

/* Presentation times beyond are no times: 1000 years. */
static const int64_t MAX_US = INT64_C(1000) * 366 * 86400 * 1000000;

int64_t video_us(int64_t time, AVRational base)
{
    if (time == AV_NOPTS_VALUE || base.num <= 0 || base.den <= 0)
        return INT64_MIN;
    int64_t us = av_rescale_q(time, base, AV_TIME_BASE_Q);
    return us > MAX_US || us < -MAX_US ? INT64_MIN : us;
}

bool video_clock_time(struct video_clock *clock, int64_t at_us, int64_t *out_us)
{
    bool is_told = at_us != INT64_MIN;
    int64_t next_us = clock->begun ? clock->last_us + clock->frame_us : 0;
    if (!clock->begun && is_told)
        clock->origin_us = at_us;
    int64_t us = is_told ? at_us - clock->origin_us : next_us;
    int64_t step_us = us - clock->last_us;
    if (clock->begun && !clock->moved && (step_us > MAX_JUMP_US || step_us < -MAX_BACK_US)) {
        clock->origin_us += us - next_us;
        us = next_us;
    } else if (clock->begun && !clock->moved && step_us < 0) {
        return false;
    }
    clock->begun = true;
    clock->moved = false;
    clock->last_us = us;
    *out_us = us;
    return true;
}
