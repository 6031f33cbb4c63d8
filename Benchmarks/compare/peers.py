"""What Gantry is compared with, each with its best settings for low latency, and Gantry itself.

A peer is a function of `Task` that gives the command of the receiver (I420 on standard output) and of the sender (I420 on
standard input). All that encode H.264 use x264 with the same preset, two sliced threads, no B pictures and no lookahead, at the
same bitrate. `congestion` is how TCP of the sender's host behaves.
"""
from dataclasses import dataclass, field

SENDER, RECEIVER, PORT = "10.77.0.1", "10.77.0.2", 5000


@dataclass
class Task:
    width: int
    height: int
    rate: int
    bitrate: int  # bits a second
    preset: str
    tools: str
    states: str


@dataclass
class Peer:
    name: str
    title: str
    make: object
    form: str = "raw"
    # Which end must be there before the other.
    first: str = "receiver"
    congestion: str = "cubic"
    needs: list = field(default_factory=lambda: ["ffmpeg"])


FFMPEG = ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "error"]
# Every buffer that can be told to write at once is.
AT_ONCE = ["-flush_packets", "1", "-max_delay", "0", "-muxdelay", "0", "-muxpreload", "0"]


def pictures(task):
    return ["-fflags", "nobuffer", "-probesize", "32", "-analyzeduration", "0", "-f", "rawvideo", "-pix_fmt", "yuv420p",
            "-video_size", f"{task.width}x{task.height}", "-framerate", str(task.rate), "-i", "pipe:0", "-fps_mode", "passthrough"]


def x264(task):
    rate = task.bitrate // 1000
    return ["-c:v", "libx264", "-preset", task.preset, "-tune", "zerolatency", "-profile:v", "main", "-b:v", f"{rate}k",
            "-maxrate", f"{rate}k", "-bufsize", f"{rate // 10}k", "-g", str(2 * task.rate), "-threads", "2",
            "-x264-params", "sliced-threads=1:repeat-headers=1"]


def reading(form, url, *options, probe="5000"):
    return FFMPEG + [
        "-fflags", "nobuffer", "-flags", "low_delay", "-threads", "1", "-probesize", probe, "-analyzeduration", "0", *options,
        "-f", form, "-i", url, "-an", "-threads", "1", "-flush_packets", "1", "-fps_mode", "passthrough", "-pix_fmt", "yuv420p",
        "-f", "rawvideo", "pipe:1"]


# The parser of MPEG-TS waits for the next picture to know that one is over; with lengths in the PES headers it can be left out.
NO_PARSER = ["-fflags", "nobuffer+noparse+nofillin"]


def ffmpeg_udp_plain(task):
    return (reading("mpegts", f"udp://{RECEIVER}:{PORT}?fifo_size=100000&overrun_nonfatal=1&buffer_size=2000000"),
            FFMPEG + pictures(task) + x264(task) + ["-f", "mpegts", f"udp://{RECEIVER}:{PORT}?pkt_size=1316"])


def ffmpeg_udp(task):
    return (reading("mpegts", f"udp://{RECEIVER}:{PORT}?fifo_size=100000&overrun_nonfatal=1&buffer_size=2000000", *NO_PARSER),
            FFMPEG + pictures(task) + x264(task) + AT_ONCE
            + ["-omit_video_pes_length", "0", "-f", "mpegts", f"udp://{RECEIVER}:{PORT}?pkt_size=1316"])


def ffmpeg_tcp(task):
    return (reading("nut", f"tcp://{RECEIVER}:{PORT}?listen=1&tcp_nodelay=1"),
            FFMPEG + pictures(task) + x264(task) + AT_ONCE + ["-f", "nut", f"tcp://{RECEIVER}:{PORT}?tcp_nodelay=1"])


def ffmpeg_mjpeg(task):
    return (reading("nut", f"tcp://{RECEIVER}:{PORT}?listen=1&tcp_nodelay=1"),
            FFMPEG + pictures(task)
            + ["-c:v", "mjpeg", "-q:v", "5", "-huffman", "default", "-threads", "1", "-pix_fmt", "yuvj420p"] + AT_ONCE
            + ["-f", "nut", f"tcp://{RECEIVER}:{PORT}?tcp_nodelay=1"])


