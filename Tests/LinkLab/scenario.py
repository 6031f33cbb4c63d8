"""Scenario files: a link, phases in which something happens to it, and bars that the figures must reach.

One statement on a line; # begins a comment:

    title TEXT
    link SETTINGS                       of the whole link before anything happens, as "scripts/lab shape" knows them
    congestion cubic|bbr                of TCP at the producer; else what the kernel has
    producer OPTIONS                    behind "gantry-producer run test"
    phase NAME SECONDS [: ACTION[, ACTION...]]
    bar PHASE FIGURE <=|>= NUMBER [UNIT]

ACTION, at the beginning of its phase: "link SETTINGS", "link down", "link up", "freeze studio", "thaw studio", "freeze
producer", "thaw producer". The phase "start" is not judged; the phase "before" is what "back" is compared with. PHASE of a bar is
a phase, or "all": everything behind "start".
"""
import re
from dataclasses import dataclass, field

FIGURES = {
    "latency-p50": "ms", "latency-p95": "ms", "latency-p99": "ms", "latency-max": "ms",
    "skipped": "", "lost": "", "lost-percent": "%", "undecoded": "",
    "sound-gaps": "", "sound-silence": "ms", "back": "s", "lip-sync": "ms", "bitrate": "Mbit/s", "fps": "", "reconnections": "", "psnr": "dB",
}
LONGEST = 3600


class Fault(Exception):
    """What is wrong, for people."""


@dataclass
class Phase:
    name: str
    seconds: float
    actions: list = field(default_factory=list)


@dataclass
class Bar:
    phase: str
    figure: str
    is_most: bool
    value: float

    def holds(self, value):
        return value is not None and (value <= self.value if self.is_most else value >= self.value)


@dataclass
class Scenario:
    name: str
    title: str = ""
    link: str = ""
    congestion: str = ""
    producer: list = field(default_factory=lambda: "--grain --size 1280x720 --fps 30 --bitrate 6M".split())
    phases: list = field(default_factory=list)
    bars: list = field(default_factory=list)

    @property
    def bitrate(self):
        """What a clip is sent at."""
        return self.producer[self.producer.index("--bitrate") + 1] if "--bitrate" in self.producer[:-1] else "6M"


def parse(name, text):
    scenario = Scenario(name)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        try:
            statement(scenario, *(line.split(None, 1) + [""])[:2])
        except Fault as fault:
            raise Fault(f"{name}, line {number}: {fault}") from None
    check(scenario)
    return scenario


def statement(scenario, word, rest):
    if word in ("title", "link"):
        setattr(scenario, word, rest)
    elif word == "congestion":
        scenario.congestion = rest
    elif word == "producer":
        scenario.producer = rest.split()
    elif word == "phase":
        scenario.phases.append(phase(rest))
    elif word == "bar":
        scenario.bars.append(bar(rest))
    else:
        raise Fault(f'there is no statement "{word}"')


def phase(text):
    found = re.fullmatch(r"([a-z][a-z0-9-]*)\s+([0-9.]+)\s*(?::\s*(.*))?", text)
    if not found:
        raise Fault("a phase is written as: phase NAME SECONDS : ACTION, ACTION")
    name, seconds = found[1], float(found[2])
    if not 0 < seconds <= LONGEST:
        raise Fault(f"a phase lasts at most {LONGEST} seconds")
    actions = [action.strip() for action in (found[3] or "").split(",") if action.strip()]
    for action in actions:
        if not re.fullmatch(r"link .+|(freeze|thaw) (studio|producer)", action):
            raise Fault(f'there is no action "{action}"')
    return Phase(name, seconds, actions)


def bar(text):
    found = re.fullmatch(r"([a-z0-9-]+)\s+([a-z0-9-]+)\s*(<=|>=)\s*([0-9.]+)\s*(\S*)", text)
    if not found:
        raise Fault("a bar is written as: bar PHASE FIGURE <= NUMBER UNIT")
    figure, unit = found[2], found[5]
    if figure not in FIGURES:
        raise Fault(f'there is no figure "{figure}". There are: {", ".join(FIGURES)}')
    if unit and unit != FIGURES[figure]:
        raise Fault(f'the unit of {figure} is "{FIGURES[figure]}"')
    return Bar(found[1], figure, found[3] == "<=", float(found[4]))


def check(scenario):
    names = [phase.name for phase in scenario.phases]
    if len(set(names)) != len(names) or not names:
        raise Fault(f"{scenario.name}: phases must have names of their own, and there must be one")
    for bar in scenario.bars:
        if bar.phase not in names + ["all"]:
            raise Fault(f'{scenario.name}: there is no phase "{bar.phase}"')
        if bar.figure == "back" and "before" not in names:
            raise Fault(f'{scenario.name}: "back" needs a phase "before"')
