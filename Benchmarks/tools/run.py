"""scripts/bench start, sizes, studios, priority, footprint and costs: both release tools on loopback, without root."""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/LinkLab"))

from scenario import Fault  # noqa: E402
from session import Tool, may_have_priority  # noqa: E402

SIZES = ["1280x720@30", "1280x720@60", "1920x1080@30", "1920x1080@60"]
STUDIOS = [1, 4, 10]
OTHERS = [0, 4]
PRIORITY_ROUNDS = 3
THRESHOLDS = Path(__file__).with_name("thresholds.json")

parser = argparse.ArgumentParser(
    prog="scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter,
    description="Measures the tools with the test pattern (with grain, no sound) on loopback:\n\n"
    "  start      from the start of a process to what it is for: the producer listens, the studio has a picture\n"
    "  sizes      720p and 1080p at 30 and 60 pictures a second: capture to decoded, and processor time\n"
    "  studios    1, 4 and 10 studios of one producer: the same\n"
    "  priority   720p30 with and without --priority auto, alone and beside four programs that compute: the same\n"
    "  footprint  memory: nobody receives, streaming, with the replay armed\n"
    "  costs      nanoseconds that TLS, framing and statistics take for a picture of 25 kB, without sockets",
    epilog="Exit status: 0; 1 a threshold of Benchmarks/tools/thresholds.json is missed; 2 wrong arguments; 3 it cannot run here.")
parser.add_argument("name", choices=["start", "sizes", "studios", "priority", "footprint", "costs"])
parser.add_argument("--seconds", type=int, default=10, metavar="N", help="of each run (default: %(default)s)")
parser.add_argument("--count", type=int, default=10, metavar="N", help="start: rounds (default: %(default)s)")
parser.add_argument("--json", metavar="FILE", help="write the figures")
parser.add_argument("--tools", metavar="FOLDER", default=str(ROOT / ".build/release"), help=argparse.SUPPRESS)


