/* Changes of a shard that are done whole or not at all. */
#include "shards/scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* KEYS: items, names, challenges, tables…. ARGV: id, name, JSON, 1 if pending, 1 if `was` counts,
 * was; and for each table the payloads to remove, with spaces between, and codes to add, packed. */
static const char change_script[] =
    "local items, names, challenges = KEYS[1], KEYS[2], KEYS[3]\n"
    "local id, name, json = ARGV[1], ARGV[2], ARGV[3]\n"
    "local is = redis.call('HGET', items, id)\n"
    "local named = redis.call('HGET', names, name)\n"
    "if named and named ~= id then\n"
    "  local other = redis.call('HGET', items, named)\n"
    "  if other then return {0, named, other} end\n"
    "end\n"
    "if ARGV[5] == '1' then\n"
    "  if ARGV[6] == '' and is then\n"
    "    if named == id then return {0, id, is} end\n"
    "    return {3}\n"
    "  end\n"
    "  if ARGV[6] ~= '' and is ~= ARGV[6] then return {2} end\n"
    "end\n"
    "for i = 4, #KEYS do\n"
    "  if ARGV[2 * i] ~= '' and redis.call('EXISTS', KEYS[i]) == 0 then\n"
    "    return redis.error_reply('ERR no such shard')\n"
    "  end\n"
    "end\n"
    "for i = 4, #KEYS do\n"
    "  local gone = {}\n"
    "  for payload in string.gmatch(ARGV[2 * i - 1], '%d+') do gone[#gone + 1] = payload end\n"
    "  if #gone > 0 and redis.call('EXISTS', KEYS[i]) == 1 then\n"
    "    redis.call('DOPPEL.REMOVE', KEYS[i], unpack(gone))\n"
    "  end\n"
    "  if ARGV[2 * i] ~= '' then redis.call('DOPPEL.ADD', KEYS[i], 'PACKED', ARGV[2 * i]) end\n"
    "end\n"
    "if json == '' then\n"
    "  redis.call('HDEL', items, id)\n"
    "  redis.call('HDEL', challenges, id)\n"
    "  if named == id then redis.call('HDEL', names, name) end\n"
    "  return {1, id, ''}\n"
    "end\n"
    "if ARGV[4] == '1' then\n"
    "  local now = redis.call('TIME')\n"
    "  json = string.format('?%.0f ', now[1] * 1000 + math.floor(now[2] / 1000)) .. json\n"
    "end\n"
    "redis.call('HSET', items, id, json)\n"
    "redis.call('HSET', names, name, id)\n"
    "return {1, id, json}\n";

/* KEYS: items, challenges. ARGV: id, the item as it was written. */
static const char confirm_script[] =
    "local item = redis.call('HGET', KEYS[1], ARGV[1])\n"
    "local json = string.sub(ARGV[2], string.find(ARGV[2], ' ', 1, true) + 1)\n"
    "if item == json then return {2} end\n"
    "if item ~= ARGV[2] then return {0} end\n"
    "local older = redis.call('HGET', KEYS[2], ARGV[1])\n"
    "if older then return {3, older} end\n"
    "redis.call('HSET', KEYS[1], ARGV[1], json)\n"
    "return {1}\n";

/* KEYS: items, challenges. ARGV: id, the older one, 1 if it is no longer. */
static const char challenge_script[] =
    "local item = redis.call('HGET', KEYS[1], ARGV[1])\n"
    "if not item then return 0 end\n"
    "if string.sub(item, 1, 1) ~= '?' then return 2 end\n"
    "local all, one = redis.call('HGET', KEYS[2], ARGV[1]) or ' ', ' ' .. ARGV[2] .. ' '\n"
    "local first, last = string.find(all, one, 1, true)\n"
    "if ARGV[3] == '0' and not first then all = all .. ARGV[2] .. ' ' end\n"
    "if ARGV[3] == '1' and first then\n"
    "  all = string.sub(all, 1, first) .. string.sub(all, last + 1)\n"
    "end\n"
    "if all == ' ' then redis.call('HDEL', KEYS[2], ARGV[1])\n"
    "else redis.call('HSET', KEYS[2], ARGV[1], all) end\n"
    "return 1\n";

static enum doppel_status no_script_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
}

