/* What was given, as a whole: what goes together. */
#include "tools/args/check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/group.h>

#include "core/try.h"
#include "tools/args/cluster_options.h"
#include "tools/args/service_options.h"
#include "tools/args/timestamp.h"

/* How texts are read: by the preset, else by the defaults, and what was given beside. */
static enum doppel_status check_text(struct settings *settings, struct doppel_error *error)
{
    size_t count;
    if (settings->ocr && settings->preset_number < 0 && settings->unit < 0 && !settings->shingle)
        settings->preset = doppel_text_preset_by_name("ocr");
    if (settings->preset_number >= 0)
        settings->preset = &doppel_text_presets(&count)[settings->preset_number];
    settings->text = settings->preset ? settings->preset->options : doppel_text_options_default();
    settings->text.format = DOPPEL_TEXT_AUTO;
    if (settings->text_format >= 0)
        settings->text.format = (enum doppel_text_format)settings->text_format;
    if (settings->unit == UNIT_PARAGRAPH && !(settings->verb->bit & VERB_DEDUP))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--unit paragraph' is for 'doppel dedup'");
    if (settings->unit == UNIT_WORDS || settings->unit == UNIT_CHARACTERS)
        settings->text.unit = (enum doppel_text_unit)settings->unit;
    else if (settings->shingle && settings->text.unit == DOPPEL_TEXT_BY_SCRIPT)
        settings->text.unit = DOPPEL_TEXT_WORDS; /* so many, whatever the script */
    if (settings->shingle)
        settings->text.shingle = settings->shingle;
    if (settings->min_words)
        settings->text.min_words = settings->min_words;
    if (settings->text.shingle > DOPPEL_TEXT_MAX_SHINGLE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--shingle' takes a whole number from 1 to %d, not '%u'",
                           DOPPEL_TEXT_MAX_SHINGLE, settings->shingle);
    return DOPPEL_OK;
}

/* A playlist is all that is printed. */
static enum doppel_status check_playlist(struct settings *settings, struct doppel_error *error)
{
    const char *other = settings->repeats          ? "repeats"
                        : settings->near_misses    ? "near-misses"
                        : settings->overlaps       ? "overlaps"
                        : settings->null_separated ? "null"
                                                   : NULL;
    bool monitors = settings->verb->bit & VERB_MONITOR;
    settings->playlist |= settings->format == FORMAT_CUE || settings->format == FORMAT_M3U;
    if (settings->playlist && other)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' is not for '--playlist'", other);
    if (settings->start_text && !settings->playlist && !monitors)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--start-time' is for '--playlist'");
    if (settings->start_text && !start_time_parse(settings->start_text, &settings->start_time))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--start-time' takes a date with a time, such as 2026-11-25T06:00:00, "
                           "...T06:00:00+01:00 or ...T06:00:00Z, or 'now', not '%s'",
                           settings->start_text);
    return DOPPEL_OK;
}

/* Of a scan they are rows of their own, below the groups. */
static enum doppel_status check_near_misses(const struct settings *settings,
                                            struct doppel_error *error)
{
    const char *other = settings->action != ACTION_NONE  ? "action"
                        : settings->null_separated       ? "null"
                        : settings->format == FORMAT_CSV ? "format csv"
                                                         : NULL;
    if (settings->near_misses && settings->verb->bit == VERB_SCAN && other)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' does not go with '--near-misses', which prints pairs of images, "
                           "recordings and videos below the groups",
                           other);
    return DOPPEL_OK;
}

