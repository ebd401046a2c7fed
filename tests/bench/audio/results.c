/* The table: recall under the two kinds of limits, and false positives. */
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heard.h"

const struct stranger_kind stranger_kinds[STRANGER_KINDS] = {
    {"clean, .5 s", NULL, 0, .5},
    {"clean, 1 s", NULL, 0, 1},
    {"clean, 2 s", NULL, 0, 2},
    {"clean, 3 s", NULL, 0, 3},
    {"clean, 5 s", NULL, 0, 5},
    {"clean, 10 s", NULL, 0, 10},
    {"babble 0 dB, 5 s", edit_babble, 0, 5},
    {"only babble, 5 s", edit_babble, -60, 5},
    {"whole tracks", NULL, 0, 0},
};

static const double SET_RATE = .01; /* of false positives, that limits are set for */

static void *grown(void *list, size_t count, size_t size)
{
    if (count & (count - 1))
        return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list)
        abort();
    return list;
}

void results_add(struct results *results, int cell, const struct outcome *outcome)
{
    size_t *count = &results->outcome_counts[cell];
    results->outcomes[cell] = grown(results->outcomes[cell], *count, sizeof *outcome);
    results->outcomes[cell][(*count)++] = *outcome;
}

void results_add_stranger(struct results *results, int kind, const struct stranger *stranger)
{
    size_t *count = &results->stranger_counts[kind];
    results->strangers[kind] = grown(results->strangers[kind], *count, sizeof *stranger);
    results->strangers[kind][(*count)++] = *stranger;
}

void results_free(struct results *results)
{
    for (int i = 0; i < 32; i++)
        free(results->outcomes[i]);
    for (int i = 0; i < STRANGER_KINDS; i++)
        free(results->strangers[i]);
}

/* ---- limits ---- */

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/** It is no unrelated item to what was found: both hold one waveform. */
static bool is_related(const struct stranger *stranger)
{
    return stranger->alike >= HEARD_ALIKE;
}

/** The strength that at most SET_RATE of the unrelated items of the setting half exceed. */
static double set_limit(const struct results *results, int kind)
{
    size_t count = 0;
    double *strengths = calloc(results->stranger_counts[kind] + 1, sizeof *strengths);
    for (size_t i = 0; i < results->stranger_counts[kind]; i++) {
        const struct stranger *stranger = &results->strangers[kind][i];
        if (!stranger->track->reported && !is_related(stranger))
            strengths[count++] = stranger->answer.strength;
    }
    qsort(strengths, count, sizeof *strengths, descending);
    double limit = count ? strengths[(size_t)(SET_RATE * (double)count)] : INFINITY;
    free(strengths);
    return limit;
}

/** % of the unrelated items of the reported half that exceed a limit. */
static double false_share(const struct results *results, int kind, double limit)
{
    size_t count = 0, hits = 0;
    for (size_t i = 0; i < results->stranger_counts[kind]; i++) {
        const struct stranger *stranger = &results->strangers[kind][i];
        if (!stranger->track->reported || is_related(stranger))
            continue;
        count++;
        hits += stranger->answer.strength > limit;
    }
    return count ? 100 * (double)hits / (double)count : 0;
}

int kind_of_length(double seconds)
{
    for (int i = 0; i < STRANGER_KINDS; i++)
        if (!stranger_kinds[i].apply && fabs(stranger_kinds[i].seconds - seconds) < .01)
            return i;
    return 0;
}

/* ---- printing ---- */

/** Of the right matches of a cell, how alike the least tenth is, and half of them. */
static void similarities(const struct results *results, int cell, double *tenth, double *half)
{
    size_t count = 0;
    double *list = calloc(results->outcome_counts[cell] + 1, sizeof *list);
    for (size_t i = 0; i < results->outcome_counts[cell]; i++) {
        const struct outcome *outcome = &results->outcomes[cell][i];
        if (outcome->right && outcome->answer.match)
            list[count++] = outcome->answer.similarity;
    }
    qsort(list, count, sizeof *list, descending);
    *tenth = count ? list[count - 1 - count / 10] : 0;
    *half = count ? list[count / 2] : 0;
    free(list);
}

