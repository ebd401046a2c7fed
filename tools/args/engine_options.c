/* The options of the engine's calls, as a command line gives them. */
#include "tools/args/engine_options.h"

#include "core/text/printable.h"
#include "tools/output/messages.h"

#include <string.h>

struct doppel_compare_options compare_options_from(const struct settings *settings)
{
    struct doppel_compare_options options = doppel_compare_options_default();
    memcpy(options.schemes, settings->by_kind, sizeof options.schemes);
    options.max_distance = settings->max_distance;
    options.min_similarity = settings->min_similarity;
    options.text_similarity = settings->text_similarity;
    options.max_false_positives = settings->max_false_positives;
    options.near_misses = settings->near_misses;
    options.views = (enum doppel_image_views)settings->views;
    options.orientations = settings->orientations;
    options.check_pixels = settings->check != CHECK_NONE;
    options.same_speed = settings->same_speed;
    options.thorough = settings->thorough;
    options.text = settings->text;
    options.preset = settings->preset;
    return options;
}

struct doppel_read_options read_options_from(const struct settings *settings)
{
    struct doppel_read_options options = {
        .kind = settings->kind,
        .text = settings->text,
        .text_format_given = settings->text_format >= 0,
        .pcm = settings->pcm,
        .fast = settings->fast,
        .no_audio = settings->no_audio,
    };
    memcpy(options.schemes, settings->by_kind, sizeof options.schemes);
    return options;
}

struct doppel_walk_options walk_options_from(const struct settings *settings)
{
    return (struct doppel_walk_options){
        .paths = {settings->operands.items, settings->operands.count},
        .files_from = settings->files_from,
        .null_separated = settings->null_separated,
        .exclude = {settings->exclude.items, settings->exclude.count},
        .hidden = settings->hidden,
        .one_file_system = settings->one_file_system,
        .follow = settings->follow,
        .archives = settings->archives,
        .min_size = settings->min_size,
        .extensions = {settings->extensions.items, settings->extensions.count},
        .newer_than_ns = settings->newer_than_ns,
        .older_than_ns = settings->older_than_ns,
        .max_bytes = settings->max_bytes};
}

struct doppel_search_options search_options_from(const struct settings *settings)
{
    struct doppel_search_options options = doppel_search_options_default();
    options.compare = compare_options_from(settings);
    options.audio_of_videos = settings->no_video;
    options.other_schemes = !settings->scheme_given;
    return options;
}

/* Records are no files: nothing is done about them, and -0 has none. A scheme that is asked for is
 * not that of all. */
static enum doppel_group_records records_from(const struct settings *settings)
{
    bool bare = settings->null_separated && !settings->format_given;
    if (settings->action != ACTION_NONE || bare)
        return DOPPEL_GROUP_NO_RECORDS;
    return settings->scheme_given ? DOPPEL_GROUP_RECORDS_OF_SCHEME : DOPPEL_GROUP_ALL_RECORDS;
}

struct doppel_group_options group_options_from(const struct settings *settings)
{
    struct doppel_group_options options = doppel_group_options_default();
    bool for_report = settings->verb->bit == VERB_REPORT; /* which has all that is known */
    options.compare = compare_options_from(settings);
    options.keep = settings->keep;
    options.keep_given = settings->keep_text != NULL;
    options.keep_from =
        (struct doppel_strings){settings->keep_from.items, settings->keep_from.count};
    options.protect = (struct doppel_strings){settings->protect.items, settings->protect.count};
    options.not_within = settings->not_within;
    options.companions = (enum doppel_companions)settings->companions;
    options.bursts = settings->bursts;
    options.digests = for_report || settings->save;
    options.metadata = for_report;
    options.on_disk = settings->action != ACTION_NONE || settings->save;
    options.cross_folder = settings->cross_folder;
    options.parts = settings->by_parts;
    options.records = records_from(settings);
    options.bytes_alone = !settings->kind && !settings->scheme_given;
    return options;
}

enum doppel_status read_marks(const struct settings *settings, struct doppel_marks **out,
                              struct doppel_error *error)
{
    if (settings->marks_text)
        return doppel_marks_read_bytes(settings->marks_text, strlen(settings->marks_text),
                                       "the marks of the page", out, error);
    return settings->marks ? doppel_marks_read(settings->marks, out, error) : DOPPEL_OK;
}

struct doppel_act_policy act_policy_from(const struct settings *settings)
{
    bool script = settings->action == ACTION_SCRIPT;
    return (struct doppel_act_policy){
        .action = script ? DOPPEL_ACTION_HARDLINK : (enum doppel_action)settings->action,
        .reasons = settings->reasons,
        .move_to = settings->move_to,
        .dry_run = !settings->yes,
    };
}

