"""scripts/bench front: what settings of x264 cost and give, on the clip."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import clip as clips
from measure import build, priority

ROOT = Path(__file__).resolve().parents[2]
# From the cheapest to the dearest that keep up with a camera; all between them that make a difference of their own.
SETTINGS = [
    "ultrafast", "ultrafast:cabac=1", "ultrafast:subme=1", "ultrafast:cabac=1,subme=1", "superfast:cabac=0,no-deblock=1",
    "superfast:no-deblock=1", "superfast:cabac=0", "superfast:partitions=none", "superfast:weightp=0", "superfast", "veryfast",
]

parser = argparse.ArgumentParser(
    prog="scripts/bench front", formatter_class=argparse.RawDescriptionHelpFormatter,
    description="Encodes and decodes the clip with settings between x264's presets ultrafast and veryfast, in turn, and prints what\n"
    "each costs (ms at the median, processor time) and gives (PSNR, SSIM). Needs no root.",
    epilog="example:\n  scripts/bench front --sizes 1280x720 --bitrates 2,6 superfast superfast:cabac=0")
parser.add_argument("setting", nargs="*", default=SETTINGS, help="a preset, and after a colon what is changed: superfast:cabac=0,no-deblock=1")
parser.add_argument("--sizes", default="1280x720,1920x1080", help="default: %(default)s")
parser.add_argument("--bitrates", default="2,4,6,8", metavar="MBIT", help="Mbit/s (default: %(default)s)")
parser.add_argument("--pictures", type=int, default=150, metavar="N", help="of each run, of which the first 30 do not count (default: %(default)s)")
parser.add_argument("--rounds", type=int, default=2, metavar="N", help="default: %(default)s")
parser.add_argument("--clip", metavar="FILE", help="a film of your own")
parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON lines")


def main():
    arguments = parser.parse_args()
    try:
        sizes = [tuple(map(int, size.split("x"))) for size in arguments.sizes.split(",")]
        bitrates = [float(rate) for rate in arguments.bitrates.split(",")]
    except ValueError:
        parser.error("--sizes takes WxH,WxH, and --bitrates numbers: --sizes 1280x720 --bitrates 2,6")
    if arguments.pictures < 60 or arguments.rounds < 1 or any(len(size) != 2 or min(size) < 128 for size in sizes):
        parser.error("--pictures must be 60 or more, --rounds 1 or more, a size at least 128x128")
    lines = open(arguments.json, "w") if arguments.json else None
    with tempfile.TemporaryDirectory() as programs:
        build(programs, ["x264-front"])
        for width, height in sizes:
            source = clips.raw(ROOT / ".build/clips", width, height, arguments.clip)
            for bitrate in bitrates:
                command = priority() + [
                    f"{programs}/x264-front", width, height, 30, int(bitrate * 1e6), arguments.pictures, arguments.rounds, source,
                    *arguments.setting]
                done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
                if done.returncode != 0:
                    raise clips.Fault(done.stderr.strip())
                results = [json.loads(line) for line in done.stdout.splitlines()]
                show(f"{width}x{height}, {bitrate:g} Mbit/s", results)
                for result in results if lines else []:
                    lines.write(json.dumps({"width": width, "height": height, "bitrate": bitrate, **result}) + "\n")


def show(title, results):
    print(f"### {title}\n\n| | encode ms | decode ms | together | CPU ms | Mbit/s | PSNR dB | SSIM |\n|---|---|---|---|---|---|---|---|")
    for one in results:
        print(f"| {one['setting']} | {one['encode']:.1f} | {one['decode']:.1f} | {one['encode'] + one['decode']:.1f} | "
              f"{one['cpu-encode'] + one['cpu-decode']:.1f} | {one['mbit']:.2f} | {one['psnr']:.2f} | {one['ssim']:.4f} |")
    print(flush=True)


try:
    main()
except (clips.Fault, OSError) as fault:
    print(f"bench: {fault}", file=sys.stderr)
    sys.exit(3)
