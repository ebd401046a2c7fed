/* Defaults of reading and deciding corpora. */
#include <doppel/corpus.h>

struct doppel_corpus_fields doppel_corpus_fields_default(void)
{
    return (struct doppel_corpus_fields){
        .id = "id", .text = "text", .path = "path", .source = "source", .date = "date"};
}

struct doppel_dedup_options doppel_dedup_options_default(void)
{
    return (struct doppel_dedup_options){
        .files = {.max_line_bytes = DOPPEL_MAX_RECORD_BYTES, .format = DOPPEL_CORPUS_BY_NAME},
        .fields = doppel_corpus_fields_default(),
        .text = doppel_text_options_default(),
        .limits = doppel_text_limits_default(),
    };
}

struct doppel_ingest_options doppel_ingest_options_default(void)
{
    return (struct doppel_ingest_options){
        .files = {.max_line_bytes = DOPPEL_MAX_RECORD_BYTES},
        .fields = doppel_corpus_fields_default(),
        .text = doppel_text_options_default(),
        .limits = doppel_text_limits_default(),
    };
}
