#pragma once
#include <libyuv.h>

// Swift copies a C constant instead of taking its address.
static inline const struct YuvConstants *CYUV_constants_601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *CYUV_constants_709(void) { return &kYuvH709Constants; }
static inline const struct YuvConstants *CYUV_constants_709_full(void) { return &kYuvF709Constants; }
static inline const struct YuvConstants *CYUV_constants_2020(void) { return &kYuv2020Constants; }
static inline const struct YuvConstants *CYUV_constants_2020_full(void) { return &kYuvV2020Constants; }