static void print_cell(const struct results *results, int cell)
{
    size_t count = results->outcome_counts[cell];
    if (!count)
        return;
    double limit = set_limit(results, kind_of_length(cells[cell].seconds)), tenth, half;
    size_t top = 0, set = 0, stated = 0, wrong = 0, near = 0, shared = 0, peer = 0;
    for (size_t i = 0; i < count; i++) {
        const struct outcome *outcome = &results->outcomes[cell][i];
        const struct answer *answer = &outcome->answer;
        bool found = outcome->right && answer->match;
        top += outcome->right;
        set += outcome->right && answer->strength > limit;
        stated += found;
        wrong += !outcome->right && answer->match;
        near += found && outcome->offset_error <= .05;
        shared += found && answer->relation == DOPPEL_RELATION_SHARED;
        peer += outcome->peer_right;
    }
    double share = 100 / (double)count, of_found = stated ? 100 / (double)stated : 0;
    similarities(results, cell, &tenth, &half);
    printf("| %-18s | %4.1f | %5.1f | %5.1f | %5.1f | %5.1f |", cells[cell].name, cells[cell].goal,
           share * (double)set, share * (double)stated, share * (double)top, share * (double)wrong);
    printf(" %5.1f | %5.1f | %.2f, %.2f |", of_found * (double)near, of_found * (double)shared,
           tenth, half);
    if (results->has_peer)
        printf(" %5.1f |", share * (double)peer);
    printf("\n");
}

/** What became of the strangers of a kind. */
struct stranger_counts {
    size_t matches, related,
        shared;       /* given a match; of these of one waveform, of these `shared` */
    double chance[2]; /* peaks of other pairs: what one in a hundred exceeds, and the highest */
};

static struct stranger_counts count_strangers(const struct results *results, int kind)
{
    struct stranger_counts counts = {0};
    size_t others = 0;
    double *chances = calloc(results->stranger_counts[kind] + 1, sizeof *chances);
    for (size_t i = 0; i < results->stranger_counts[kind]; i++) {
        const struct stranger *stranger = &results->strangers[kind][i];
        bool related = stranger->answer.match && is_related(stranger);
        counts.matches += stranger->answer.match;
        counts.related += related;
        counts.shared += related && stranger->answer.relation == DOPPEL_RELATION_SHARED;
        if (stranger->chance > 0)
            chances[others++] = stranger->chance;
    }
    qsort(chances, others, sizeof *chances, descending);
    counts.chance[0] = chances[others / 100];
    counts.chance[1] = chances[0];
    free(chances);
    return counts;
}

static void print_strangers(const struct results *results, double stated)
{
    printf(
        "\nstated %g: what is given a match; of these what holds the same waveform, and is told\n"
        "`shared`; what else is given one; alike by chance: of other pairs 1 %% exceed, and the "
        "highest; %d is "
        "proof\n"
        "| strangers | n | limit set | false, %% | matches, %% | same waveform | `shared` | "
        "others, "
        "%% | alike by chance |\n"
        "|---|---|---|---|---|---|---|---|---|\n",
        stated, HEARD_ALIKE);
    for (int kind = 0; kind < STRANGER_KINDS; kind++) {
        size_t count = results->stranger_counts[kind];
        if (!count)
            continue;
        double limit = set_limit(results, kind), share = 100 / (double)count;
        struct stranger_counts counts = count_strangers(results, kind);
        printf("| %-16s | %5zu | %6.2f | %5.2f | %5.2f | %4zu | %4zu | %5.2f | %4.1f, %4.1f |\n",
               stranger_kinds[kind].name, count, limit, false_share(results, kind, limit),
               share * (double)counts.matches, counts.related, counts.shared,
               share * (double)(counts.matches - counts.related), counts.chance[0],
               counts.chance[1]);
    }
}

static void print_stranger(const struct tracks *tracks, const struct stranger *stranger)
{
    const struct answer *answer = &stranger->answer;
    printf("%7.2f | %5.1f | %.2f | %-9s | %s at %.1f s | %s at %.1f s | %.1f s, speed %.3f\n",
           answer->strength, stranger->alike, answer->similarity,
           doppel_relation_name(answer->relation), stranger->track->name,
           stranger->start + answer->longest.a_start, tracks->list[answer->id].name,
           answer->longest.b_start, answer->longest.a_end - answer->longest.a_start,
           answer->longest.speed);
}

static void print_matches(const struct tracks *tracks, const struct results *results, int kind)
{
    printf("\nStrangers that are given a match, %s: -log10 of the chance | alike | similarity | "
           "relation | clip | item | longest segment\n",
           stranger_kinds[kind].name);
    for (size_t i = 0; i < results->stranger_counts[kind]; i++)
        if (results->strangers[kind][i].answer.match)
            print_stranger(tracks, &results->strangers[kind][i]);
}

void report(const struct tracks *tracks, const struct results *results, double stated)
{
    printf("right item, %% (set: limit of <= 1 %% false on the other half; stated: rate %g)\n",
           stated);
    printf("| clip | goal | set | stated | top-1 | wrong | within 50 ms | `shared` | similarity: "
           "tenth, half |%s\n"
           "|---|---|---|---|---|---|---|---|---|%s\n",
           results->has_peer ? " Chromaprint top-1 |" : "", results->has_peer ? "---|" : "");
    for (int cell = 0; cell < cell_count; cell++)
        print_cell(results, cell);
    print_strangers(results, stated);
    for (int kind = 0; kind < STRANGER_KINDS; kind++)
        print_matches(tracks, results, kind);
}
