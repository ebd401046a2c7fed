/* The sweep in portable C, the definition of the other kernels, and the choice among them. */
#include <stdlib.h>

#include "core/cpu.h"

/* Source: Warren, "Hacker's Delight" (2012), 5-1. */
static inline int32_t ones(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int32_t)(word * 0x0101010101010101u >> 56);
}

#include "match/images/sweep_loop.h"

static void sum_groups(const struct sweep_task *task, const struct sweep_row *row,
                       const struct sweep_block *block, size_t lane, int32_t out[SWEEP_GROUPS])
{
    for (int group = 0; group < SWEEP_GROUPS; group++) {
        out[group] = 0;
        for (int i = group * SWEEP_NIBBLES; i < (group + 1) * SWEEP_NIBBLES; i++)
            out[group] += task->tables[row->tables[i] + block->planes[i][lane]];
    }
}

static int32_t join_box_distances(enum sweep_form form, const int32_t sums[SWEEP_GROUPS],
                                  int32_t centre)
{
    const int32_t a = sums[0], b = sums[1], c = sums[2];
    if (form == SWEEP_SUM)
        return a + b + c;
    if (form == SWEEP_FOLD_TWO)
        return a - abs(b + c + centre);
    const int32_t last = c - SWEEP_LAST_BITS;
    return least_of(last - abs(a + b + centre), -last - abs(a - b));
}

static size_t sweep_lanes(enum sweep_form form, const struct sweep_task *task,
                          struct sweep_near *out)
{
    size_t count = 0;
    for (uint32_t row = 0; row < task->row_count; row++)
        for (uint32_t block = 0; block < task->block_count; block++) {
            uint32_t near = 0;
            for (size_t lane = 0; lane < SWEEP_LANES; lane++) {
                int32_t sums[SWEEP_GROUPS];
                sum_groups(task, &task->rows[row], &task->blocks[block], lane, sums);
                near |= (uint32_t)(join_box_distances(form, sums, task->centre) <= task->limit)
                        << lane;
            }
            out[count] = (struct sweep_near){(uint16_t)row, (uint16_t)block, near};
            count += near != 0;
        }
    return count;
}

static size_t sweep_sum(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_lanes(SWEEP_SUM, task, out);
}

static size_t sweep_fold_two(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_lanes(SWEEP_FOLD_TWO, task, out);
}

static size_t sweep_fold_three(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_lanes(SWEEP_FOLD_THREE, task, out);
}

const struct sweep_kernels sweep_portable = {{sweep_sum, sweep_fold_two, sweep_fold_three},
                                             check_sweep_codes};

const struct sweep_kernels *sweep_kernels_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2)
        return &sweep_avx2;
#endif
    return &sweep_portable;
}