/* What is only of recordings wants recordings only. */
static enum doppel_status check_audio(struct settings *settings, struct doppel_error *error)
{
    const char *option = settings->pcm_text   ? "pcm"
                         : settings->repeats  ? "repeats"
                         : settings->playlist ? "playlist"
                                              : NULL;
    enum doppel_kind kind = settings->scheme ? settings->scheme->kind : settings->kind;
    if (settings->pcm_text && !parse_pcm(settings->pcm_text, &settings->pcm))
        return doppel_fail(
            error, DOPPEL_E_ARGUMENT,
            "'--pcm' takes FORMAT:RATE:CHANNELS, such as s16le:44100:2, with a rate of "
            "1 to 768000 and 1 to 64 channels, not '%s'",
            settings->pcm_text);
    if (option && (settings->code || (kind && kind != DOPPEL_KIND_AUDIO)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' is for recordings", option);
    if (option)
        settings->kind = DOPPEL_KIND_AUDIO;
    const struct doppel_scheme *chromaprint = doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT);
    if (settings->fpcalc && settings->scheme && settings->scheme != chromaprint)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--fpcalc' is for scheme 'chromaprint'");
    if (settings->fpcalc)
        settings->scheme = chromaprint;
    return DOPPEL_OK;
}

/* What is only of videos wants videos, and something of them. */
static enum doppel_status check_video(struct settings *settings, struct doppel_error *error)
{
    const struct doppel_scheme *vpdq = doppel_scheme_by_id(DOPPEL_SCHEME_VPDQ);
    if (settings->vpdq && settings->scheme && settings->scheme != vpdq)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--vpdq' is for scheme 'vpdq'");
    if (settings->vpdq)
        settings->scheme = vpdq;
    const char *option = settings->fast         ? "fast"
                         : settings->no_audio   ? "no-audio"
                         : settings->thorough   ? "thorough"
                         : settings->refine     ? "refine"
                         : settings->thumbnails ? "thumbnails"
                                                : NULL;
    enum doppel_kind kind = settings->scheme ? settings->scheme->kind : settings->kind;
    if (settings->no_audio && settings->no_video)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "give '--no-audio' or '--no-video', not both: nothing of a video would "
                           "be left");
    if (settings->no_video && kind && kind != DOPPEL_KIND_AUDIO)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--no-video' reads videos as recordings, which '--%s %s' leaves out",
                           settings->scheme ? "scheme" : "kind",
                           settings->scheme ? settings->scheme->name : doppel_kind_name(kind));
    if (option && settings->no_video)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' is for the pictures of videos, which '--no-video' leaves out",
                           option);
    if (settings->thumbnails && !settings->chart)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--thumbnails' wants '--chart FILE'");
    return DOPPEL_OK;
}

/* Parts are of images and videos, which are read twice; of records in dedup. */
static enum doppel_status check_by_parts(const struct settings *settings,
                                         struct doppel_error *error)
{
    const enum doppel_kind kind = settings->scheme ? settings->scheme->kind : settings->kind;
    const char *list = settings->files_from;
    const bool by_scheme = settings->scheme && (settings->scheme->id == DOPPEL_SCHEME_LOCAL ||
                                                settings->scheme->id == DOPPEL_SCHEME_FRAMES128);
    if ((!settings->by_parts && !by_scheme) || settings->verb->bit == VERB_DEDUP)
        return DOPPEL_OK;
    if (settings->by_parts &&
        (settings->code || (kind && kind != DOPPEL_KIND_IMAGE && kind != DOPPEL_KIND_VIDEO)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--parts' is for images and videos");
    if (settings->verb->bit & (VERB_SCAN | VERB_REPORT) && list && strcmp(list, "-") == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' reads files twice: give '--files-from' a file",
                           settings->by_parts ? "parts" : "scheme local");
    return DOPPEL_OK;
}

/* The bit of "identical", "same-content", "near" or "part"; 0 for others. */
static unsigned reason_bit(const char *name)
{
    for (int i = DOPPEL_REASON_KEPT + 1; i < DOPPEL_REASONS; i++)
        if (strcmp(doppel_reason_name((enum doppel_reason)i), name) == 0)
            return 1u << i;
    return 0;
}

/* "identical,near" to bits. */
static bool parse_reasons(const char *text, unsigned *out)
{
    unsigned reasons = 0;
    for (size_t length; *text; text += length + (text[length] == ',')) {
        char name[16];
        length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        unsigned reason = length < sizeof name ? reason_bit(name) : 0;
        if (!reason)
            return false;
        reasons |= reason;
    }
    *out = reasons;
    return reasons != 0;
}

/* A preset, unless a threshold is given. What is loose is so for each kind in its own way: a limit
 * of similarity would leave recordings out that are found without one. */
static void apply_strictness(struct settings *settings)
{
    if (settings->max_distance >= 0 || settings->min_similarity >= 0)
        return;
    if (settings->strictness == STRICTNESS_EXACT)
        settings->min_similarity = 1;
    if (settings->strictness == STRICTNESS_STRICT)
        settings->min_similarity = 0.9;
    if (settings->strictness != STRICTNESS_LOOSE)
        return;
    settings->text_similarity = 0.5;
    if (settings->max_false_positives < 0)
        settings->max_false_positives = 0.01;
}

static enum doppel_status check_age(const char *option, const char *text, int64_t *out,
                                    struct doppel_error *error)
{
    if (!text || moment_parse(text, out))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "'--%s' takes a date, such as 2026-05-31, or how long ago, such as 12h or "
                       "7d, not '%s'",
                       option, text);
}

/* What belongs to acting goes with it alone. */
static enum doppel_status check_action(struct settings *settings, struct doppel_error *error)
{
    const char *lonely = settings->yes           ? "yes"
                         : settings->dry_run     ? "dry-run"
                         : settings->reason_text ? "reason"
                         : settings->move_to     ? "to"
                         : settings->journal     ? "journal"
                                                 : NULL;
    settings->reasons = 1u << DOPPEL_REASON_IDENTICAL;
    if (settings->verb->bit & (VERB_UNDO | VERB_IMPORT | VERB_REMOVE))
        return DOPPEL_OK;
    if (lonely && settings->action == ACTION_NONE && !settings->serve)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' goes with '--action'", lonely);
    if (settings->yes && settings->dry_run)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "give '--yes' or '--dry-run', not both");
    if (settings->action == DOPPEL_ACTION_MOVE_TO && !(settings->move_to && *settings->move_to))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--action move-to' wants a folder: --action move-to DIR");
    if (settings->action != DOPPEL_ACTION_MOVE_TO && settings->move_to)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--to' goes with '--action move-to'");
    if (settings->action == ACTION_SCRIPT && (settings->yes || settings->format != FORMAT_TABLE))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--action script' prints a script, to be read and then run; '--%s' "
                           "does not go with it",
                           settings->yes ? "yes" : "format");
    if (settings->reason_text && !parse_reasons(settings->reason_text, &settings->reasons))
        return doppel_fail(
            error, DOPPEL_E_ARGUMENT,
            "'--reason' takes identical, same-content, near, part and marked, with commas "
            "between, not '%s'",
            settings->reason_text);
    return DOPPEL_OK;
}