static struct shards_command *begin_shard_script(struct shards_commands *commands, uint64_t id,
                                                 const char *script, size_t keys, size_t arguments)
{
    struct shards_command *command = commands_add(commands, shard_of_id(id), 3 + keys + arguments);
    if (!command)
        return NULL;
    command_word(command, "EVAL");
    command_word(command, script);
    command_number(command, keys);
    return command;
}

/* ---- a change ---- */

static size_t count_tables(const struct shards_change *change, bool used[static SHARDS_TABLES])
{
    size_t count = 0;
    for (size_t i = 0; i < SHARDS_TABLES; i++) {
        used[i] = (change->before && change->before->tables[i].count) ||
                  (change->after && change->after->tables[i].count);
        count += used[i];
    }
    return count;
}

static enum doppel_scheme_id scheme_of_change(const struct shards_change *change)
{
    return change->after    ? change->after->scheme
           : change->before ? change->before->scheme
                            : DOPPEL_SCHEME_NONE;
}

static void put_removed(struct shards_command *command, const struct table_codes *codes, size_t i)
{
    char text[24 * DOPPEL_IMAGE_MAX_QUERIES];
    size_t size = 0;
    for (size_t j = 0; codes && j < codes->tables[i].count; j++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%" PRIu64 " ",
                                 codes->tables[i].payloads[j]);
    command_bytes(command, text, size);
}

static void put_added(struct shards_command *command, const struct table_codes *codes, size_t i)
{
    uint64_t packed[DOPPEL_IMAGE_TABLE_WORDS + DOPPEL_IMAGE_MAX_QUERIES];
    const size_t count = codes ? codes->tables[i].count : 0;
    const size_t words = count ? count * codes->tables[i].words_each : 0;
    if (count) {
        memcpy(packed, codes->tables[i].payloads, count * sizeof *packed);
        memcpy(packed + count, codes->tables[i].words, words * sizeof *packed);
    }
    command_bytes(command, packed, (count + words) * sizeof *packed);
}

enum doppel_status script_change(const struct doppel_shards *shards,
                                 struct shards_commands *commands,
                                 const struct shards_change *change, struct doppel_error *error)
{
    bool used[SHARDS_TABLES];
    char suffix[64];
    const size_t tables = count_tables(change, used);
    struct shards_command *command =
        begin_shard_script(commands, change->id, change_script, 3 + tables, 6 + 2 * tables);
    if (!command)
        return no_script_memory(error);
    command_key(command, shards, "items");
    command_key(command, shards, "names");
    command_key(command, shards, "challenges");
    for (size_t i = 0; i < SHARDS_TABLES; i++)
        if (used[i]) {
            table_suffix(scheme_of_change(change), (enum shards_table)i, suffix);
            command_key(command, shards, suffix);
        }
    command_number(command, change->id);
    command_word(command, change->name);
    command_word(command, change->json ? change->json : "");
    command_number(command, change->pending);
    command_number(command, change->was != NULL);
    command_word(command, change->was ? change->was : "");
    for (size_t i = 0; i < SHARDS_TABLES; i++)
        if (used[i]) {
            put_removed(command, change->before, i);
            put_added(command, change->after, i);
        }
    return doppel_json_status(&command->bytes, error);
}

/* ---- pending items ---- */

enum doppel_status script_confirm(const struct doppel_shards *shards,
                                  struct shards_commands *commands, uint64_t id, const char *was,
                                  struct doppel_error *error)
{
    struct shards_command *command = begin_shard_script(commands, id, confirm_script, 2, 2);
    if (!command)
        return no_script_memory(error);
    command_key(command, shards, "items");
    command_key(command, shards, "challenges");
    command_number(command, id);
    command_word(command, was);
    return doppel_json_status(&command->bytes, error);
}

enum doppel_status script_challenge(const struct doppel_shards *shards,
                                    struct shards_commands *commands, uint64_t id, uint64_t older,
                                    bool ends, struct doppel_error *error)
{
    struct shards_command *command = begin_shard_script(commands, id, challenge_script, 2, 3);
    if (!command)
        return no_script_memory(error);
    command_key(command, shards, "items");
    command_key(command, shards, "challenges");
    command_number(command, id);
    command_number(command, older);
    command_number(command, ends);
    return doppel_json_status(&command->bytes, error);
}
