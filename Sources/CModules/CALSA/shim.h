#pragma once
#include <alsa/asoundlib.h>

// The handler of the library's own words is variadic, which Swift cannot write.
static void CALSA_say_nothing(
    const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}
static inline int CALSA_silence(void) { return snd_lib_error_set_handler(CALSA_say_nothing); }
