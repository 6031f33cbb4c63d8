"""From the lines of a trace to figures for each phase, and to what became of the bars."""
from dataclasses import dataclass, field

from scenario import FIGURES

# What comes back to base has a quarter of a second with hardly a picture that is slower than base.
CALM_SPAN = 250_000
CALM_SHARE = 0.9


def percentile(values, percent):
    """Nearest rank: the smallest that at least so many percent do not exceed. None without values."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else None


def mean(values):
    return sum(values) / len(values) if values else None


@dataclass
class Take:
    """A session as it was played; times in microseconds on the clock of the machine."""
    pictures: list
    """(time of capture) of pictures that were never encoded, were lost on the way, came and were never decoded."""
    skipped: list = field(default_factory=list)
    lost: list = field(default_factory=list)
    undecoded: list = field(default_factory=list)
    gaps: list = field(default_factory=list)
    """(time of the flash, how much later the outputs had the click)"""
    lip_syncs: list = field(default_factory=list)
    """(from, to) without a connection."""
    outages: list = field(default_factory=list)
    connections: list = field(default_factory=list)
    unwritten: int = 0
    """What the clocks differ by as the two ends see it; both ran on one clock."""
    clock_error: int = 0


def read(lines):
    pictures = sorted((line for line in lines if line["line"] == "picture"), key=lambda line: line["arrival"])
    take = Take([picture for picture in pictures if picture["output"] is not None])
    take.undecoded = [picture["capture"] for picture in pictures if picture["output"] is None]
    take.gaps = [line for line in lines if line["line"] == "soundGap"]
    take.lip_syncs = [(line["pts"], line["apart"]) for line in lines if line["line"] == "lipSync"]
    events = [line for line in lines if line["line"] == "event"]
    take.connections = [event["time"] for event in events if event["event"] == "connected"]
    for event in events:
        if event["event"] == "disconnected":
            back = [time for time in take.connections if time > event["time"]]
            take.outages.append((event["time"], back[0] if back else None))
    take.unwritten = next((line["unwritten"] for line in lines if line["line"] == "end"), 0)
    take.clock_error = max((abs(picture["offset"]) for picture in pictures), default=0)
    rates = [(event["time"], event["fps"]) for event in events if event["event"] == "rate" and event.get("fps")]
    missing(take, pictures, rates)
    return take


def missing(take, pictures, rates):
    """What is not there between two pictures: numbers are missing for what was lost, time alone for what was skipped."""
    steps = [b["capture"] - a["capture"] for a, b in zip(pictures, pictures[1:])]
    usual = percentile(steps, 50) or 1
    for before, after in zip(pictures, pictures[1:]):
        if any(before["arrival"] < time <= after["arrival"] for time in take.connections[1:]):
            # Of an outage nothing was to come.
            continue
        told = [1e6 / fps for time, fps in rates if time <= after["arrival"]]
        step = max(told[-1] if told else usual, 1)
        count = max(0, round((after["capture"] - before["capture"]) / step) - 1)
        numbers = (after["sequence"] - before["sequence"]) % 2**32 - 1
        numbers = numbers if 0 <= numbers < 2**16 else 0
        times = [before["capture"] + step * (k + 1) for k in range(max(count, numbers))]
        take.lost += times[:numbers]
        take.skipped += times[numbers:]


def latency(picture):
    """Milliseconds. Both ends have the same clock: the truth, whatever they make of each other's."""
    return (picture["output"] - picture["capture"]) / 1000


def summarise(take, begin, end):
    """The figures between two times; pictures belong to the time they were captured at."""
    def within(times):
        return sum(begin <= time < end for time in times)

    pictures = [picture for picture in take.pictures if begin <= picture["capture"] < end]
    times = [latency(picture) for picture in pictures]
    came = [picture for picture in take.pictures if begin <= picture["arrival"] < end]
    gaps = [gap for gap in take.gaps if begin <= gap["time"] < end]
    lost, undecoded = within(take.lost), within(take.undecoded)
    coded = len(pictures) + lost + undecoded
    seconds = (end - begin) / 1e6
    return {
        "seconds": seconds, "pictures": len(pictures), "fps": len(pictures) / seconds,
        "latency-p50": percentile(times, 50), "latency-p95": percentile(times, 95), "latency-p99": percentile(times, 99),
        "latency-max": max(times, default=None),
        "bitrate": sum(picture["bytes"] for picture in came) * 8 / seconds / 1e6,
        "skipped": within(take.skipped), "lost": lost, "undecoded": undecoded,
        "lost-percent": 100 * (lost + undecoded) / coded if coded else 0,
        "sound-gaps": len(gaps), "sound-silence": sum(gap["silence"] for gap in gaps) / 1000,
        "reconnections": within(take.connections[1:]), "back": None, "lip-sync": lip_sync(take, begin, end),
        "psnr": mean([picture["psnr"] for picture in pictures if "psnr" in picture]),
    }


def lip_sync(take, begin, end):
    """Milliseconds that sound and picture are apart at most."""
    return max((abs(apart) / 1000 for time, apart in take.lip_syncs if begin <= time < end), default=None)


def base_latency(take, begin, end):
    """What is "base": as slow as all but one of a hundred pictures of that time, and at least 10 ms over the median."""
    figures = summarise(take, begin, end)
    if not figures["pictures"]:
        return None
    return max(figures["latency-p99"], figures["latency-p50"] + 10)


def back_after(take, begin, end, base):
    """Seconds from `begin` until pictures come at base latency again, and as often as they should; None: never."""
    shown = [(picture["output"], latency(picture) <= base) for picture in take.pictures if begin <= picture["output"] < end]
    steps = [b["capture"] - a["capture"] for a, b in zip(take.pictures, take.pictures[1:])]
    wanted = CALM_SPAN / (percentile(steps, 50) or 33_333) * 0.8
    for place, (time, is_calm) in enumerate(shown):
        if not is_calm or time + CALM_SPAN > end:
            continue
        span = [calm for other, calm in shown[place:] if other < time + CALM_SPAN]
        if len(span) >= wanted and sum(span) >= CALM_SHARE * len(span):
            return (time - begin) / 1e6
    return None


def judge(scenario, take, marks):
    """The figures of each phase by its name, with "all", and each bar with its value."""
    phases = {}
    base = None
    for place, phase in enumerate(scenario.phases):
        begin, end = marks[place], marks[place + 1]
        phases[phase.name] = summarise(take, begin, end)
        if phase.name == "before":
            base = base_latency(take, begin, end)
        elif base is not None and phase.name != "start":
            back = back_after(take, begin, end, base)
            phases[phase.name]["back"] = back
            phases[phase.name]["lip-sync"] = None if back is None else lip_sync(take, begin + back * 1e6, end)
    is_first_start = scenario.phases[0].name == "start" and len(scenario.phases) > 1
    phases["all"] = summarise(take, marks[1 if is_first_start else 0], marks[-1])
    verdicts = []
    for bar in scenario.bars:
        value = phases[bar.phase][bar.figure]
        verdicts.append({
            "phase": bar.phase, "figure": bar.figure, "unit": FIGURES[bar.figure], "value": value,
            "most" if bar.is_most else "least": bar.value,
            # Only a clip says how good pictures are.
            "ok": True if bar.figure == "psnr" and value is None else bar.holds(value),
        })
    return phases, verdicts, base
