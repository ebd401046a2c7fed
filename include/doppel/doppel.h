/** doppel/doppel.h: all of doppel. Each room can be used alone by its own header and pkg-config
 * file. */
#ifndef DOPPEL_DOPPEL_H
#define DOPPEL_DOPPEL_H

#include <doppel/act.h>
#include <doppel/audio.h>
#include <doppel/client.h>
#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/corpus.h>
#include <doppel/corpus_stages.h>
#include <doppel/decide.h>
#include <doppel/embed.h>
#include <doppel/embed_index.h>
#include <doppel/embedder.h>
#include <doppel/exchange.h>
#include <doppel/group.h>
#include <doppel/image.h>
#include <doppel/index.h>
#include <doppel/intake.h>
#include <doppel/library.h>
#include <doppel/local.h>
#include <doppel/match.h>
#include <doppel/media.h>
#include <doppel/report.h>
#include <doppel/search.h>
#include <doppel/search_semantic.h>
#include <doppel/search_whiten.h>
#include <doppel/shards.h>
#include <doppel/store.h>
#include <doppel/stream.h>
#include <doppel/text.h>
#include <doppel/vector.h>
#include <doppel/video.h>
#include <doppel/worker.h>

#endif
