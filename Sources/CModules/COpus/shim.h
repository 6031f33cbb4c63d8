#pragma once
#include <opus.h>

// decode: opus_decoder_ctl is variadic and its requests are macros, which Swift cannot see.
static inline int COpus_decoder_reset(OpusDecoder *decoder) { return opus_decoder_ctl(decoder, OPUS_RESET_STATE); }
