"""scripts/bench flame: where both tools spend their processor time, as a flame graph."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from html import escape
from pathlib import Path

import clip as clips
from measure import ROOT, WARM_SECONDS, Bench, Fault, Run
from peers import PEERS, Task

from plot import INK, PALE, WIDTH, Canvas

parser = argparse.ArgumentParser(
    prog="scripts/bench flame", formatter_class=argparse.RawDescriptionHelpFormatter,
    description="Samples both tools with perf while they send the clip of `scripts/bench compare` over a clean link. Writes\n"
    "flame.svg, and prints which thread and which library takes how much.",
    epilog="Exit status: 0; 2 wrong arguments; 3 it cannot run here.")
parser.add_argument("--size", default="1280x720", choices=["1280x720", "1920x1080"])
parser.add_argument("--seconds", type=int, default=8, metavar="N", help="that are sampled (default: %(default)s)")
parser.add_argument("--out", default="comparison", metavar="FOLDER", help="default: %(default)s")
parser.add_argument("--tools", metavar="FOLDER", default=str(ROOT / ".build/release"), help=argparse.SUPPRESS)
parser.add_argument("--clips", metavar="FOLDER", default=str(ROOT / ".build/clips"), help=argparse.SUPPRESS)

# A prime, so that it does not beat with the pictures; the clock, since a virtual machine may have no counters.
FREQUENCY = 797
# Of a stack that perf keeps for unwinding: the libraries have no frame pointers.
STACK_BYTES = 8192
ENDS = {"sender": "gantry-producer", "receiver": "gantry-studio"}
ROW, LEFT, LEAST = 17, 24, 0.0015
OWN, KERNEL, OTHER = "#7fb894", "#c3b6dd", "#e7c08a"
DEEPEST = 13
# How threads begin, which says nothing.
PLUMBING = re.compile(r"^(_?_?clone3?|start_thread|__libc_start.*|_start|main|.*runNamedThread.*|thread_start|.*NamedThread\.run.*|thunk .*|.*(?:implicit|partial) .*)$")


def record(run, seconds, folder):
    """Samples both ends at once. Their ends of the lab are the tools themselves: `scripts/lab in` becomes what it runs."""
    time.sleep(WARM_SECONDS + 1.5)
    recorders = [
        subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "--call-graph", f"dwarf,{STACK_BYTES}", "-p",
             str(run.processes[end].pid), "-o", str(folder / end), "--", "sleep", str(seconds)],
            stdout=subprocess.DEVNULL)
        for end in ENDS]
    for recorder in recorders:
        recorder.wait()


def stacks(path):
    """How often each stack was seen, thread first; and how often each library was at its top."""
    done = subprocess.run(
        ["perf", "script", "-i", str(path), "-F", "comm,ip,sym,dso", "--no-inline"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, errors="replace")
    demangle = shutil.which("swift-demangle") or shutil.which("swift")
    words = done.stdout
    if demangle and words:
        command = [demangle] if demangle.endswith("demangle") else [demangle, "demangle"]
        words = subprocess.run(command + ["--simplified"], input=words, capture_output=True, text=True, errors="replace").stdout or words
    found, libraries = Counter(), Counter()
    for block in words.split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if len(lines) < 2:
            continue
        frames = [frame(line) for line in lines[1:]]
        frames = [one for one in frames if one]
        if not frames:
            continue
        libraries[frames[0][1]] += 1
        found[((lines[0].strip(), "thread"), *path_of(reversed(frames)))] += 1
    return found, libraries


def path_of(frames):
    """Who calls whom, from the beginning of the thread."""
    names, caller = [], None
    for name, library in frames:
        # A stripped library has names of what is public alone: inside it the nearest one means nothing.
        inside = library.startswith("lib") and caller in (None, library)
        shown = (f"({library})" if inside else name, library)
        if not PLUMBING.match(name) and not (names and (names[-1] == shown or (inside and names[-1][1] == library))):
            names.append(shown)
        caller = library
    return names[:DEEPEST]


def frame(line):
    """Name and library of one line of a stack."""
    match = re.match(r"\s*[0-9a-f]+\s+(.*)\s+\((.*?)\)\s*$", line)
    if not match:
        return None
    name, library = match.group(1).strip(), os.path.basename(match.group(2))
    if library == "[unknown]":
        return None
    library = "kernel" if "kernel" in library or library.startswith("[") else re.sub(r"\.so.*", "", library)
    name = re.sub(r"^(specialized |closure #\d+ in |generic specialization .* of |outlined |static )+", "", name)
    name = re.sub(r"\(.*", "", name)
    return (f"({library})" if name in ("", "[unknown]") else name), library


class Node:
    def __init__(self):
        self.count, self.children = 0, {}

    def add(self, path, count):
        self.count += count
        if path:
            self.children.setdefault(path[0], Node()).add(path[1:], count)

    def depth(self, least):
        return max((1 + child.depth(least) for child in self.children.values() if child.count >= least), default=0)


def color(library):
    return INK if library == "thread" else OWN if library.startswith("gantry") else KERNEL if library == "kernel" else OTHER


def draw_node(canvas, node, x, y, scale, total):
    for (name, library), child in sorted(node.children.items(), key=lambda item: item[0]):
        width = child.count * scale
        if child.count < LEAST * total:
            continue
        words = f"{name} [{library}] {100 * child.count / total:.1f} %"
        canvas.parts.append(f"<g><title>{escape(words)}</title>")
        canvas.box(x, y, width - 0.4, ROW - 1, color(library))
        letters = int((width - 6) / 6.3)
        if letters > 2:
            shown = name if len(name) <= letters else name[:letters - 1] + "…"
            canvas.text(x + 3, y + 12, shown, "white" if library == "thread" else INK, 10.5)
        canvas.parts.append("</g>")
        draw_node(canvas, child, x, y + ROW, scale, total)
        x += width


def draw(ends, task, pictures):
    panels = []
    for title, found in ends:
        root = Node()
        for path, count in found.items():
            root.add(path, count)
        panels.append((title, root))
    height = 70 + sum(44 + ROW * root.depth(LEAST * root.count) for _, root in panels)
    canvas = Canvas(height)
    canvas.text(LEFT, 30, f"Processor time of both ends, {task.width}x{task.height} at {task.rate} fps, {task.bitrate / 1e6:g} Mbit/s",
                size=17, weight="bold")
    canvas.text(LEFT, 50, "threads on top, what they call below; green: Gantry, amber: libraries, violet: kernel", PALE, 12)
    y = 70
    for title, root in panels:
        spent = 1000 * root.count / FREQUENCY / max(pictures, 1)
        canvas.text(LEFT, y + 18, f"{title}: {spent:.1f} ms of processor time a picture", size=14, weight="bold")
        draw_node(canvas, root, LEFT, y + 28, (WIDTH - 2 * LEFT) / max(root.count, 1), root.count)
        y += 44 + ROW * root.depth(LEAST * root.count)
    return canvas.svg()


def table(title, found, libraries, pictures):
    """Milliseconds for a picture, of each thread and of each library."""
    threads = Counter()
    for path, count in found.items():
        threads[path[0][0]] += count
    unit = 1000 / FREQUENCY / max(pictures, 1)
    words = [f"{title}, ms of processor time a picture: {sum(threads.values()) * unit:.2f}"]
    for kind, counts in (("threads", threads), ("libraries", libraries)):
        words.append(f"  {kind}: " + ", ".join(f"{name} {count * unit:.2f}" for name, count in counts.most_common() if count * unit >= 0.005))
    return "\n".join(words)


def main():
    arguments = parser.parse_args()
    if not 2 <= arguments.seconds <= 60:
        parser.error("--seconds must be from 2 to 60")
    if not shutil.which("perf"):
        raise Fault("perf is not installed. Install it with: apt-get install linux-perf (Ubuntu: linux-tools-generic)")
    width, height = map(int, arguments.size.split("x"))
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as states, tempfile.TemporaryDirectory() as samples:
        task = Task(width, height, 30, int(6e6 * width * height / (1280 * 720)), "superfast", str(Path(arguments.tools).resolve()), states)
        source = clips.raw(arguments.clips, width, height)
        peer = next(peer for peer in PEERS if peer.name == "gantry")
        with Bench(task, source, out, arguments.seconds + 7) as bench:
            run = Run(bench, peer, *peer.make(task))
            thread = threading.Thread(target=record, args=(run, arguments.seconds, Path(samples)))
            thread.start()
            try:
                run.play("")
            finally:
                run.end_all()
                thread.join()
        pictures, ends = arguments.seconds * task.rate, []
        for end, title in ENDS.items():
            found, libraries = stacks(Path(samples) / end)
            if not found:
                raise Fault(f"perf saw nothing of {title}. It needs root, or kernel.perf_event_paranoid 1 or less")
            ends.append((title, found))
            print(table(title, found, libraries, pictures))
    (out / "flame.svg").write_text(draw(ends, task, pictures))
    print(f"{out}/flame.svg")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print('bench: flame makes network namespaces, which needs root: sudo env PATH="$PATH" scripts/bench flame', file=sys.stderr)
        sys.exit(3)
    try:
        main()
    except (clips.Fault, Fault, OSError) as fault:
        print(f"bench: {fault}", file=sys.stderr)
        sys.exit(3)
