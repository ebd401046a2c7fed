/* A temporary file that nobody else sees. */
#ifndef DOPPEL_CORE_FILES_NAMELESS_FILE_H
#define DOPPEL_CORE_FILES_NAMELESS_FILE_H

/* To be read and written; it goes with its last descriptor. @return given (close); -1 with errno */
int nameless_file(const char *folder);

#endif