static enum doppel_status check_operands(const struct settings *settings,
                                         struct doppel_error *error)
{
    const struct verb *verb = settings->verb;
    size_t count = settings->operands.count;
    bool elsewhere = settings->files_from || settings->code || settings->gone || settings->refresh;
    if (count < verb->min_operands && !elsewhere)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'%s' wants %s; see 'doppel %s --help'",
                           verb->name, verb->operands, verb->name);
    if (count > verb->max_operands)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' does not know what to do with '%s'; see 'doppel %s --help'",
                           verb->name, settings->operands.items[verb->max_operands], verb->name);
    return DOPPEL_OK;
}

/* Without --help, it is the former name of --include-allowed. */
static enum doppel_status check_all(struct settings *settings, struct doppel_error *error)
{
    if (settings->whole_help && !(settings->verb->bit & VERB_FIND))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--all' goes with '--help'");
    settings->include_allowed |= settings->whole_help;
    return DOPPEL_OK;
}

/* Digits, and nothing before them. @return behind them; NULL: there are none, or too many */
static const char *parse_part_digits(const char *text, uint32_t *out)
{
    char *end = NULL;
    const unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    *out = (uint32_t)number;
    return number <= UINT32_MAX ? end : NULL;
}

/* "7/400". */
static enum doppel_status parse_stage_part(struct settings *settings, struct doppel_error *error)
{
    const char *at = settings->part_text;
    if (!at)
        return DOPPEL_OK;
    at = parse_part_digits(at, &settings->part);
    at = at && *at == '/' ? parse_part_digits(at + 1, &settings->parts) : NULL;
    if (!at || *at || !settings->part || settings->part > settings->parts)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--part' wants which of how many, such as 7/400, not '%s'",
                           settings->part_text);
    return DOPPEL_OK;
}

