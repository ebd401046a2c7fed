/* doppel-worker: a child of a pool, or of a listener. It receives open files on descriptor 0 and
 * answers each, in order, until its parent goes; or one stream, and tells what it hears; or
 * archives, and sends what they hold. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/try.h"
#include "documents/documents.h"
#include "documents/ocr.h"
#include "worker/bell.h"
#include "worker/confine.h"
#include "worker/fingerprint.h"
#include "worker/kept_fonts.h"
#include "worker/listen.h"
#include "worker/listening.h"
#include "worker/process.h"
#include "worker/sandbox.h"
#include "worker/unpack_archives.h"

enum { SOCKET = STDIN_FILENO, EXIT_GONE = 1, EXIT_USE, EXIT_START };

/* False when the parent is gone. */
static bool work_workshop(struct workshop *workshop, const struct worker_order *order)
{
    struct doppel_outcome outcome;
    fingerprint_file(workshop, order->fd, &order->wanted, &outcome);
    outcome.tag = order->serial;
    close(order->fd);
    bool answered = answer_send(SOCKET, &outcome);
    doppel_outcome_free(&outcome);
    return answered;
}

static void serve(struct workshop *workshop)
{
    struct worker_order orders[PROTOCOL_BATCH];
    struct bell bell = {.fd = PROCESS_BELL};
    size_t count;
    bell_ring(&bell); /* the pool counts the timeout from now on */
    while ((count = bell_take_orders(&bell, SOCKET, orders)) > 0)
        for (size_t i = 0; i < count; i++) {
            if (!work_workshop(workshop, &orders[i]))
                return;
            bell_answered(&bell);
        }
}

/* The first frame says what this worker is for. */
struct purpose {
    bool listen, unpack;
    struct worker_limits limits;
    struct listen_order order;
    struct unpack_order archive;
    int stream; /* to listen to, or the archive */
};

/* 0, or what the process is to end with. */
static int take_purpose(struct purpose *out)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES + 1];
    *out = (struct purpose){.stream = -1};
    ssize_t size = recv(SOCKET, frame, 1, MSG_PEEK);
    if (size > 0)
        size = frame_receive(SOCKET, frame, sizeof frame, &out->stream);
    if (size == 0)
        return EXIT_GONE;
    if (size > 0 && out->stream >= 0 && listen_read(frame, (size_t)size, &out->order)) {
        out->listen = true;
        out->limits.max_memory = out->order.max_memory;
        out->limits.sandbox = out->order.sandbox;
        return 0;
    }
    if (size > 0 && out->stream >= 0 && unpack_order_read(frame, (size_t)size, &out->archive)) {
        out->unpack = true;
        out->limits.max_memory = out->archive.max_memory;
        out->limits.sandbox = out->archive.sandbox;
        return 0;
    }
    return size > 0 && hello_read(frame, (size_t)size, &out->limits) ? 0 : EXIT_USE;
}

static void work_on_purpose(const struct purpose *purpose, struct progress_page *page,
                            struct ocr *ocr)
{
    struct workshop workshop = {.limits = purpose->limits, .progress = page, .ocr = ocr};
    if (purpose->listen)
        listen_to(SOCKET, purpose->stream, &purpose->order);
    else if (purpose->unpack)
        unpack_archives(SOCKET, purpose->stream, &purpose->archive);
    else
        serve(&workshop);
    workshop_close(&workshop);
}

/* All that is ever loaded is loaded, and then nothing can be opened any more.
 * @param out_ocr given (ocr_close); NULL: it is not wanted */
static enum doppel_status enter_confinement(const struct purpose *purpose,
                                            struct progress_page *page,
                                            struct doppel_confinement *held, struct ocr **out_ocr,
                                            struct doppel_error *error)
{
    char libraries[DOPPEL_LIBRARIES_BYTES];
    doppel_media_prepare(libraries, sizeof libraries);
    size_t used = strlen(libraries);
    keep_fonts();
    documents_prepare(libraries + used, sizeof libraries - used);
    enum doppel_status status = DOPPEL_OK;
    TRY(confine(&purpose->limits, error));
    if (*purpose->limits.ocr)
        TRY(ocr_open(purpose->limits.ocr, out_ocr, error));
    TRY(sandbox_enter((enum doppel_sandbox)purpose->limits.sandbox, purpose->stream, page, held,
                      error));
    hold_fonts();
done:
    memcpy(held->libraries, libraries, sizeof libraries);
    return status;
}

int main(void)
{
    uint8_t frame[READY_MOST_BYTES];
    struct purpose purpose;
    struct doppel_confinement held = {0};
    struct doppel_error error;
    struct ocr *ocr = NULL;
    settle_allocator();
    int wrong = take_purpose(&purpose);
    if (wrong == EXIT_GONE)
        return 0;
    if (wrong) {
        fputs("doppel-worker: it is started by doppel, of the same version, and of no use alone\n",
              stderr);
        return wrong;
    }
    struct progress_page *page = progress_page_take(PROCESS_PROGRESS);
    if (enter_confinement(&purpose, page, &held, &ocr, &error)) {
        frame_send(SOCKET, frame, end_write(&error, frame, sizeof frame));
        return EXIT_START;
    }
    if (frame_send(SOCKET, frame, ready_write(&held, frame)))
        work_on_purpose(&purpose, page, ocr);
    ocr_close(ocr);
    return 0;
}
