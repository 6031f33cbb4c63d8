"""scripts/bench slices: what it would give to hand over slices while the picture is still being encoded."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import clip as clips
from measure import ROOT, build, priority

# Encoder threads, slices, decoder threads, how they are handed over.
WAYS = [(2, 2, 2, "whole"), (2, 8, 1, "slices"), (1, 8, 1, "whole"), (1, 8, 1, "slices")]
WARM, RATE, BITRATE = 30, 30, 6_000_000

parser = argparse.ArgumentParser(
    prog="scripts/bench slices", description="Encodes and decodes the clip at 1280x720, 30 pictures a second and 6 Mbit/s, in one process: "
    "whole pictures, and slices as they come, in turn. Needs no root.")
parser.add_argument("--pictures", type=int, default=150, metavar="N", help="of each run, of which the first 30 do not count (default: %(default)s)")
parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the medians are shown (default: %(default)s)")


def main():
    arguments = parser.parse_args()
    if arguments.pictures < 60 or arguments.rounds < 1:
        parser.error("--pictures must be 60 or more, --rounds 1 or more")
    source = clips.raw(ROOT / ".build/clips", 1280, 720)
    results = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as programs:
        build(programs, ["clip-slices"])
        for _ in range(arguments.rounds):
            for way in WAYS:
                words = [Path(programs) / "clip-slices", 1280, 720, RATE, arguments.pictures, WARM, BITRATE, source, *way]
                done = subprocess.run(priority() + [str(word) for word in words], capture_output=True, text=True, timeout=120)
                if done.returncode != 0:
                    raise clips.Fault(done.stderr.strip())
                results[way].append(json.loads(done.stdout))
    print("| encoding threads | slices | decoding threads | handed over | encode ms | decoded p50 | p95 |\n|---|---|---|---|---|---|---|")
    for (encoding, slices, decoding, handed), rounds in results.items():
        figures = " | ".join(f"{median(one[name] for one in rounds):.1f}" for name in ("encode", "p50", "p95"))
        print(f"| {encoding} | {slices} | {decoding} | {'whole pictures' if handed == 'whole' else 'as they come'} | {figures} |")


try:
    main()
except (clips.Fault, OSError, subprocess.TimeoutExpired) as fault:
    print(f"bench: {fault}", file=sys.stderr)
    sys.exit(3)
