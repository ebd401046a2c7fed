/* Compare two picture files, in this process. Needs doppel, all rooms in one library:
 *
 *     cc compare_files.c $(pkg-config --cflags --libs doppel) -o compare_files
 *
 * The decoders run here: for files from strangers use the pool of doppel/worker.h instead.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/doppel.h>

/* All views of the picture at `path`; the caller frees `out->fingerprint`. */
static enum doppel_status read_features(const char *path, struct doppel_image_features *out,
                                        struct doppel_error *error)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be opened");
    struct doppel_luma luma;
    enum doppel_status status = doppel_media_read_luma(fd, NULL, &luma, error);
    close(fd);
    if (status != DOPPEL_OK)
        return status;
    status = doppel_image_features(&luma.plane, out, error);
    doppel_luma_free(&luma);
    return status;
}

int main(int argc, char **argv)
{
    struct doppel_image_features features[2];
    struct doppel_error error;
    if (argc != 3) {
        fprintf(stderr, "usage: compare_files A B\n");
        return 2;
    }
    for (int i = 0; i < 2; i++)
        if (read_features(argv[i + 1], &features[i], &error) != DOPPEL_OK) {
            fprintf(stderr, "%s: %s\n", argv[i + 1], error.message);
            return 2;
        }
    struct doppel_match_item a = {&features[0].fingerprint, features[0].quality};
    struct doppel_match_item b = {&features[1].fingerprint, features[1].quality};
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_match match;
    bool same = doppel_match_pair(&a, &b, &options, &match);
    printf("%s: distance %u of %u bits, similarity %.3f, false-positive rate %.1e\n",
           same ? "the same" : "different", (unsigned)match.distance, (unsigned)match.bits,
           match.similarity, match.false_positive_rate);
    doppel_fingerprint_free(&features[0].fingerprint);
    doppel_fingerprint_free(&features[1].fingerprint);
    return same ? 0 : 1;
}