def srt(latency):
    """SRT through FFmpeg; both ends hold every packet for `latency` ms."""
    options = f"latency={latency}000&transtype=live&tlpktdrop=1"

    def make(task):
        return (reading("mpegts", f"srt://{RECEIVER}:{PORT}?mode=listener&{options}", *NO_PARSER),
                FFMPEG + pictures(task) + x264(task) + AT_ONCE
                + ["-omit_video_pes_length", "0", "-f", "mpegts", f"srt://{RECEIVER}:{PORT}?mode=caller&pkt_size=1316&{options}"])
    return make


def gstreamer_rtp(task):
    caps = "application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000"
    receiver = (f'udpsrc port={PORT} buffer-size=2000000 caps="{caps}" ! rtpjitterbuffer latency=0 drop-on-latency=true ! '
                "rtph264depay ! avdec_h264 max-threads=1 ! fdsink fd=1 sync=false")
    size = task.width * task.height * 3 // 2
    sender = (f"fdsrc fd=0 do-timestamp=true blocksize={size} ! rawvideoparse use-sink-caps=false format=i420 "
              f"width={task.width} height={task.height} framerate={task.rate}/1 ! "
              f"x264enc tune=zerolatency speed-preset={task.preset} bitrate={task.bitrate // 1000} vbv-buf-capacity=100 "
              f'key-int-max={2 * task.rate} threads=2 sliced-threads=true bframes=0 option-string="repeat-headers=1" ! '
              "video/x-h264,profile=main,stream-format=byte-stream ! "
              f"rtph264pay mtu=1200 config-interval=-1 aggregate-mode=zero-latency ! "
              f"udpsink host={RECEIVER} port={PORT} sync=false async=false")
    return (["gst-launch-1.0", "-q"] + receiver.split(), ["gst-launch-1.0", "-q"] + sender.split())


def gantry(transport):
    """Both ends paired beforehand; encrypted, with adaptation. The producer listens: it is in the sender's host."""
    def make(task):
        return ([f"{task.tools}/gantry-studio", "--state-dir", f"{task.states}/gantry-studio", "receive", f"{SENDER}:7787",
                 "--transport", transport, "--y4m", "-"],
                [f"{task.tools}/gantry-producer", "--state-dir", f"{task.states}/gantry-producer", "run", "-", "--audio", "off",
                 "--bitrate", f"{task.bitrate / 1e6:g}M", "--transport", "tcp" if transport == "tcp" else "auto"])
    return make


GSTREAMER = ["gst-launch-1.0"]
PEERS = [
    Peer("gantry", "Gantry, as it comes", gantry("auto"), "y4m", "sender", needs=[]),
    Peer("gantry-tcp", "Gantry over TCP alone", gantry("tcp"), "y4m", "sender", needs=[]),
    Peer("gantry-udp", "Gantry over UDP", gantry("udp"), "y4m", "sender", needs=[]),
    Peer("ffmpeg-tcp", "FFmpeg, NUT over TCP (cubic)", ffmpeg_tcp),
    Peer("ffmpeg-tcp-bbr", "FFmpeg, NUT over TCP (BBR)", ffmpeg_tcp, congestion="bbr"),
    Peer("ffmpeg-udp", "FFmpeg, MPEG-TS over UDP, tuned", ffmpeg_udp),
    Peer("ffmpeg-udp-plain", "FFmpeg, MPEG-TS over UDP, as people run it", ffmpeg_udp_plain),
    Peer("gstreamer-rtp", "GStreamer, RTP over UDP, jitter buffer 0", gstreamer_rtp, needs=GSTREAMER),
    Peer("srt-20", "FFmpeg, SRT, 20 ms", srt(20)),
    Peer("srt-60", "FFmpeg, SRT, 60 ms", srt(60)),
    Peer("srt-120", "FFmpeg, SRT, 120 ms", srt(120)),
    Peer("ffmpeg-mjpeg", "FFmpeg, MJPEG over TCP (cubic)", ffmpeg_mjpeg),
]