class Local(Tool):
    """A tool of this machine instead of the lab's."""

    def __init__(self, bench, name, state, arguments):
        self.name, self.log = name, bench.folder / f"{len(bench.running)}-{name}.json"
        command = [*bench.priority, str(bench.tools / name), "--state-dir", str(bench.folder / state), "--json", *arguments]
        self.began = time.monotonic()
        with open(self.log, "wb") as out, open(self.log.with_suffix(".errors"), "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=errors)
        bench.running.append(self)

    def time_to(self, event):
        """Milliseconds from its start to the line."""
        while not any(found.get("event") == event for found in self.events()):
            if self.process.poll() is not None or time.monotonic() > self.began + 20:
                raise Fault(f'{self.name} did not say "{event}": {self.words()}')
            time.sleep(0.001)
        return (time.monotonic() - self.began) * 1000

    def summary(self):
        last = self.end(2)
        if last.get("event") != "summary":
            raise Fault(f"{self.name} gave no summary: {self.words()}")
        return last

    def memory(self):
        """Megabytes: resident, and of that what no other process shares."""
        fields = {}
        for line in Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()[1:]:
            key, value, *_ = line.split()
            fields[key] = int(value) / 1024
        return {"rss": round(fields["Rss:"], 1), "private": round(fields["Private_Dirty:"] + fields["Private_Clean:"], 1)}


class Bench:
    def __init__(self, tools, folder):
        self.tools, self.folder = Path(tools).resolve(), Path(folder)
        self.priority = ["chrt", "-r", "1"] if may_have_priority() else []
        self.running = []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def pair(self, studio):
        window = Local(self, "gantry-studio", studio, ["pair", "--name", studio, "--text", "--address", "127.0.0.1"])
        code = window.wait_for("code")["code"]
        producer = Local(self, "gantry-producer", "producer", ["pair", "-", "--port", str(self.port)])
        producer.say(code + "\n")
        for tool in (producer, window):
            tool.end()
            if tool.process.returncode != 0:
                raise Fault(f"pairing failed: {tool.words()}")

    def produce(self, size="1280x720@30", *options):
        pixels, rate = size.split("@")
        return Local(self, "gantry-producer", "producer",
                     ["run", "test", "--grain", "--audio", "off", "--size", pixels, "--fps", rate, "--port", str(self.port), *options])

    def receive(self, studio="studio0", *options):
        return Local(self, "gantry-studio", studio, ["receive", f"127.0.0.1:{self.port}", *options])

    def close(self):
        for tool in self.running:
            if tool.process.poll() is None:
                tool.kill()


def start(bench, arguments):
    bench.pair("studio0")
    times = {"producer": [], "studio": []}
    for _ in range(arguments.count):
        producer = bench.produce()
        times["producer"].append(producer.time_to("started"))
        studio = bench.receive()
        times["studio"].append(studio.time_to("firstFrame"))
        studio.end(2)
        producer.end(2)
    return {name: {"p50": round(median(values), 1), "most": round(max(values), 1)} for name, values in times.items()}


def stream(bench, size, count, seconds, *options):
    """`count` studios at once. Pictures are those that the producer sent while all were there, and so is the processor time."""
    producer = bench.produce(size, *options)
    producer.wait_for("started")
    studios = []
    for number in range(count):
        # One after the other: a producer lets few strangers in at once.
        studios.append(bench.receive(f"studio{number}", *options))
        studios[-1].wait_for("firstFrame")
    time.sleep(seconds)
    ends = [studio.summary() for studio in studios]
    sent = producer.summary()

    def middle(figure):
        return median(figure(end) for end in ends)

    return {
        "p50": round(middle(lambda end: end["latencyMicroseconds"]["p50"]) / 1000, 1),
        "p95": round(middle(lambda end: end["latencyMicroseconds"]["p95"]) / 1000, 1),
        "p99": round(middle(lambda end: end["latencyMicroseconds"]["p99"]) / 1000, 1),
        "fps": round(middle(lambda end: end["fps"]), 1),
        "lost": sum(end["framesLost"] + end["framesDropped"] for end in ends),
        "skipped": sent["framesSkipped"] + sent["framesReplaced"],
        "cpu-producer": round(1000 * sent["cpuSeconds"] / max(sent["framesSent"], 1), 2),
        "cpu-studio": round(middle(lambda end: 1000 * end["cpuSeconds"] / max(end["framesDecoded"], 1)), 2),
    }


def sizes(bench, arguments):
    bench.pair("studio0")
    return {size: stream(bench, size, 1, arguments.seconds) for size in SIZES}


def studios(bench, arguments):
    for number in range(max(STUDIOS)):
        bench.pair(f"studio{number}")
    return {str(count): stream(bench, SIZES[0], count, arguments.seconds) for count in STUDIOS}


@contextmanager
def others(count):
    """Programs that compute without a pause."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def priority(bench, arguments):
    """The tools' own priority, instead of chrt. In turn, so that what else runs here meets both; the median of the rounds."""
    bench.priority = []
    bench.pair("studio0")
    rounds = {}
    for _ in range(PRIORITY_ROUNDS):
        for count in OTHERS:
            for wish in ("normal", "auto"):
                with others(count):
                    figures = stream(bench, SIZES[0], 1, arguments.seconds, "--priority", wish)
                rounds.setdefault(f"{wish}, beside {count}", []).append(figures)
    return {name: {figure: median(one[figure] for one in found) for figure in found[0]} for name, found in rounds.items()}


def footprint(bench, arguments):
    bench.pair("studio0")
    producer = bench.produce()
    producer.wait_for("started")
    time.sleep(2)
    figures = {"producer, nobody receives": producer.memory(), "producer, streaming": {}}
    for name, options in (("studio, streaming", []), ("studio, replay armed", ["--replay"])):
        studio = bench.receive("studio0", *options)
        studio.wait_for("firstFrame")
        time.sleep(arguments.seconds)
        figures[name] = studio.memory()
        figures["producer, streaming"] = producer.memory()
        studio.end(2)
    producer.end(2)
    return figures


def costs(bench, arguments):
    """The best of three: what else runs only adds."""
    rounds = []
    for _ in range(3):
        done = subprocess.run([*bench.priority, str(bench.tools / "gantry-labprobe"), "costs"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(f"gantry-labprobe failed: {done.stderr.strip()}")
        rounds.append(json.loads(done.stdout))
    return {name: {"ns": min(one[name] for one in rounds)} for name in rounds[0]}


def missed(figures, thresholds):
    """In words. What a threshold is for and nothing was measured of is missed as well."""
    found = []
    for name, limits in thresholds.items():
        for figure, most in limits.items():
            value = figures.get(name, {}).get(figure)
            if value is None or value > most:
                found.append(f"{name}: {figure} {value}, at most {most}")
    return found


def main():
    arguments = parser.parse_args()
    if not (1 <= arguments.seconds <= 3600 and 1 <= arguments.count <= 1000):
        parser.error("--seconds must be from 1 to 3600, --count from 1 to 1000")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.tools, folder)
        try:
            figures = globals()[arguments.name](bench, arguments)
        finally:
            bench.close()
    columns = list(next(iter(figures.values())))
    wide = max(map(len, figures))
    print(" " * wide + "".join(f"{column:>14}" for column in columns))
    for name, values in figures.items():
        print(f"{name:{wide}}" + "".join(f"{values[column]:>14}" for column in columns))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=4) + "\n")
    lines = missed(figures, json.loads(THRESHOLDS.read_text())[arguments.name])
    for line in lines:
        print(f"MISSED {line}")
    return 1 if lines else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Fault, OSError) as fault:
        print(f"bench: {fault}", file=sys.stderr)
        sys.exit(3)
