/* What the administrator of this machine allows: limits that users may tighten and not loosen. */
#include "tools/args/policy.h"

#include <string.h>

#include <doppel/intake.h>

#include "core/try.h"
#include "tools/args/config.h"

/* ---- what is switched off ---- */

/* "HEIC, JPEG XL, video" */
static enum doppel_status switch_off(const char *names, uint32_t *out, struct doppel_error *error)
{
    while (*names) {
        char name[16] = "";
        names += strspn(names, " \t,");
        size_t length = strcspn(names, ","), kept = length < sizeof name ? length : 0;
        memcpy(name, names, kept);
        while (kept && strchr(" \t", name[kept - 1]))
            name[--kept] = '\0';
        uint32_t bit = doppel_switch_bit(name);
        if (length && !bit)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no format or kind '%.*s'",
                               (int)length, names);
        *out |= bit;
        names += length;
    }
    return DOPPEL_OK;
}

/* ---- limits ---- */

/* 0 is no limit. */
static uint64_t tighter(uint64_t wanted, uint64_t allowed)
{
    return allowed && (!wanted || wanted > allowed) ? allowed : wanted;
}

static void tighten(struct settings *settings, const struct settings *policy)
{
    settings->max_pixels = tighter(settings->max_pixels, policy->max_pixels);
    settings->max_memory = tighter(settings->max_memory, policy->max_memory);
    settings->max_record = tighter(settings->max_record, policy->max_record);
    settings->max_bytes = tighter(settings->max_bytes, policy->max_bytes);
    settings->max_ms = (uint32_t)tighter(settings->max_ms, policy->max_ms);
    settings->timeout_ms = (uint32_t)tighter(settings->timeout_ms, policy->timeout_ms);
    settings->jobs = (uint32_t)tighter(settings->jobs, policy->jobs);
    settings->switched_off |= policy->switched_off;
}

static bool is_limit(const char *name)
{
    static const char *const limits[] = {"max-pixels",  "max-memory", "max-record", "max-bytes",
                                         "max-seconds", "timeout",    "jobs"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(name, limits[i]) == 0)
            return true;
    return false;
}

static enum doppel_status take_entry(const struct config_entry *entry, struct settings *policy,
                                     struct doppel_error *error)
{
    if (strcmp(entry->name, "switched-off") == 0)
        return switch_off(entry->value, &policy->switched_off, error);
    if (entry->verb || !is_limit(entry->name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no limit of a policy");
    return settings_set_limit(entry->name, entry->value, policy, error);
}

enum doppel_status policy_apply(struct settings *settings, struct doppel_error *error)
{
    struct config config;
    struct settings policy = {0};
    struct doppel_error why;
    enum doppel_status status = config_read_file(policy_path(), &config, error);
    if (status)
        return status;
    for (size_t i = 0; i < config.count; i++)
        if (take_entry(&config.items[i], &policy, &why))
            TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "%s:%u: %s: %s", config.path,
                            config.items[i].line, config.items[i].name, why.message));
    tighten(settings, &policy);
done:
    config_free(&config);
    return status;
}
