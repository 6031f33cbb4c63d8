"""Plays a scenario: a lab of two hosts, the producer in the one with the emulated link, the studio in the other."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from scenario import Fault

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "scripts/lab"
PRODUCER, STUDIO = 1, 2
ADDRESS = "10.77.0.1:7787"


def may_have_priority():
    try:
        return subprocess.run(["chrt", "-r", "1", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Tool:
    """One of our tools in a host of the lab. What it says is in a file."""

    def __init__(self, session, host, name, arguments, log):
        self.name, self.log = name, session.folder / log
        state = ["--state-dir", str(session.states / name), "--json"]
        command = session.priority + [str(session.tools / name)] + state + arguments
        with open(self.log, "wb") as out, open(self.log.with_suffix(".errors"), "wb") as errors:
            self.process = subprocess.Popen(
                [LAB, "in", str(host)] + command, env=session.environment, stdin=subprocess.PIPE, stdout=out,
                stderr=errors, start_new_session=True)

    def events(self):
        lines = self.log.read_text(errors="replace").splitlines(keepends=True)
        # The last one may not be whole yet.
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def wait_for(self, event, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            for found in self.events():
                if found.get("event") == event:
                    return found
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Fault(f'{self.name} did not say "{event}": {self.words()}')
            time.sleep(0.02)

    def words(self):
        return (self.log.with_suffix(".errors").read_text(errors="replace")
                or self.log.read_text(errors="replace"))[-800:].strip()

    def say(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.close()

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self, number=None, seconds=30):
        """Its last event, once it has ended."""
        if number:
            self.signal(number)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Fault(f"{self.name} does not end: {self.words()}") from None
        return (self.events() or [{}])[-1]

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()


class Session:
    def __init__(self, scenario, folder, tools):
        self.scenario, self.folder, self.tools = scenario, folder, tools
        self.environment = dict(os.environ, GANTRY_LAB=f"run{os.getpid()}")
        self.environment.pop("GANTRY_STATE_DIR", None)
        self.priority = ["chrt", "-r", "1"] if may_have_priority() else []
        self.running = []
        self.states = None

    def play(self, temporary):
        """The lines of the trace, when each phase began (microseconds), and the end of both tools."""
        self.states = Path(temporary)
        try:
            self.lab("up", "2", "--emulate", "1")
            if self.scenario.congestion:
                self.lab("congestion", "1", self.scenario.congestion)
            self.pair()
            return self.run()
        finally:
            for tool in self.running:
                tool.kill()
            self.lab("down")

    def lab(self, *arguments):
        done = subprocess.run([LAB, *arguments], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(f"scripts/lab {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def start(self, host, name, arguments, log):
        tool = Tool(self, host, name, arguments, log)
        self.running.append(tool)
        return tool

    def pair(self):
        window = self.start(STUDIO, "gantry-studio", ["pair", "--name", "Desk", "--text"], "pair-studio.json")
        code = window.wait_for("code")["code"]
        producer = self.start(PRODUCER, "gantry-producer", ["pair", "-", "--name", "Camera"], "pair-producer.json")
        producer.say(code + "\n")
        for tool in (producer, window):
            tool.end()
            if tool.process.returncode != 0:
                raise Fault(f"pairing failed: {tool.words()}")
            tool.log.unlink()
            tool.log.with_suffix(".errors").unlink()
        self.running = []

    def run(self):
        trace = self.folder / "trace.jsonl"
        if self.scenario.link:
            self.lab("shape", "1", f"set {self.scenario.link}")
        producer = self.start(
            PRODUCER, "gantry-producer", ["run", "test", "--name", "Camera", *self.scenario.producer], "producer.json")
        producer.wait_for("started")
        studio = self.start(
            STUDIO, "gantry-studio", ["receive", ADDRESS, "--trace", str(trace), "--force", "--stats"], "studio.json")
        studio.wait_for("firstFrame")
        marks = self.phases(studio, producer)
        # A phase may have left something frozen or cut.
        for tool in (studio, producer):
            tool.signal(signal.SIGCONT)
        counts = self.lab("shape", "1", "statistics")
        self.lab("shape", "1", "clear")
        ends = {"studio": studio.end(signal.SIGINT), "producer": producer.end(signal.SIGINT), "link": links(counts)}
        lines = [json.loads(line) for line in trace.read_text().splitlines()]
        return lines, marks, ends

    def phases(self, studio, producer):
        tools = {"studio": studio, "producer": producer}
        begin = time.monotonic()
        marks = []
        for phase in self.scenario.phases:
            marks.append(time.monotonic_ns() // 1000)
            for action in phase.actions:
                self.act(action, tools)
            begin += phase.seconds
            while (left := begin - time.monotonic()) > 0:
                ended = [tool for tool in tools.values() if tool.process.poll() is not None]
                if ended:
                    raise Fault(f"{ended[0].name} has ended: {ended[0].words()}")
                time.sleep(min(left, 0.2))
        return marks + [time.monotonic_ns() // 1000]

    def act(self, action, tools):
        verb, what = action.split(None, 1)
        if verb == "link":
            what = {"down": "both down 1", "up": "both down 0"}.get(what, what)
            self.lab("shape", "1", f"set {what}")
        else:
            tools[what].signal(signal.SIGSTOP if verb == "freeze" else signal.SIGCONT)


def links(text):
    """The lines of "scripts/lab shape K statistics"."""
    result = {}
    for line in text.splitlines():
        way, *fields = line.split()
        result[way] = {name: int(value) for name, value in (field.split("=") for field in fields)}
    return result
