/* Raw files of cameras: most are TIFFs whose first directory says so. */
#include "media/decode.h"
#include "media/probe.h"

#define BYTES(text) text, sizeof(text) - 1

enum { REDUCED_IMAGE = 1, PENTAX_COMPRESSION = 65535 };

static bool has_raw_magic(const struct file_head *head)
{
    return head_has(head, 0, BYTES("FUJIFILMCCD-RAW ")) ||                          /* RAF */
           head_has(head, 0, BYTES("IIRO")) ||                                      /* ORF */
           head_has(head, 0, BYTES("IIRS")) ||                                      /* ORF */
           head_has(head, 0, BYTES("MMOR")) ||                                      /* ORF */
           head_has(head, 0, BYTES("IIU\0")) ||                                     /* RW2 */
           head_has(head, 0, BYTES("FOVb")) ||                                      /* X3F */
           head_has(head, 0, BYTES("\0MRM")) ||                                     /* MRW */
           head_has(head, 0, BYTES("II\x1a\0\0\0HEAPCCDR")) ||                      /* CRW */
           (head_has(head, 0, BYTES("II*\0")) && head_has(head, 8, BYTES("CR"))) || /* CR2 */
           (head_has(head, 4, BYTES("ftypcrx ")));                                  /* CR3 */
}

/* DNG has its version. In NEF, ARW, SRW and others the first directory is a preview, and the
 * sensor's data lie in another one below it; in PEF the first has them, in a compression of its
 * own. */
static bool is_raw_tiff(const struct file_head *head)
{
    const uint8_t *data = head->data;
    size_t size = head->size;
    if (tiff_has(data, size, TIFF_DNG_VERSION))
        return true;
    if (!tiff_has(data, size, TIFF_MAKE))
        return false;
    return tiff_number(data, size, TIFF_COMPRESSION) == PENTAX_COMPRESSION ||
           (tiff_has(data, size, TIFF_DIRECTORIES_BELOW) &&
            tiff_number(data, size, TIFF_NEW_SUBFILE_TYPE) == REDUCED_IMAGE);
}

enum doppel_kind probe_raw(const struct file_head *head, enum doppel_format *format)
{
    if (!has_raw_magic(head) && !is_raw_tiff(head))
        return DOPPEL_KIND_UNKNOWN;
    *format = DOPPEL_FORMAT_RAW;
    return DOPPEL_KIND_IMAGE;
}
