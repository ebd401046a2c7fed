/* Two texts that have nothing in common; the first, with another word at its end, is near itself.
 */
#ifndef TESTS_DECIDE_SENTENCES_H
#define TESTS_DECIDE_SENTENCES_H

#define FOX                                                                                        \
    "the old fox lives in the deep wood behind the long hill where the brown bear sleeps all "     \
    "winter and dreams of honey and of the warm days of the next summer "
#define KETTLE                                                                                     \
    "a kettle sings on the stove while rain knocks at each window of this small kitchen and "      \
    "someone reads last week's paper aloud to nobody but a cat under one chair"

#endif
