/* Messages of mail: one, or those of an mbox. */
#ifndef DOPPEL_DOCUMENTS_MAIL_H
#define DOPPEL_DOCUMENTS_MAIL_H

#include "documents/mime.h"

/* The next message, from behind its "From " line; it is taken off `box`. A file that does not begin
 * with such a line is one message. @return false at the end */
bool next_message(struct mail_span *box, struct mail_span *out);

#endif
