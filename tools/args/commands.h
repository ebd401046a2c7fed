/* The verbs, in files cmd_NAME.c. They return 0, 1 (nothing matched) or 2 (could not go
 * on).
 */
#ifndef DOPPEL_TOOLS_ARGS_COMMANDS_H
#define DOPPEL_TOOLS_ARGS_COMMANDS_H

#include "tools/args/options.h"

verb_function cmd_scan, cmd_compare, cmd_hash, cmd_schemes, cmd_tune;
verb_function cmd_add, cmd_find, cmd_groups, cmd_list, cmd_show, cmd_remove;
verb_function cmd_index_build, cmd_index_add, cmd_index_remove, cmd_index_search, cmd_index_knn;
verb_function cmd_index_join, cmd_index_info, cmd_index_verify, cmd_index_compact;
verb_function cmd_report, cmd_serve;
verb_function cmd_dedup, cmd_ingest, cmd_watch, cmd_check, cmd_monitor;
verb_function cmd_undo;
verb_function cmd_export, cmd_import, cmd_merge, cmd_backup;
verb_function cmd_mark, cmd_log, cmd_tag, cmd_lists, cmd_lists_set, cmd_lists_release,
    cmd_lists_remove;
verb_function cmd_source_set, cmd_source_remove, cmd_source_list, cmd_source_policy;
verb_function cmd_model_add, cmd_model_list, cmd_model_remove, cmd_model_whiten;
verb_function cmd_verify, cmd_compact, cmd_config, cmd_stats, cmd_doctor;
verb_function cmd_paragraphs; /* dedup --unit paragraph */

#endif
