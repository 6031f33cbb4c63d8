"""Tables and a picture of what was measured."""
import math
from statistics import median

from plot import GREEN, GRID, INK, PALE, RED, Canvas, Scale, WIDTH

# Gantry's bars at 1280x720, 30 fps, 6 Mbit/s: ratios to the same run where there is a peer or a floor to compare with.
BARS = {
    "loss1": [("p50", 20), ("p95", 30), ("lost", 0)],
    "loss5": [("p50", 25), ("p95", 50), ("lost", 0)],
    "cap": [("p50", 25), ("p95", 60)],
}
LEAST_PSNR = {"clean": 34.6, "loss1": 34.0, "loss5": 33.0, "cap": 33.0}
MOST_LOST_PERCENT = 5
H264_PEERS = ("ffmpeg-tcp", "ffmpeg-tcp-bbr", "ffmpeg-udp", "gstreamer-rtp")
FIGURES = ("p50", "p95", "p99", "max", "lost", "of", "psnr", "ssim", "mbit", "dropped", "cpu-sender", "cpu-receiver",
           "memory-sender", "memory-receiver")


def medians(results):
    """One result for each peer and link: the median of its rounds."""
    groups = {}
    for result in results:
        groups.setdefault((result["peer"], result["link"]), []).append(result)
    merged = {}
    for key, rounds in groups.items():
        merged[key] = {"rounds": len(rounds)}
        for figure in FIGURES:
            # -1: there was no picture to take it from.
            values = [one[figure] for one in rounds if one.get(figure) is not None and one[figure] != -1]
            merged[key][figure] = median(values) if values else None
    return merged


def number(value, places=1):
    return "-" if value is None else f"{value:.{places}f}"


def lost(result):
    if not result.get("of"):
        return "-"
    share = 100 * result["lost"] / result["of"]
    return "0" if result["lost"] == 0 else f"{share:.1f} %" if share < 10 else f"{share:.0f} %"


def tables(merged, peers, links):
    words = []
    floor = merged.get(("floor", "clean"))
    for link in links:
        words += [f"### {link}", "", "| | p50 ms | p95 | p99 | lost | PSNR dB | SSIM | Mbit/s | CPU ms a picture | memory MB |",
                  "|---|---|---|---|---|---|---|---|---|---|"]
        if link == "clean" and floor:
            words.append(f"| floor: encode and decode alone | {number(floor['p50'])} | {number(floor['p95'])} | {number(floor['p99'])} | | | | | | |")
        for name, peer in peers.items():
            result = merged.get((name, link))
            if result:
                words.append(row(peer, result))
        words.append("")
    words += ratios(merged, floor)
    return "\n".join(words) + "\n"


def row(peer, result):
    pair = [f"{number(result[f'{what}-sender'], places)} / {number(result[f'{what}-receiver'], places)}"
            for what, places in (("cpu", 1), ("memory", 0))]
    return (f"| {peer.title} | {number(result['p50'])} | {number(result['p95'])} | {number(result['p99'])} | {lost(result)} | "
            f"{number(result['psnr'])} | {number(result['ssim'], 4)} | {number(result['mbit'])} | {pair[0]} | {pair[1]} |")


def best_peer(merged, link):
    """The H.264 peer with the lowest median of those that lose nothing, or nearly."""
    found = [(result["p50"], name) for (name, where), result in merged.items()
             if where == link and name in H264_PEERS and result["p50"] is not None and result["of"] and result["lost"] <= 0.01 * result["of"]]
    return min(found)[1] if found else None


def ratios(merged, floor):
    own = merged.get(("gantry", "clean"))
    if not own or own["p50"] is None:
        return []
    words = ["Gantry on the clean link:", ""]
    if floor:
        words.append(f"- p50 {own['p50'] / floor['p50']:.2f} × the floor")
    best = best_peer(merged, "clean")
    if best:
        words.append(f"- p50 {own['p50'] / merged[best, 'clean']['p50']:.2f} × the best H.264 peer ({best})")
        cpu = [own[f"cpu-{end}"] / merged[best, "clean"][f"cpu-{end}"] for end in ("sender", "receiver")]
        words.append(f"- processor time of sender and receiver {cpu[0]:.2f} and {cpu[1]:.2f} × its")
    words.append(f"- p99 {own['p99'] / own['p50']:.2f} × p50")
    return words + [""]


