/* The commands of the module. */
#ifndef DOPPEL_CLUSTER_COMMANDS_H
#define DOPPEL_CLUSTER_COMMANDS_H

#include "cluster/module/redis.h"
#include "cluster/module/shard.h"

/* DOPPEL.CREATE key TABLE HAMMING [BITS n] [RADIUS n] [LOW n] [FAMILY name] [SHARD n]
 * DOPPEL.CREATE key TABLE BANDS [LANES n] [BANDS n] [ROWS n] [FAMILY name] [SHARD n]
 * DOPPEL.CREATE key TABLE POSTINGS [BITS n] [FAMILY name] [SHARD n] */
redis_command command_create;

/* DOPPEL.ADD key [REPLACE] payload code [payload code …]
 * DOPPEL.ADD key [REPLACE] PACKED bytes: all payloads, then all codes, little-endian */
redis_command command_add;

/* DOPPEL.REMOVE key payload [payload …] */
redis_command command_remove;

/* DOPPEL.INFO key */
redis_command command_info;

/* DOPPEL.SEARCH key RADIUS n [COUNT n] [NODE] [PACKED bytes | code …]; of postings without both
 * DOPPEL.KNN key COUNT n [RADIUS n] [NODE] [PACKED bytes | code …] */
redis_command command_search, command_knn;

/* DOPPEL.LOOK key [NODE] question [question …]: as doppel_image_question_pack writes them */
redis_command command_look;

/* Answer with an error: "ERR " and the sentence. */
int reply_failure(struct RedisModuleCtx *context, const char *sentence);
int reply_error_of(struct RedisModuleCtx *context, const struct doppel_error *error);

/* Open a key for a command on a shard that is there; where it is none, the client is answered.
 * @param out_key given (CloseKey) */
struct shard *open_shard(struct RedisModuleCtx *context, struct RedisModuleString *name, int mode,
                         struct RedisModuleKey **out_key);

/* Codes of an argument, little-endian words one after the other. @return how many; 0: they are none
 */
size_t count_packed(const struct shard *shard, size_t size, size_t words_more);

#endif
