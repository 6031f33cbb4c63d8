#pragma once
#include <stdint.h>  // x264.h needs it and does not include it
#include <x264.h>

// x264_encoder_open is a macro that pastes the build number to the name: Swift cannot see it.
static inline x264_t *CX264_encoder_open(x264_param_t *param) { return x264_encoder_open(param); }