/* ---- texts of corpora ---- */

struct doppel_corpus_fields corpus_fields_from(const struct settings *settings)
{
    return (struct doppel_corpus_fields){.id = settings->id_field,
                                         .text = settings->text_field,
                                         .path = settings->path_field,
                                         .source = settings->source_field,
                                         .date = settings->date_field,
                                         .folders = settings->allow_paths.items,
                                         .folder_count = settings->allow_paths.count};
}

struct doppel_text_options corpus_text_from(const struct settings *settings)
{
    struct doppel_text_options text = settings->text;
    if (settings->preset && settings->text_format < 0)
        text.format = settings->preset->options.format;
    if (settings->lanes >= 0)
        text.lanes = settings->lanes == LANES_256 ? 256 : 128;
    return text;
}

/* 0 is asked for where all that is not opposite is wanted. */
float semantic_cosine_from(const struct settings *settings)
{
    const double least = settings->semantic_cosine;
    return least < 0 ? 0 : least < 1e-6 ? 1e-6F : (float)least;
}

bool corpus_text_is_given(const struct settings *settings)
{
    return settings->preset || settings->text_format >= 0 || settings->unit >= 0 ||
           settings->shingle || settings->min_words || settings->lanes >= 0 ||
           settings->text.lanes != doppel_text_options_default().lanes ||
           settings->min_similarity >= 0 || settings->min_containment >= 0;
}

struct doppel_text_limits corpus_limits_from(const struct settings *settings)
{
    struct doppel_text_limits limits = doppel_text_limits_default();
    if (settings->preset)
        limits.min_similarity = settings->preset->min_similarity;
    if (settings->min_similarity >= 0)
        limits.min_similarity = settings->min_similarity;
    if (settings->min_containment >= 0)
        limits.min_containment = settings->min_containment;
    return limits;
}

void corpus_bands_from(const struct settings *settings, uint32_t *out_bands, uint32_t *out_rows)
{
    const struct doppel_text_preset *preset = settings->preset;
    *out_bands = settings->bands;
    *out_rows = settings->rows;
    if (preset && !settings->bands && !settings->rows && settings->min_similarity < 0 &&
        corpus_text_from(settings).lanes == preset->options.lanes) {
        *out_bands = preset->bands;
        *out_rows = preset->rows;
    }
}

uint64_t max_record_from(const struct settings *settings)
{
    return settings->max_record ? settings->max_record : UINT64_MAX;
}

struct doppel_decide_options decide_options_from(const struct settings *settings)
{
    struct doppel_decide_options options = doppel_decide_options_default();
    options.search = search_options_from(settings);
    options.limits = corpus_limits_from(settings);
    options.text_given = corpus_text_is_given(settings);
    corpus_bands_from(settings, &options.bands, &options.rows);
    options.keep_shingles = settings->keep_shingles;
    options.on_same_id = settings->on_same_id;
    options.upstream = (struct doppel_upstream_options){
        .service = {.url = settings->upstream,
                    .key = settings->upstream_secret,
                    .ca = settings->upstream_ca},
        .policy = settings->upstream_policy,
    };
    options.ignore_metadata = settings->ignore_metadata;
    options.records.paths = settings->jsonl.items;
    options.records.count = settings->jsonl.count;
    options.records.format = (enum doppel_corpus_format)settings->input_format;
    options.records.max_line_bytes = max_record_from(settings);
    options.fields = corpus_fields_from(settings);
    return options;
}

/* Texts that were added before shingles went by script go on as they began. */
void adopt_unit(struct settings *settings, struct doppel_library *library)
{
    struct doppel_scheme *scheme = &settings->by_kind[DOPPEL_KIND_TEXT];
    const struct doppel_scheme *base = doppel_scheme_by_id(scheme->id);
    if (base && doppel_library_fit_unit(library, scheme, &settings->text))
        scheme->version = doppel_text_version(base->version, &settings->text);
}

void adopt_schemes(struct settings *settings, struct doppel_library *library, struct report *report)
{
    static const enum doppel_kind kinds[] = {DOPPEL_KIND_IMAGE, DOPPEL_KIND_AUDIO,
                                             DOPPEL_KIND_VIDEO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !settings->scheme_given; i++) {
        const struct doppel_scheme *usual = settings_scheme(settings, kinds[i]);
        const struct doppel_scheme *scheme = usual ? doppel_search_scheme(library, usual) : NULL;
        if (scheme == usual)
            continue;
        if (report->verbose)
            report_notice(report, "all %ss of the library are of scheme '%s': compared by that",
                          kind_noun(kinds[i]), scheme->name);
        settings->by_kind[kinds[i]] = *scheme;
    }
    adopt_unit(settings, library);
}
