/* A library of images for tests, and its groups as text. */
#include "tests/group/paired_library.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/image.h"
#include "tests/match/images.h"
#include "tests/store/folder.h"

unsigned draw(struct world *world, unsigned end)
{
    return (unsigned)(random_word(&world->random) % end);
}

static void note_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct world *world = context;
    (void)level, (void)path, (void)text;
    world->notices++;
}

void open_world(struct world *world)
{
    const struct doppel_library_options options = {.create = true};
    assert_int_equal(doppel_library_open(world->directory, &options, &world->library, NULL),
                     DOPPEL_OK);
}

void world_make(struct world *world, const char *folder, uint64_t seed)
{
    const struct doppel_run_options run = {.jobs = 2, .on_notice = note_notice, .context = world};
    *world =
        (struct world){.folder = folder, .random = seed, .options = doppel_group_options_default()};
    world->directory = strdup(folder_path(folder, "library"));
    assert_int_equal(doppel_run_new(&run, &world->run, NULL), DOPPEL_OK);
    open_world(world);
}

void world_free(struct world *world)
{
    doppel_library_close(world->library);
    doppel_run_free(world->run);
    doppel_item_set_free(&world->wanted);
    free(world->directory);
}

/* ---- items ---- */

struct doppel_record make_record(struct world *world)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    const unsigned family = draw(world, 30);
    uint64_t seed = 1000 + family, bytes = random_word(&world->random);
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .width = 64,
                                   .height = 64,
                                   .quality = draw(world, 12) ? 90 : 1};
    record.fingerprint = make_fingerprint(scheme->id, family % 2 ? 0x7 : 0xfff, &seed);
    if (draw(world, 4))
        disturb(&record.fingerprint, 5 + draw(world, 30), &world->random);
    if (draw(world, 5) == 0)
        bytes = draw(world, 20);
    record.digest = doppel_digest_bytes(&bytes, sizeof bytes);
    return record;
}

static struct doppel_record make_record_of_bytes(struct world *world)
{
    const uint64_t bytes = draw(world, 20);
    return (struct doppel_record){.digest = doppel_digest_bytes(&bytes, sizeof bytes)};
}

void put_file(struct world *world, unsigned file)
{
    char path[64];
    enum doppel_added added;
    const struct doppel_file_stamp stamp = {
        .device = 1, .inode = file + 1, .size = 100, .mtime_ns = (int64_t)draw(world, 1000)};
    struct doppel_record record = draw(world, 8) ? make_record(world) : make_record_of_bytes(world);
    snprintf(path, sizeof path, "/files/%u.jpg", file);
    assert_int_equal(
        doppel_library_add(world->library, path, &stamp, &record, &added, &world->ids[file], NULL),
        DOPPEL_OK);
    doppel_record_free(&record);
    for (unsigned other = 0; other < FILES; other++)
        if (other != file && world->ids[other] == world->ids[file])
            world->ids[other] = 0; /* it has moved: no file is really there */
}

static void disable_file(struct world *world, unsigned file)
{
    char *lists[] = {"off"};
    const struct doppel_metadata metadata = {.lists = lists, .list_count = 1};
    if (doppel_library_remove_from_list(world->library, world->ids[file], "off", NULL))
        assert_int_equal(
            doppel_library_set_metadata(world->library, world->ids[file], &metadata, NULL),
            DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(world->library, "off", DOPPEL_LIST_DISABLED, NULL),
                     DOPPEL_OK);
}

void change_items(struct world *world)
{
    for (unsigned left = draw(world, 6); left; left--) {
        const unsigned file = draw(world, FILES);
        if (!world->ids[file] || draw(world, 3) == 0) {
            put_file(world, file);
        } else if (draw(world, 4) == 0) {
            disable_file(world, file);
        } else {
            assert_int_equal(doppel_library_remove(world->library, world->ids[file], NULL),
                             DOPPEL_OK);
            world->ids[file] = 0;
        }
    }
    assert_int_equal(doppel_library_commit(world->library, NULL), DOPPEL_OK);
}

/* ---- groups ---- */

int compare_ids(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void tell_group(struct told_groups *told, uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        told->used += (size_t)snprintf(told->text + told->used, sizeof told->text - told->used,
                                       "%s%llu", i ? " " : "", (unsigned long long)ids[i]);
    told->used += (size_t)snprintf(told->text + told->used, sizeof told->text - told->used, "\n");
    assert_true(told->used < sizeof told->text);
}

static enum doppel_status take_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    uint64_t ids[FILES];
    (void)error;
    assert_true(group->count <= FILES);
    for (size_t i = 0; i < group->count; i++)
        ids[i] = group->members[i].id;
    tell_group(context, ids, group->count);
    return DOPPEL_OK;
}

