"""scripts/bench compare: Gantry and what people use instead, side by side over the same links."""
import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import clip as clips
# Before what is in Tests/LinkLab: it says where that is.
from measure import LINKS, ROOT, Bench, Fault
from peers import PEERS, Task

import report

parser = argparse.ArgumentParser(
    prog="scripts/bench compare", formatter_class=argparse.RawDescriptionHelpFormatter,
    description="Sends the same clip with Gantry and with its peers, over the same links, and compares latency, loss, quality,\n"
    "processor time and memory. Prints tables, and writes results.jsonl, table.md and latency.svg.",
    epilog="examples:\n  sudo scripts/bench compare\n  sudo scripts/bench compare --peers gantry,ffmpeg-tcp --links clean --rounds 3\n\n"
    "Exit status: 0; 1 a bar is missed (with --bars); 2 wrong arguments; 3 it cannot run here.")
parser.add_argument("--peers", metavar="NAMES", help="some of those of --list (default: all that are installed)")
parser.add_argument("--links", metavar="NAMES", default=",".join(LINKS), help="some of: %(default)s (default: all)")
parser.add_argument("--size", default="1280x720", metavar="WxH")
parser.add_argument("--fps", type=int, default=30, metavar="N")
parser.add_argument("--bitrate", default=6.0, type=float, metavar="MBIT", help="Mbit/s (default: %(default)s)")
parser.add_argument("--preset", default="superfast", help="of x264 in the peers and the floor (default: %(default)s)")
parser.add_argument("--seconds", type=int, default=20, metavar="N", help="of each run, of which 3 are not judged (default: %(default)s)")
parser.add_argument("--rounds", type=int, default=1, metavar="N", help="runs of each; the medians are shown (default: %(default)s)")
parser.add_argument("--clip", metavar="FILE", help="a film of your own")
parser.add_argument("--out", default="comparison", metavar="FOLDER", help="default: %(default)s")
parser.add_argument("--tools", metavar="FOLDER", default=str(ROOT / ".build/release"), help=argparse.SUPPRESS)
parser.add_argument("--clips", metavar="FOLDER", default=str(ROOT / ".build/clips"), help=argparse.SUPPRESS)
parser.add_argument("--bars", action="store_true", help="status 1 when Gantry misses a bar of docs/performance.md")
parser.add_argument("--list", action="store_true", help="show peers and links")


def chosen(text, known, what):
    names = [name for name in (text or ",".join(known)).split(",") if name]
    for name in names:
        if name not in known:
            parser.error(f'there is no {what} "{name}". There are: {", ".join(known)}')
    return names


def installed(names, peers):
    """Those whose programs are here; says which are not."""
    here = []
    for name in names:
        missing = [program for program in peers[name].needs if not shutil.which(program)]
        if missing:
            print(f"bench: {name} is left out: {', '.join(missing)} is not installed. Run: scripts/setup --bench", file=sys.stderr)
        else:
            here.append(name)
    return here


def size(text):
    try:
        width, height = (int(part) for part in text.split("x"))
    except ValueError:
        parser.error("--size takes WIDTHxHEIGHT, as in 1280x720")
    if not (800 <= width <= 4096 and 128 <= height <= 2304 and width % 2 == height % 2 == 0):
        parser.error("--size must be even, from 800x128 to 4096x2304: the time strip needs 800 pixels")
    return width, height


def show_list(peers):
    for name, peer in peers.items():
        print(f"{name:18}{peer.title}")
    print()
    for name, link in LINKS.items():
        print(f"{name:18}{link.title}")
    return 0


def main():
    arguments = parser.parse_args()
    peers = {peer.name: peer for peer in PEERS}
    if arguments.list:
        return show_list(peers)
    width, height = size(arguments.size)
    if arguments.seconds < 6 or arguments.rounds < 1 or arguments.fps < 1 or not 0.1 <= arguments.bitrate <= 200:
        parser.error("--seconds must be 6 or more, --rounds and --fps 1 or more, --bitrate from 0.1 to 200")
    links = chosen(arguments.links, LINKS, "link")
    names = installed(chosen(arguments.peers, peers, "peer"), peers)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory() as states, open(out / "results.jsonl", "w") as lines:
        task = Task(width, height, arguments.fps, int(arguments.bitrate * 1e6), arguments.preset, str(Path(arguments.tools).resolve()), states)
        source = clips.raw(arguments.clips, width, height, arguments.clip)
        with Bench(task, source, out, arguments.seconds) as bench:
            # All of a link next to each other, and the rounds outside: what else the machine does hits all alike.
            for turn in range(arguments.rounds):
                for link in links:
                    if link == "clean":
                        results.append(bench.floor())
                    for name in names:
                        results.append(bench.play(peers[name], link))
                    for result in results[-len(names) - (link == "clean"):]:
                        lines.write(json.dumps(result) + "\n")
                    lines.flush()
    merged = report.medians(results)
    words = report.tables(merged, peers, links)
    print(words)
    (out / "table.md").write_text(words)
    (out / "latency.svg").write_text(report.draw(merged, peers, links, task))
    print(f"{out}/latency.svg")
    missed = report.missed(merged, task)
    for line in missed:
        print(f"MISS {line}")
    return 1 if missed and arguments.bars else 0


if __name__ == "__main__":
    if os.geteuid() != 0:
        print('bench: compare makes network namespaces, which needs root: sudo env PATH="$PATH" scripts/bench compare', file=sys.stderr)
        sys.exit(3)
    try:
        sys.exit(main())
    except (clips.Fault, Fault, OSError) as fault:
        print(f"bench: {fault}", file=sys.stderr)
        sys.exit(3)
