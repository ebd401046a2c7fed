/* Where a key lies. */
#include "shards/slots.h"

#include <stdio.h>
#include <string.h>

#include <doppel/shards.h>

#include "core/digest.h"

uint32_t slot_of_shard(uint32_t shard)
{
    enum { POLYNOMIAL = 0x1021 };
    char tag[12];
    uint32_t crc = 0;
    snprintf(tag, sizeof tag, "%u", shard);
    for (const char *at = tag; *at; at++) {
        crc ^= (uint32_t)(uint8_t)*at << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? POLYNOMIAL : 0)) & 0xffff;
    }
    return crc % REDIS_SLOTS;
}

uint32_t shard_of_name(const char *name)
{
    return (uint32_t)(checksum64(name, strlen(name)) % DOPPEL_SHARDS);
}
