/* The options of the engine's calls, as a command line gives them. */
#include "tools/args/engine_options.h"

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
    options.check_pixels = settings->check == CHECK_PIXELS;
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

struct walk_options walk_options_from(const struct settings *settings)
{
    return (struct walk_options){.paths = settings->operands,
                                 .files_from = settings->files_from,
                                 .null_separated = settings->null_separated,
                                 .exclude = settings->exclude,
                                 .hidden = settings->hidden,
                                 .one_file_system = settings->one_file_system,
                                 .follow = settings->follow,
                                 .min_size = settings->min_size,
                                 .max_bytes = settings->max_bytes};
}

struct doppel_search_options search_options_from(const struct settings *settings)
{
    struct doppel_search_options options = doppel_search_options_default();
    options.compare = compare_options_from(settings);
    options.audio_of_videos = settings->no_video;
    options.notice_schemes = !settings->scheme_given;
    return options;
}
