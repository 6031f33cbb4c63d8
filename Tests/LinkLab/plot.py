"""Draws a session: latency of each picture, bitrate, and what was dropped, over time. SVG, without a library."""
import math
from html import escape

from figures import latency

WIDTH, LEFT, RIGHT = 1200, 92, 24
LATENCY = (92, 390)  # top and bottom of the panels
BITRATE = (424, 570)
MARKS = (604, 704)
HEIGHT = 762
BIN = 250_000
INK, PALE, GRID = "#1f2933", "#66727f", "#e3e8ee"
BLUE, GREEN, RED, AMBER, PURPLE = "#2368b5", "#2b8a57", "#c8322b", "#d98014", "#7a4bb0"
KINDS = [
    ("skipped", "skipped before encoding", AMBER), ("lost", "lost after encoding", RED), ("undecoded", "not decoded", PURPLE),
    ("gaps", "sound interrupted", BLUE), ("outages", "no connection", INK),
]


class Canvas:
    def __init__(self, height=HEIGHT):
        self.parts, self.height = [], height

    def line(self, x1, y1, x2, y2, color=GRID, width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{dashes}/>')

    def box(self, x, y, width, height, color, opacity=1.0):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{color}" fill-opacity="{opacity}"/>')

    def dot(self, x, y, color):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.9" fill="{color}" fill-opacity="0.75"/>')

    def path(self, points, color, width=1.8, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{steps}" fill="none" stroke="{color}" stroke-width="{width}"{dashes}/>')

    def text(self, x, y, words, color=INK, size=13, anchor="start", weight="normal", turn=False):
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}"{turned}>{escape(words)}</text>')

    def svg(self):
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" viewBox="0 0 {WIDTH} {self.height}" '
            'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n")


class Scale:
    """From values to a coordinate; logarithmic where asked for."""

    def __init__(self, low, high, begin, end, logarithmic=False):
        self.bend = math.log10 if logarithmic else (lambda value: value)
        self.low, self.begin, self.end = self.bend(low), begin, end
        self.span = (self.bend(high) - self.low) or 1
        self.least, self.most = low, high

    def __call__(self, value):
        share = (self.bend(min(max(value, self.least), self.most)) - self.low) / self.span
        return self.begin + share * (self.end - self.begin)


def draw(scenario, take, marks, verdicts, base):
    canvas = Canvas()
    across = Scale(0, (marks[-1] - marks[0]) / 1e6, LEFT, WIDTH - RIGHT)

    def x(time):
        return across((time - marks[0]) / 1e6)

    heading(canvas, scenario, verdicts)
    shade(canvas, scenario, marks, x)
    latencies(canvas, scenario, take, marks, verdicts, base, x)
    bitrates(canvas, scenario, take, marks, x)
    drops(canvas, take, marks, x)
    time_axis(canvas, across)
    return canvas.svg()


def heading(canvas, scenario, verdicts):
    canvas.text(LEFT, 30, f"{scenario.name}: {scenario.title}", size=17, weight="bold")
    missed = [verdict for verdict in verdicts if not verdict["ok"]]
    words = "all bars met" if not missed else "missed: " + ", ".join(
        f"{verdict['phase']} {verdict['figure']} "
        + ("never" if verdict["value"] is None else f"{verdict['value']:.3g}")
        + f" ({'≤' if 'most' in verdict else '≥'} {verdict.get('most', verdict.get('least')):g}{' ' + verdict['unit'] if verdict['unit'] else ''})"
        for verdict in missed)
    size = 13 if len(words) < 150 else 11
    canvas.text(LEFT, 52, words, RED if missed else GREEN, size)


def shade(canvas, scenario, marks, x):
    for place, phase in enumerate(scenario.phases):
        begin, end = x(marks[place]), x(marks[place + 1])
        color = "#f4f6f9" if place % 2 == 0 else "#ffffff"
        if phase.actions and place + 1 < len(scenario.phases):
            color = "#fdf0e6"
        canvas.box(begin, LATENCY[0] - 20, end - begin, MARKS[1] - LATENCY[0] + 20, color)
        if place:
            canvas.line(begin, LATENCY[0] - 20, begin, MARKS[1], "#c3ccd6")
        room = int((end - begin) / 7.2)
        words = phase.name + (f" ({', '.join(phase.actions)})" if phase.actions else "")
        canvas.text((begin + end) / 2, LATENCY[0] - 6, words if len(words) <= room else phase.name, PALE, 12, "middle")


def latencies(canvas, scenario, take, marks, verdicts, base, x):
    top, bottom = LATENCY
    points = [(picture["output"], latency(picture)) for picture in take.pictures if marks[0] <= picture["output"] < marks[-1]]
    bars = [verdict for verdict in verdicts if verdict["figure"].startswith("latency-") and "most" in verdict]
    values = [value for _, value in points] + [verdict["most"] for verdict in bars] + [10]
    low, high = max(1, min(values) * 0.8), max(values) * 1.25
    scale = Scale(low, high, bottom, top, logarithmic=True)
    for decade in (1, 10, 100, 1000, 10000):
        for step in (1, 2, 5):
            if low <= decade * step <= high:
                y = scale(decade * step)
                canvas.line(LEFT, y, WIDTH - RIGHT, y, "#cfd7e0" if step == 1 else GRID)
                canvas.text(LEFT - 8, y + 4, f"{decade * step}", PALE, 12, "end")
    canvas.text(26, (top + bottom) / 2, "latency, capture to output (ms, log)", INK, 13, "middle", turn=True)
    for time, value in points:
        canvas.dot(x(time), scale(value), BLUE)
    for verdict in bars:
        begin, end = span(scenario, verdict["phase"], marks)
        y, color = scale(verdict["most"]), GREEN if verdict["ok"] else RED
        canvas.line(x(begin), y, x(end), y, color, 1.6, "7 4")
        value = "none" if verdict["value"] is None else f"{verdict['value']:.0f}"
        label = f"{verdict['figure'].removeprefix('latency-')} {value} ms (≤ {verdict['most']:g})"
        canvas.box(x(end) - 7 * len(label) - 4, y - 17, 7 * len(label), 14, "white", 0.8)
        canvas.text(x(end) - 6, y - 5, label, color, 12, "end", "bold")
    if base is not None:
        canvas.line(LEFT, scale(base), WIDTH - RIGHT, scale(base), PALE, 1, "2 4")
        canvas.text(LEFT + 6, scale(base) - 5, f"base {base:.0f} ms", PALE, 11)


def span(scenario, name, marks):
    if name == "all":
        return marks[1 if len(marks) > 2 else 0], marks[-1]
    place = [phase.name for phase in scenario.phases].index(name)
    return marks[place], marks[place + 1]


def bitrates(canvas, scenario, take, marks, x):
    top, bottom = BITRATE
    count = max(1, math.ceil((marks[-1] - marks[0]) / BIN))
    bins = [0.0] * count
    for picture in take.pictures:
        place = (picture["arrival"] - marks[0]) // BIN
        if 0 <= place < count:
            bins[place] += picture["bytes"] * 8 / BIN
    # The last piece is not whole.
    bins = bins[:-1] or bins
    most = max(1.0, max(bins) * 1.15)
    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if most / step <= 5)
    scale = Scale(0, most, bottom, top)
    for k in range(int(most / step) + 1):
        y = scale(k * step)
        canvas.line(LEFT, y, WIDTH - RIGHT, y, GRID if k else "#cfd7e0")
        canvas.text(LEFT - 8, y + 4, f"{k * step:g}", PALE, 12, "end")
    canvas.text(26, (top + bottom) / 2, "picture (Mbit/s)", INK, 13, "middle", turn=True)
    limit = None
    for place, phase in enumerate(scenario.phases):
        limit = link_rate([scenario.link] * (place == 0) + phase.actions, limit)
        if limit and limit <= most:
            begin, end = x(marks[place]), x(marks[place + 1])
            canvas.line(begin, scale(limit), end, scale(limit), RED, 1.4, "7 4")
            canvas.text(end - 6, scale(limit) - 5, f"link {limit:g} Mbit/s", RED, 11, "end")
    canvas.path([(x(marks[0] + (k + 0.5) * BIN), scale(value)) for k, value in enumerate(bins)], GREEN)


