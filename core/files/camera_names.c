/* Names that cameras, and programs that develop, give to files which belong together. */
#include "core/files/camera_names.h"

#include <string.h>
#include <strings.h>

const char *const sidecar_endings[] = {".xmp", ".XMP", ".aae", ".AAE", ".pp3",
                                       ".dop", ".cos", ".arp", NULL};
const char *const live_video_endings[] = {".mov", ".MOV", NULL};

static const char *const raw_endings[] = {".dng", ".cr2", ".cr3", ".crw", ".nef", ".nrw", ".arw",
                                          ".raf", ".orf", ".rw2", ".pef", ".srw", ".x3f", ".mrw",
                                          ".kdc", ".dcr", ".erf", ".iiq", ".3fr", ".fff", ".mef",
                                          ".mos", ".rwl", ".sr2", ".srf", ".gpr", NULL};

static bool ends_in_one_of(const char *path, const char *const *endings)
{
    const char *ending = path + stem_length(path);
    for (; *endings; endings++)
        if (strcasecmp(ending, *endings) == 0)
            return true;
    return false;
}

bool is_raw_name(const char *path)
{
    return ends_in_one_of(path, raw_endings);
}

bool is_sidecar_name(const char *path)
{
    return ends_in_one_of(path, sidecar_endings);
}

size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? (size_t)(dot - path) : strlen(path);
}