/* By the matcher alone, from all items. */
struct expected {
    struct world *world;
    struct doppel_matcher *matcher;
    struct doppel_digest digests[FILES];
    uint64_t ids[FILES];
    uint32_t first[FILES], leaders[FILES], joined[FILES], count;
    struct doppel_edge edges[FILES * FILES];
    size_t edge_count;
};

static bool is_disabled(struct world *world, uint64_t id)
{
    enum doppel_list_state state;
    assert_int_equal(doppel_library_state_of(world->library, id, &state, NULL), DOPPEL_OK);
    return state == DOPPEL_LIST_DISABLED;
}

static void expect_image(struct expected *expected, uint64_t id, const struct doppel_record *record)
{
    const uint32_t number = expected->count++;
    const struct doppel_match_item item = {&record->fingerprint, record->quality};
    expected->ids[number] = id;
    expected->digests[number] = record->digest;
    for (expected->first[number] = 0; memcmp(&expected->digests[expected->first[number]],
                                             &record->digest, sizeof record->digest) != 0;)
        expected->first[number]++;
    if (expected->first[number] == number)
        assert_int_equal(doppel_matcher_add(expected->matcher, number, &item, NULL), DOPPEL_OK);
}

static bool expect_item(void *context, const struct doppel_item *item)
{
    struct expected *expected = context;
    struct world *world = expected->world;
    struct doppel_item same;
    uint64_t id;
    if (item->record.error.status || !doppel_item_set_has(&world->wanted, item->id) ||
        is_disabled(world, item->id))
        return true;
    if (item->record.scheme == DOPPEL_SCHEME_PHASH64) {
        expect_image(expected, item->id, &item->record);
        return true;
    }
    assert_int_equal(doppel_library_by_digest(world->library, &item->record.digest, &id, NULL),
                     DOPPEL_OK);
    if (id == item->id)
        return true;
    if (doppel_library_get(world->library, id, false, &same, NULL)) /* it is damaged */
        return true;
    if (same.record.scheme == DOPPEL_SCHEME_PHASH64)
        expect_image(expected, item->id, &same.record);
    doppel_item_free(&same);
    return true;
}

static bool expect_pair(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct expected *expected = context;
    const struct doppel_match_options match = match_options_from(&expected->world->options.compare);
    /* there are no pixels to be checked */
    if (found->borderline && !doppel_match_by_codes(&found->match, &match))
        return true;
    *out_follows = true;
    expected->edges[expected->edge_count++] = (struct doppel_edge){
        (uint32_t)found->query, (uint32_t)found->id, found->match.similarity, 0, false};
    return true;
}

static void expect_groups(struct world *world, struct told_groups *out)
{
    static struct expected expected;
    const struct doppel_match_options match = match_options_from(&world->options.compare);
    memset(&expected, 0, sizeof expected);
    expected.world = world;
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_PHASH64, &match, 1, &expected.matcher, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_each(world->library, expect_item, &expected, NULL), DOPPEL_OK);
    assert_int_equal(doppel_matcher_lead(expected.matcher, expect_pair, &expected, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_group_by_leader(expected.count, expected.edges, expected.edge_count,
                                            expected.leaders, expected.joined),
                     DOPPEL_OK);
    out->used = 0;
    out->text[0] = '\0';
    for (uint32_t leader = 0; leader < expected.count; leader++) {
        uint64_t ids[FILES];
        size_t count = 0;
        for (uint32_t i = 0; i < expected.count; i++)
            if (expected.leaders[expected.first[i]] == leader)
                ids[count++] = expected.ids[i];
        if (count > 1)
            tell_group(out, ids, count);
    }
    out->counts.items[DOPPEL_KIND_IMAGE] = expected.count;
    doppel_matcher_free(expected.matcher);
}

void find_groups(struct world *world, struct told_groups *out)
{
    out->used = 0;
    out->text[0] = '\0';
    world->options.bytes_alone = false;
    world->options.wanted = &world->wanted;
    struct doppel_error error = {0};
    if (doppel_library_groups(world->run, world->library, &world->options, take_group, out,
                              &out->counts, &error))
        fail_msg("%s", error.message);
}

void assert_groups(struct world *world, const char *when)
{
    static struct told_groups expected, found;
    expect_groups(world, &expected);
    find_groups(world, &found);
    if (strcmp(expected.text, found.text) != 0)
        print_error("%s\n", when);
    assert_string_equal(found.text, expected.text);
    assert_int_equal(found.counts.items[DOPPEL_KIND_IMAGE],
                     expected.counts.items[DOPPEL_KIND_IMAGE]);
}

/* ---- the file ---- */

bool find_pairs_file(const struct world *world, char *out, size_t size)
{
    bool found = false;
    snprintf(out, size, "%s/phash64-pairs", world->directory);
    DIR *folder = opendir(out);
    const size_t length = strlen(out);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".pairs")) {
            snprintf(out + length, size - length, "/%s", entry->d_name);
            found = true;
        }
    if (folder)
        closedir(folder);
    return found;
}

void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(out);
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    if (in)
        fclose(in);
}
