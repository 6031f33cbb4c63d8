#pragma once
#include <libavcodec/avcodec.h>
#include <libavdevice/version.h>
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
static const int CLibAV_ERROR_ENOMEM = AVERROR(ENOMEM);
static const int CLibAV_ERROR_ENOSPC = AVERROR(ENOSPC);
static const int CLibAV_ERROR_PROTOCOL_NOT_FOUND = AVERROR_PROTOCOL_NOT_FOUND;
static const int CLibAV_ERROR_MUXER_NOT_FOUND = AVERROR_MUXER_NOT_FOUND;
static const int CLibAV_ERROR_HTTP_BAD_REQUEST = AVERROR_HTTP_BAD_REQUEST;
static const int CLibAV_ERROR_HTTP_UNAUTHORIZED = AVERROR_HTTP_UNAUTHORIZED;
static const int CLibAV_ERROR_HTTP_FORBIDDEN = AVERROR_HTTP_FORBIDDEN;
static const int CLibAV_ERROR_HTTP_NOT_FOUND = AVERROR_HTTP_NOT_FOUND;
static const int CLibAV_ERROR_HTTP_OTHER_4XX = AVERROR_HTTP_OTHER_4XX;
static const int64_t CLibAV_NOPTS_VALUE = AV_NOPTS_VALUE;

// encode/capture

// libavdevice is loaded at run time (see DeviceLibrary); only this number of its headers is used.
static const int CLibAV_DEVICE_VERSION_MAJOR = LIBAVDEVICE_VERSION_MAJOR;

// How long a frame lasts, in units of its stream; the field was renamed in libavutil 57.30.
static inline int64_t CLibAV_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

// The nine numbers that say how a stream is turned, or null; side data moved to the parameters in libavformat 60.15.
static inline const int32_t *CLibAV_display_matrix(const AVStream *stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *data = av_packet_side_data_get(stream->codecpar->coded_side_data,
        stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= 9 * sizeof(int32_t) ? (const int32_t *)data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#endif
}

// decode/record/output

// The callback's buffer became const in libavformat 61; our side reads only.
static inline AVIOContext *CLibAV_avio_alloc_output(
    unsigned char *buffer, int size, void *opaque, int (*write)(void *, const uint8_t *, int),
    int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return avio_alloc_context(buffer, size, 1, opaque, 0, write, seek);
#else
    return avio_alloc_context(buffer, size, 1, opaque, 0, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

// Frees the context and the buffer that it holds by then.
static inline void CLibAV_avio_free(AVIOContext *context) {
    if (context) av_freep(&context->buffer);
    avio_context_free(&context);
}

// Says how the viewer must turn the picture (clockwise degrees); side data moved from the stream to its parameters.
static inline int CLibAV_set_rotation(AVStream *stream, int degrees) {
    size_t size = 9 * sizeof(int32_t);
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    AVPacketSideData *data = av_packet_side_data_new(&stream->codecpar->coded_side_data,
        &stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX, size, 0);
    int32_t *matrix = data ? (int32_t *)data->data : NULL;
#else
    int32_t *matrix = (int32_t *)av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
#endif
    if (!matrix) return AVERROR(ENOMEM);
    av_display_rotation_set(matrix, degrees);
    return 0;
}
