"""scripts/lab run: plays scenarios, prints what came of them, and draws it."""
import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

import figures
import plot
import quality
import scenario as scenarios
from session import Session

HERE = Path(__file__).resolve().parent

parser = argparse.ArgumentParser(
    prog="scripts/lab run", formatter_class=argparse.RawDescriptionHelpFormatter,
    description="Plays scenarios: both tools on two hosts, over a link that loses, delays and limits what passes.\n"
    "Prints the figures of each phase and which bars are met, and draws latency, bitrate and drops over time.",
    epilog="example:\n  sudo scripts/lab run clean dip --out results\n\n"
    "Exit status: 0 all bars are met; 1 one is missed; 2 wrong arguments; 3 it cannot run here.\n"
    "Needs root and the packages of scripts/setup --test. docs/scenarios.md describes the files and figures.")
parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help="a name (--list shows them), or a file")
parser.add_argument("--list", action="store_true", help="show the scenarios there are")
parser.add_argument("--json", action="store_true", help="a JSON object for each scenario on standard output, no tables")
parser.add_argument("--out", metavar="FOLDER", default="scenarios", help="where pictures, figures and logs go (default: %(default)s)")
parser.add_argument("--tools", metavar="FOLDER", default=str(HERE.parents[1] / ".build/release"), help="of the tools (default: those of a release build, made before)")
parser.add_argument("--clip", metavar="FILE.y4m", help="send this instead of the test pattern, again and again, and say how like it the received pictures are (PSNR); takes 1.4 MB of TMPDIR for each 720p picture")
parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # of scripts/lab: the arguments, before it builds
parser.add_argument("--seconds", type=float, metavar="N", help="each phase takes N seconds at most: a quick look")


def find(name):
    path = Path(name) if "/" in name or name.endswith(".scenario") else HERE / "scenarios" / f"{name}.scenario"
    try:
        return scenarios.parse(path.stem, path.read_text())
    except OSError as error:
        known = ", ".join(sorted(path.stem for path in (HERE / "scenarios").glob("*.scenario")))
        raise scenarios.Fault(f"{name}: {error.strerror}. There are: {known}") from None


def play(scenario, folder, tools, clip):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        lines, marks, ends = Session(scenario, folder, tools, clip).play(temporary)
        take = figures.read(lines)
        if clip:
            values = quality.measure(clip, Path(temporary) / "received.y4m", take.pictures)
            if values is None:
                print("lab: the disk was too slow for all pictures: no PSNR", file=sys.stderr)
            for picture, value in zip(take.pictures, values or []):
                picture["psnr"] = value
    phases, verdicts, base = figures.judge(scenario, take, marks)
    result = {
        "scenario": scenario.name, "title": scenario.title, "ok": all(verdict["ok"] for verdict in verdicts),
        "bars": verdicts, "phases": phases, "baseMilliseconds": base, "clockErrorMicroseconds": take.clock_error,
        "traceLinesMissing": take.unwritten, "plot": str(folder / "plot.svg"), **ends,
    }
    (folder / "figures.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "plot.svg").write_text(plot.draw(scenario, take, marks, verdicts, base))
    return result


def number(value, places=1):
    return "-" if value is None else f"{value:.{places}f}"


def table(result):
    rows = [["PHASE", "s", "p50 ms", "p95", "p99", "max", "fps", "Mbit/s", "SKIPPED", "LOST", "UNDECODED", "GAPS", "BACK s", "PSNR dB"]]
    for name, phase in result["phases"].items():
        rows.append(
            [name, number(phase["seconds"])] + [number(phase[f"latency-{key}"]) for key in ("p50", "p95", "p99", "max")]
            + [number(phase["fps"]), number(phase["bitrate"], 2)]
            + [str(phase[key]) for key in ("skipped", "lost", "undecoded", "sound-gaps")] + [number(phase["back"], 2), number(phase["psnr"])])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"{result['scenario']}: {result['title']}")
    for row in rows:
        cells = [cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells))
    for bar in result["bars"]:
        limit = f"at most {bar['most']:g}" if "most" in bar else f"at least {bar['least']:g}"
        value = ("never" if bar["figure"] == "back" else "not measured") if bar["value"] is None else f"{bar['value']:.4g}"
        print(f"  {'ok  ' if bar['ok'] else 'MISS'} {bar['phase']}: {bar['figure']} {value} ({limit} {bar['unit']}".rstrip() + ")")
    print(f"  {result['plot']}\n", flush=True)


def main():
    arguments = parser.parse_args()
    try:
        if arguments.list:
            for path in sorted((HERE / "scenarios").glob("*.scenario")):
                print(f"{path.stem:16}{find(path.stem).title}")
            return 0
        if not arguments.scenario:
            parser.error("give a scenario, or --list")
        wanted = [find(name) for name in arguments.scenario]
        clip = quality.Clip(arguments.clip) if arguments.clip else None
        if arguments.seconds is not None and not 0 < arguments.seconds < math.inf:
            parser.error("--seconds must be a number above 0")
    except (scenarios.Fault, OSError) as fault:
        parser.error(str(fault))
    if arguments.check:
        return 0
    status = 0
    for scenario in wanted:
        for phase in scenario.phases:
            phase.seconds = min(phase.seconds, arguments.seconds or phase.seconds)
        try:
            result = play(scenario, Path(arguments.out) / scenario.name, Path(arguments.tools).resolve(), clip)
        except (scenarios.Fault, OSError) as fault:
            print(f"lab: {scenario.name}: {fault}", file=sys.stderr)
            return 3
        if arguments.json:
            print(json.dumps(result), flush=True)
        else:
            table(result)
        status = max(status, 0 if result["ok"] else 1)
    return status


sys.exit(main())
