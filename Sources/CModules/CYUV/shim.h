#pragma once
#include <libyuv.h>

// Swift copies a C constant instead of taking its address.
static inline const struct YuvConstants *CYUV_constants_601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *CYUV_constants_709(void) { return &kYuvH709Constants; }
static inline const struct YuvConstants *CYUV_constants_709_full(void) { return &kYuvF709Constants; }
static inline const struct YuvConstants *CYUV_constants_2020(void) { return &kYuv2020Constants; }
static inline const struct YuvConstants *CYUV_constants_2020_full(void) { return &kYuvV2020Constants; }
static inline const struct YuvConstants *CYUV_constants_601(void) { return &kYuvI601Constants; }
// With the planes U and V exchanged these give R, G, B, A in memory instead of B, G, R, A.
static inline const struct YuvConstants *CYUV_swapped_601(void) { return &kYvuI601Constants; }
static inline const struct YuvConstants *CYUV_swapped_601_full(void) { return &kYvuJPEGConstants; }
static inline const struct YuvConstants *CYUV_swapped_709(void) { return &kYvuH709Constants; }
static inline const struct YuvConstants *CYUV_swapped_709_full(void) { return &kYvuF709Constants; }
static inline const struct YuvConstants *CYUV_swapped_2020(void) { return &kYvu2020Constants; }
static inline const struct YuvConstants *CYUV_swapped_2020_full(void) { return &kYvuV2020Constants; }
