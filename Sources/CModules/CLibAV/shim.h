#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Errors: all of these are macros that Swift cannot see.
static const int CLibAV_ERROR_EOF = AVERROR_EOF;
static const int CLibAV_ERROR_EXIT = AVERROR_EXIT;
static const int CLibAV_ERROR_INVALIDDATA = AVERROR_INVALIDDATA;
static const int CLibAV_ERROR_EAGAIN = AVERROR(EAGAIN);
static const int CLibAV_ERROR_ENOENT = AVERROR(ENOENT);
static const int CLibAV_ERROR_EACCES = AVERROR(EACCES);
static const int CLibAV_ERROR_EISDIR = AVERROR(EISDIR);
static const int CLibAV_ERROR_ENOMEM = AVERROR(ENOMEM);
static const int CLibAV_ERROR_ENOSPC = AVERROR(ENOSPC);
static const int CLibAV_ERROR_EPIPE = AVERROR(EPIPE);
static const int64_t CLibAV_NOPTS_VALUE = AV_NOPTS_VALUE;

// encode/capture

// decode/record/output
