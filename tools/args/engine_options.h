/* The options of the engine's calls, as a command line gives them. */
#ifndef DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H

#include <doppel/act.h>
#include <doppel/compare.h>
#include <doppel/search.h>
#include <doppel/decide.h>
#include <doppel/group.h>

#include "intake/read_options.h"
#include "intake/walk.h"
#include "tools/args/options.h"

/* When records match. */
struct doppel_compare_options compare_options_from(const struct settings *settings);

/* How files are read. */
struct doppel_read_options read_options_from(const struct settings *settings);

/* Which files: the operands, and what is said of walking. Borrows from the settings. */
struct doppel_walk_options walk_options_from(const struct settings *settings);

/* How a library is searched; nothing is refined. */
struct doppel_search_options search_options_from(const struct settings *settings);

/* How groups are found, but for `walk`, `read`, `library` and `wanted`. */
struct doppel_group_options group_options_from(const struct settings *settings);

/* Those of --marks, for the options above. @param out given (doppel_marks_free); as it was where
 * none are given. As doppel_marks_read. */
enum doppel_status read_marks(const struct settings *settings, struct doppel_marks **out,
                              struct doppel_error *error);

/* How records and files are decided about. Borrows from the settings. */
/** Bytes of the largest record that is taken. */
uint64_t max_record_from(const struct settings *settings);
struct doppel_decide_options decide_options_from(const struct settings *settings);

/* What is done about duplicates; for a script, as with hard links. Borrows from the settings; the
 * journal and the trash are the caller's. */
struct doppel_act_policy act_policy_from(const struct settings *settings);

/** The names of the fields of records. */
struct doppel_corpus_fields corpus_fields_from(const struct settings *settings);

/** How the texts of records are read. */
struct doppel_text_options corpus_text_from(const struct settings *settings);

/* The least cosine of --semantic; 0: it follows from a rate. */
float semantic_cosine_from(const struct settings *settings);

/** Whether something was said about that, or about the limits. */
bool corpus_text_is_given(const struct settings *settings);

/** The limits of a match of texts. */
struct doppel_text_limits corpus_limits_from(const struct settings *settings);

/** Bands and their rows; 0: by the limit. The preset's are for its own limit and lanes. */
void corpus_bands_from(const struct settings *settings, uint32_t *out_bands, uint32_t *out_rows);

/* Read and compare texts as those of the library are, where they are from before shingles went by
 * script, and no other way was asked for. */
void adopt_unit(struct settings *settings, struct doppel_library *library);

/* Where no scheme was given, images and audio are compared by the one that the library has;
 * and texts as by adopt_unit. */
void adopt_schemes(struct settings *settings, struct doppel_library *library,
                   struct report *report);

#endif