def link_rate(actions, before):
    """The rate from the producer to the studio after these; None: no limit."""
    for action in actions:
        words = action.split()
        if "rate" in words[:-1] and "in" not in words:
            before = float(words[words.index("rate") + 1]) or None
    return before


def drops(canvas, take, marks, x):
    top, bottom = MARKS
    height = (bottom - top) / len(KINDS)
    for row, (name, words, color) in enumerate(KINDS):
        y = top + row * height
        if row:
            canvas.line(LEFT, y, WIDTH - RIGHT, y)
        events = getattr(take, name)
        count = 0
        for event in events:
            begin, end = (event["time"], event["time"] + event["silence"]) if name == "gaps" else \
                event if name == "outages" else (event, event)
            end = marks[-1] if end is None else end
            if not marks[0] <= begin < marks[-1]:
                continue
            count += 1
            canvas.box(x(begin) - 0.7, y + 3, max(1.4, x(min(end, marks[-1])) - x(begin)), height - 6, color)
        canvas.text(LEFT + 6, y + height - 6, f"{words}: {count}", color if count else PALE, 11, weight="bold" if count else "normal")
    canvas.line(LEFT, bottom, WIDTH - RIGHT, bottom, "#cfd7e0")
    canvas.text(26, (top + bottom) / 2, "drops", INK, 13, "middle", turn=True)


def time_axis(canvas, across):
    step = next(step for step in (1, 2, 5, 10, 30, 60, 300, 3600) if across.most / step <= 25)
    for k in range(int(across.most / step) + 1):
        x = across(k * step)
        canvas.line(x, MARKS[1], x, MARKS[1] + 5, PALE)
        canvas.text(x, MARKS[1] + 20, f"{k * step}", PALE, 12, "middle")
    canvas.text((LEFT + WIDTH - RIGHT) / 2, MARKS[1] + 44, "time (s)", INK, 13, "middle")
