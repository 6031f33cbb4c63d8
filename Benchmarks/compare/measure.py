"""Plays one peer over one link, and says what came of it."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import clip

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests/LinkLab"))

from scenario import Fault  # noqa: E402
from session import LAB, Session, may_have_priority  # noqa: E402

WARM_SECONDS = 3


@dataclass
class Link:
    title: str
    setting: str


LINKS = {
    "clean": Link("nothing in the way", ""),
    "loss1": Link("1 % of the packets lost in each direction, 20 ms round trip", "both delay 10 loss 1"),
    "loss5": Link("5 % lost in each direction, 20 ms round trip", "both delay 10 loss 5"),
    "cap": Link("4 Mbit/s, a queue of 100 kB, 20 ms round trip", "both delay 10;out rate 4 queue 100000"),
}


def build(folder, names):
    """Compiles the C programs of this folder."""
    codecs = subprocess.run(["pkg-config", "--cflags", "--libs", "x264", "libavcodec", "libavutil"], capture_output=True, text=True)
    floor = ROOT / "Benchmarks/Sources/CFloor"
    more = {"clip-floor": ["-I", floor / "include", floor / "floor.c", *codecs.stdout.split()], "x264-front": codecs.stdout.split(),
            "clip-slices": codecs.stdout.split()}
    for name in names:
        command = ["gcc", "-O3", "-o", Path(folder) / name, HERE / f"{name}.c", *more.get(name, []), "-lm"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise clip.Fault(f"gcc could not build {name}: {done.stderr.strip()[-400:]}. Run: scripts/setup --test")


def priority():
    return ["chrt", "-r", "1"] if may_have_priority() else []


class Bench:
    """A lab of two hosts, the sender's with the emulated link; Gantry's two ends paired."""

    def __init__(self, task, source, out, seconds):
        self.task, self.source, self.out, self.seconds = task, source, out, seconds
        self.count = seconds * task.rate
        self.warm = WARM_SECONDS * task.rate
        self.session = Session(SimpleNamespace(link=None, congestion=None), out, Path(task.tools))
        self.session.states = Path(task.states)
        self.built = tempfile.TemporaryDirectory()
        self.programs = Path(self.built.name)

    def __enter__(self):
        build(self.programs, ["strip-source", "strip-sink", "clip-floor"])
        self.session.lab("up", "2", "--emulate", "1")
        self.session.pair()
        return self

    def __exit__(self, *_):
        for tool in self.session.running:
            tool.kill()
        self.session.lab("down")
        self.built.cleanup()

    def inside(self, host, command):
        return [str(LAB), "in", str(host), *self.session.priority, *map(str, command)]

    def geometry(self):
        return [self.task.width, self.task.height]

    def floor(self):
        """Encoder and decoder alone, in one process."""
        command = self.session.priority + [
            self.programs / "clip-floor", *self.geometry(), self.task.rate, self.count, self.warm, self.task.bitrate, self.task.preset,
            self.source]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(f"the floor failed: {done.stderr.strip()}")
        return {"peer": "floor", "link": "clean", **json.loads(done.stdout)}

    def play(self, peer, link):
        self.session.lab("shape", "1", "clear")
        self.session.lab("congestion", "1", peer.congestion)
        receive, send = peer.make(self.task)
        run = Run(self, peer, receive, send)
        try:
            return {"peer": peer.name, "link": link, **run.play(LINKS[link].setting)}
        finally:
            run.end_all()


class Run:
    def __init__(self, bench, peer, receive, send):
        self.bench, self.peer, self.receive, self.send = bench, peer, receive, send
        self.processes = {}
        self.usage = {}

    def start(self, name, host, command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
        errors = open(self.bench.out / f"{self.peer.name}-{name}.errors", "w+")
        process = subprocess.Popen(
            self.bench.inside(host, command), stdin=stdin, stdout=stdout, stderr=errors, env=self.bench.session.environment,
            start_new_session=True)
        errors.close()
        self.processes[name] = process
        return process

    def start_receiver(self):
        bench = self.bench
        receiver = self.start("receiver", 2, self.receive)
        sink = [bench.programs / "strip-sink", *bench.geometry(), bench.count, bench.warm, bench.source, self.peer.form]
        self.start("sink", 2, sink, stdin=receiver.stdout)
        receiver.stdout.close()

    def start_sender(self):
        bench = self.bench
        source = [bench.programs / "strip-source", *bench.geometry(), bench.task.rate, bench.count, bench.source, self.peer.form]
        camera = self.start("source", 1, source)
        self.start("sender", 1, self.send, stdin=camera.stdout, stdout=subprocess.DEVNULL)
        camera.stdout.close()

    def play(self, setting):
        bench = self.bench
        if self.peer.first == "receiver":
            self.start_receiver()
            time.sleep(1.2)
        begin = time.monotonic()
        self.start_sender()
        if self.peer.first == "sender":
            time.sleep(0.5)
            self.start_receiver()
        # Set-up happens on a clean link; the faults begin before the pictures count.
        self.wait(begin + WARM_SECONDS * 0.6)
        for part in filter(None, setting.split(";")):
            bench.session.lab("shape", "1", f"set {part}")
        self.wait(begin + WARM_SECONDS)
        before, then = self.counters(), time.monotonic()
        self.wait(begin + bench.seconds - 1)
        after, now = self.counters(), time.monotonic()
        self.reap("source", 4)
        bench.session.lab("shape", "1", "clear")
        self.stop("sender")
        self.stop("receiver")
        sink = self.processes["sink"]
        try:
            words, _ = sink.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            raise Fault(f"{self.peer.name}: the sink does not end") from None
        if sink.returncode != 0 or not words:
            raise Fault(f"{self.peer.name}: the sink failed: {self.words('sink')}")
        result = json.loads(words)
        if result["received"] == 0:
            print(f"bench: nothing came through {self.peer.name}: {self.words('receiver') or self.words('sender')}", flush=True)
        result["mbit"] = round((after - before) * 8 / (now - then) / 1e6, 2)
        result["dropped"] = json.loads(self.words("source").splitlines()[-1])["dropped"] if self.words("source") else None
        for name in ("sender", "receiver"):
            usage = self.usage.get(name)
            if usage:
                result[f"cpu-{name}"] = round((usage.ru_utime + usage.ru_stime) * 1000 / max(bench.count, 1), 2)
                result[f"memory-{name}"] = round(usage.ru_maxrss / 1024)
        return result

    def wait(self, deadline):
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))

    def counters(self):
        """Bytes that the sender's host has given to the link."""
        for line in self.bench.session.lab("shape", "1", "statistics").splitlines():
            way, *fields = line.split()
            values = dict(field.split("=") for field in fields)
            if way == "out":
                return int(values["receivedBytes"])
        return 0

    def reap(self, name, seconds):
        """Waits for its end; true when it came. Keeps what it used of the machine."""
        process, deadline = self.processes[name], time.monotonic() + seconds
        while process.returncode is None:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                self.usage[name] = usage
                process.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                return False
            else:
                time.sleep(0.02)
        return True

    def stop(self, name):
        if self.reap(name, 1.5):
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            os.kill(self.processes[name].pid, number)
            if self.reap(name, 2):
                return

    def words(self, name):
        path = self.bench.out / f"{self.peer.name}-{name}.errors"
        return path.read_text(errors="replace")[-600:].strip() if path.exists() else ""

    def end_all(self):
        for process in self.processes.values():
            if process.returncode is None:
                process.kill()
                process.wait()
