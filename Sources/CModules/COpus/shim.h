#pragma once
#include <opus.h>

// opus_encoder_ctl is variadic: Swift cannot call it. Every request used here takes or gives one opus_int32.
static inline int COpus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value) {
    return opus_encoder_ctl(encoder, request, value);
}
static inline int COpus_encoder_get(OpusEncoder *encoder, int request, opus_int32 *value) {
    return opus_encoder_ctl(encoder, request, value);
}
// decode: opus_decoder_ctl is variadic and its requests are macros, which Swift cannot see.
static inline int COpus_decoder_reset(OpusDecoder *decoder) { return opus_decoder_ctl(decoder, OPUS_RESET_STATE); }