def missed(merged, task):
    """The bars that Gantry does not meet, in words. Those of which nothing was measured are left out.

    Those in milliseconds and decibels are for 1280x720; ratios are for all sizes."""
    has_figures = (task.width, task.height) == (1280, 720)
    found = []
    for (name, link), own in merged.items():
        if name != "gantry" or own["p50"] is None:
            if name == "gantry":
                found.append(f"{link}: nothing was received")
            continue
        for figure, most in BARS.get(link, []) if has_figures else ():
            if own[figure] > most:
                found.append(f"{link}: {figure} {own[figure]:g}, at most {most}")
        if has_figures and own["psnr"] is not None and own["psnr"] < LEAST_PSNR[link]:
            found.append(f"{link}: PSNR {own['psnr']:.1f} dB, at least {LEAST_PSNR[link]}")
        if own["of"] and 100 * own["lost"] / own["of"] > MOST_LOST_PERCENT:
            found.append(f"{link}: {lost(own)} lost, at most {MOST_LOST_PERCENT} %")
    own, floor, best = merged.get(("gantry", "clean")), merged.get(("floor", "clean")), best_peer(merged, "clean")
    if own and own["p50"] is not None:
        bars = [("p50, to the floor", floor and floor["p50"], 1.0), ("p50, to the best peer", best and merged[best, "clean"]["p50"], 0.85)]
        for words, other, most in bars:
            if other and own["p50"] / other > most:
                found.append(f"clean: {words} {own['p50'] / other:.2f}, at most {most:g}")
        if own["p99"] > 1.5 * own["p50"]:
            found.append(f"clean: p99 {own['p99'] / own['p50']:.2f} × p50, at most 1.5")
        for figure in ("cpu-sender", "cpu-receiver", "memory-sender", "memory-receiver") if best else ():
            if own[figure] > merged[best, "clean"][figure]:
                found.append(f"clean: {figure} {own[figure]:g}, at most the {merged[best, 'clean'][figure]:g} of {best}")
    return found


ROW, TOP, NAMES = 20, 64, 300


def draw(merged, peers, links, task):
    """Bars from p50 to p95, and a mark at p99, for each peer, a panel for each link."""
    shown = {link: [name for name in ["floor", *peers] if (name, link) in merged] for link in links}
    height = TOP + sum(ROW * len(names) + 74 for names in shown.values())
    values = [result[figure] for result in merged.values() for figure in ("p50", "p99") if result[figure]]
    if not values:
        return Canvas().svg()
    low, high = max(1, min(values) * 0.8), max(values) * 1.3
    scale = Scale(low, high, NAMES, WIDTH - 130, logarithmic=True)
    canvas = Canvas(height)
    canvas.text(24, 30, f"From camera to picture, {task.width}x{task.height} at {task.rate} fps, {task.bitrate / 1e6:g} Mbit/s", size=17, weight="bold")
    canvas.text(24, 50, "bar: median to 95th percentile; line: 99th; milliseconds, logarithmic", PALE, 12)
    y = TOP
    for link, names in shown.items():
        y = panel(canvas, merged, peers, link, names, scale, y, low, high)
    return canvas.svg()


def panel(canvas, merged, peers, link, names, scale, top, low, high):
    canvas.text(24, top + 24, link, size=15, weight="bold")
    begin, end = top + 34, top + 34 + ROW * len(names)
    for power in range(0, 5):
        for step in (1, 2, 5):
            value = step * 10 ** power
            if low <= value <= high:
                canvas.line(scale(value), begin, scale(value), end, "#cfd7e0" if step == 1 else GRID)
                canvas.text(scale(value), end + 14, f"{value:g}", PALE, 11, "middle")
    for place, name in enumerate(names):
        result, y = merged[name, link], begin + place * ROW
        title = "floor: encode and decode alone" if name == "floor" else peers[name].title
        own = name.startswith("gantry")
        canvas.text(NAMES - 10, y + 14, title, INK, 12, "end", "bold" if own else "normal")
        if result["p50"] is None:
            canvas.text(NAMES + 8, y + 14, "nothing came through", RED, 12)
            continue
        color = GREEN if own else PALE if name == "floor" else "#2368b5"
        canvas.box(scale(result["p50"]), y + 4, max(3, scale(result["p95"]) - scale(result["p50"])), ROW - 8, color, 0.85)
        canvas.line(scale(result["p99"]), y + 3, scale(result["p99"]), y + ROW - 3, color, 2)
        share = lost(result)
        words = f"{result['p50']:.1f}" + (f", {share} lost" if share not in ("-", "0") else "")
        canvas.text(scale(max(result["p99"], result["p95"])) + 8, y + 14, words, RED if share not in ("-", "0") else INK, 11)
    return end + 40
