/* A queue of claimed inputs. */
#include "serve/jobs/claims.h"

#include <stdlib.h>
#include <string.h>

static void claimed_input_free(struct claimed_input *claimed)
{
    doppel_record_free(&claimed->record);
    large_buffer_free(&claimed->upload);
    inputs_free(&claimed->inputs);
    free(claimed);
}

static struct active_job *active_job(struct claims *claims, uint64_t id)
{
    for (size_t i = 0; i < claims->job_count; i++)
        if (claims->jobs[i].id == id)
            return &claims->jobs[i];
    return NULL;
}

static void forget_active_job(struct claims *claims, struct active_job *job)
{
    struct active_job *end = &claims->jobs[claims->job_count--];
    memmove(job, job + 1, (size_t)(end - job - 1) * sizeof *job);
}

struct active_job *claims_next_job(struct claims *claims)
{
    if (claims->count == MOST_CLAIMS)
        return NULL;
    for (size_t i = 0; i < claims->job_count; i++) {
        struct active_job *job = &claims->jobs[claims->turn++ % claims->job_count];
        if (job->next < job->inputs && job->claims < MOST_CLAIMS_A_JOB)
            return job;
    }
    return NULL;
}

struct claimed_input *claims_claim(struct claims *claims, struct active_job *job, uint64_t number)
{
    struct claimed_input *claimed = calloc(1, sizeof *claimed);
    if (!claimed)
        return NULL;
    claimed->job = job->id;
    claimed->number = number;
    job->next = number + 1;
    job->claims++;
    claims->queue[claims->count++] = claimed;
    return claimed;
}

struct claimed_input *claims_first_unread(const struct claims *claims)
{
    for (size_t i = 0; i < claims->count; i++)
        if (claims->queue[i]->state == CLAIM_UNREAD)
            return claims->queue[i];
    return NULL;
}

size_t claims_take_ready(struct claims *claims, struct claimed_input *out[MOST_CLAIMS])
{
    uint64_t waiting[MOST_ACTIVE_JOBS]; /* jobs, one of whose inputs is not read yet */
    size_t count = 0, waiting_count = 0;
    for (size_t i = 0; i < claims->count; i++) {
        struct claimed_input *claimed = claims->queue[i];
        size_t job = 0;
        if (claimed->dropped)
            continue;
        while (job < waiting_count && waiting[job] != claimed->job)
            job++;
        if (job < waiting_count)
            continue;
        if (claimed->state == CLAIM_READ) {
            claimed->state = CLAIM_DECIDING;
            out[count++] = claimed;
        } else if (waiting_count < MOST_ACTIVE_JOBS) {
            waiting[waiting_count++] = claimed->job;
        }
    }
    return count;
}

void claims_remove(struct claims *claims, struct claimed_input *claimed)
{
    struct active_job *job = active_job(claims, claimed->job);
    size_t i = 0;
    while (claims->queue[i] != claimed)
        i++;
    claims->count--;
    memmove(&claims->queue[i], &claims->queue[i + 1],
            (claims->count - i) * sizeof claims->queue[0]);
    if (job && !claimed->dropped && !--job->claims && job->next == job->inputs)
        forget_active_job(claims, job);
    claimed_input_free(claimed);
}

void claims_drop_job(struct claims *claims, uint64_t id)
{
    struct active_job *job = active_job(claims, id);
    if (job)
        forget_active_job(claims, job);
    for (size_t i = claims->count; i--;) {
        struct claimed_input *claimed = claims->queue[i];
        if (claimed->job != id)
            continue;
        claimed->dropped = true;
        if (claimed->state == CLAIM_UNREAD || claimed->state == CLAIM_READ)
            claims_remove(claims, claimed);
    }
}

void claims_drop_all(struct claims *claims)
{
    while (claims->job_count)
        claims_drop_job(claims, claims->jobs[0].id);
}
