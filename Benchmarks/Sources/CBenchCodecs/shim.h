#pragma once
#include <libavcodec/avcodec.h>
#include <stdint.h>
#include <x264.h>