/* What does not go with stages; the engine refuses more. NULL: nothing that was given. */
static const char *no_option_of_stages(const struct settings *settings)
{
    return settings->output_dir                                       ? "output-dir"
           : settings->clusters                                       ? "clusters"
           : settings->against                                        ? "against"
           : settings->semantic                                       ? "semantic"
           : settings->keep_shingles                                  ? "keep-shingles"
           : settings->by_parts                                       ? "parts"
           : settings->unit == UNIT_PARAGRAPH                         ? "unit paragraph"
           : settings->stage == STAGE_EMIT && settings->format_given  ? "format"
           : settings->stage == STAGE_EMIT && settings->format_chosen ? "format"
                                                                      : NULL;
}

/* Stages have a folder; of some of them one does a part. */
static enum doppel_status check_stages(struct settings *settings, struct doppel_error *error)
{
    bool divided = settings->stage == STAGE_SIGN || settings->stage == STAGE_JOIN ||
                   settings->stage == STAGE_COMPARE || settings->stage == STAGE_EMIT;
    const char *given = settings->stage < 0 ? NULL : no_option_of_stages(settings);
    if (settings->stage < 0 && (settings->work || settings->part_text))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' goes with '--stage'",
                           settings->work ? "work" : "part");
    if (settings->stage >= 0 && !settings->work)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--stage' wants '--work DIR', the folder that its stages share");
    if (settings->stage >= 0 && divided != (settings->part_text != NULL))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           divided
                               ? "'--stage sign', 'join', 'compare' and 'emit' want '--part I/N'"
                               : "'--part' goes with '--stage sign', 'join', 'compare', 'emit'");
    if (given)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' does not go with '--stage': 'dedup' alone does it", given);
    return parse_stage_part(settings, error);
}

/* Into a folder go lines. */
static enum doppel_status check_outputs(struct settings *settings, struct doppel_error *error)
{
    const char *given = settings->output_dir ? "output-dir"
                        : settings->clusters ? "clusters"
                                             : NULL;
    if (settings->replace_outputs && !settings->output_dir && !settings->hand_off)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--force' goes with '--output-dir' or '--hand-off'");
    if (settings->hand_off && !settings->semantic)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--hand-off' goes with '--semantic'");
    if (given && settings->unit == UNIT_PARAGRAPH)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' does not go with '--unit paragraph'",
                           given);
    if (settings->output_dir && settings->emit == EMIT_DECISIONS)
        settings->emit = EMIT_UNIQUE;
    return DOPPEL_OK;
}

/* A page is written, is served, or what was marked in one is done. */
static enum doppel_status check_report(const struct settings *settings, struct doppel_error *error)
{
    bool acts = settings->action != ACTION_NONE;
    bool moves =
        settings->action == DOPPEL_ACTION_TRASH || settings->action == DOPPEL_ACTION_MOVE_TO;
    if (settings->serve + (settings->output != NULL) + (acts && !settings->serve) != 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'report' wants '-o PAGE', an HTML file, or '--serve', or '--action' to "
                           "act on what was marked; one of these");
    if (settings->serve && acts && !moves)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--serve' has files trashed or moved: '--action trash' or 'move-to'");
    if (settings->serve && (settings->yes || settings->dry_run || settings->reason_text))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--serve' asks in the page, and does what is marked there: '--%s' does "
                           "not go with it",
                           settings->yes       ? "yes"
                           : settings->dry_run ? "dry-run"
                                               : "reason");
    if (acts && !settings->serve && !settings->marks)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'report --action' wants '--marks FILE', as the page exported it");
    if (settings->library && (settings->operands.count || settings->files_from))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "give PATHs or '--library', not both");
    if ((settings->operands.count || settings->files_from) &&
        (settings->where || settings->lists.count || settings->labels.count))
        return doppel_fail(
            error, DOPPEL_E_ARGUMENT,
            "'--where', '--list' and '--label' choose items of a library, not PATHs");
    return DOPPEL_OK;
}

/* What means the same is shown, and nothing else. */
static enum doppel_status check_semantic_groups(const struct settings *settings,
                                                struct doppel_error *error)
{
    if (!settings->semantic || !(settings->verb->bit & (VERB_GROUPS | VERB_SCAN)))
        return DOPPEL_OK;
    if (settings->kind && settings->kind != DOPPEL_KIND_TEXT)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--semantic' is of texts: it goes without '--kind', or with 'text'");
    if (settings->action != ACTION_NONE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--action' does not go with '--semantic': what means the same is never "
                           "acted on");
    if (settings->cross_folder || settings->not_within)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' does not go with '--semantic', which looks at no folders",
                           settings->cross_folder ? "cross-folder" : "not-within");
    if (settings->format == FORMAT_CSV)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--semantic' prints rows of two sorts, which CSV cannot have: give "
                           "'--format json'");
    if (settings->null_separated && !settings->format_given)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'-0' does not go with '--semantic': it prints what may be removed");
    return DOPPEL_OK;
}

static enum doppel_status check_semantic(const struct settings *settings,
                                         struct doppel_error *error)
{
    if (settings->semantic_cosine >= 0 && !settings->semantic)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--min-cosine' goes with '--semantic'");
    if (settings->scores && (!settings->semantic || settings->semantic_cosine >= 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--scores' goes with '--semantic', without '--min-cosine'");
    if (settings->verb->bit == VERB_TUNE && settings->library_given && !settings->semantic)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--library' of 'tune' goes with '--semantic'");
    if (settings->verb->bit == VERB_TUNE && settings->scores && !settings->library_given)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--scores' of 'tune' goes with '--library': a score is worth what its "
                           "rate is there");
    return DOPPEL_OK;
}

static enum doppel_status check_model_whiten(const struct settings *settings,
                                             struct doppel_error *error)
{
    if (!settings->model_name)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'model whiten' wants the name of what it makes: '--as NEW'");
    if (settings->library_given && settings->operands.count > 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "give PATHs or '--library', not both");
    return DOPPEL_OK;
}

enum doppel_status settings_check(struct settings *settings, struct doppel_error *error)
{
    if (settings->max_distance >= 0 && settings->min_similarity >= 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "give '--max-distance' or '--min-similarity', not both");
    if (settings->cache && settings->no_cache)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "give '--cache' or '--no-cache', not both");
    if (settings->code && (settings->operands.count || settings->files_from))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "give '--code' or %s, not both",
                           settings->files_from ? "'--files-from'" : settings->verb->operands);
    if (settings->refresh && settings->files_from)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--refresh' takes PATHs or IDs, not '--files-from'");
    if (settings->cross_folder && settings->operands.count == 1 && !settings->reference.count)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--cross-folder' wants two PATHs or more: no group spans one");
    if (settings->all_bytes && !settings->files)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--digest' goes with '--files'");
    if ((settings->verb->bit & (VERB_INDEX_JOIN | VERB_INDEX_SEARCH | VERB_INDEX_KNN)) &&
        !settings->exact && !(settings->recall >= 0.5 && settings->recall <= 0.999))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--recall' is from 0.5 to 0.999; '--exact' finds all");
    if (check_semantic(settings, error) || check_semantic_groups(settings, error))
        return DOPPEL_E_ARGUMENT;
    if (settings->verb->bit == VERB_MODEL_WHITEN && check_model_whiten(settings, error))
        return DOPPEL_E_ARGUMENT;
    if (settings->verb->bit == VERB_INDEX_BUILD && !settings->output)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'index build' wants '-o INDEX'");
    if (settings->verb->bit == VERB_REPORT && check_report(settings, error))
        return DOPPEL_E_ARGUMENT;
    settings->keep = doppel_keep_policy_default();
    apply_strictness(settings);
    enum doppel_status status;
    TRY(check_age("newer-than", settings->newer_than, &settings->newer_than_ns, error));
    TRY(check_age("older-than", settings->older_than, &settings->older_than_ns, error));
    TRY(check_all(settings, error));
    TRY(check_action(settings, error));
    if (settings->keep_text)
        TRY(doppel_keep_policy_parse(settings->keep_text, &settings->keep, error));
    TRY(check_options_of_kind(settings, error));
    TRY(check_text(settings, error));
    TRY(check_stages(settings, error));
    TRY(check_outputs(settings, error));
    TRY(service_options_check(settings, error));
    TRY(check_playlist(settings, error));
    TRY(check_near_misses(settings, error));
    TRY(check_audio(settings, error));
    TRY(check_video(settings, error));
    TRY(check_by_parts(settings, error));
    TRY(check_scheme(settings, error));
    TRY(check_operands(settings, error));
    TRY(cluster_options_check(settings, error));
done:
    return status;
}
