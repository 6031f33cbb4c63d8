"""How like the clip the received pictures are: luma PSNR of each, by ffmpeg's psnr filter."""
import re
import subprocess
import threading
from pathlib import Path

from scenario import Fault


class Clip:
    """A YUV4MPEG2 file with 4:2:0 pictures, of which any can be read."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        with open(self.path, "rb") as file:
            head = file.readline(200)
        words = head.decode("ascii", "replace").split()
        values = {word[0]: word[1:] for word in words[1:]}
        if not words or words[0] != "YUV4MPEG2" or not values.get("C", "420").startswith("420") or "p1" in values.get("C", ""):
            raise Fault(f"{path} is no YUV4MPEG2 file with 4:2:0 pictures of 8 bits. Make one with: "
                        f"ffmpeg -i CLIP -pix_fmt yuv420p {Path(path).stem}.y4m")
        self.width, self.height = int(values["W"]), int(values["H"])
        rate = values["F"].split(":")
        self.rate = int(rate[0]) / int(rate[1])
        self.size = self.width * self.height + 2 * ((self.width + 1) // 2) * ((self.height + 1) // 2)
        self.start = len(head)
        # Each picture has a line "FRAME" before it; lines with parameters are not expected.
        self.count = (self.path.stat().st_size - self.start) // (self.size + 6)
        if self.count < 1:
            raise Fault(f"{path} has no picture")

    def copy(self, numbers, out):
        with open(self.path, "rb") as file:
            for number in numbers:
                file.seek(self.start + (number % self.count) * (self.size + 6) + 6)
                out.write(file.read(self.size))


def measure(clip, received, pictures):
    """PSNR in dB of each of `pictures` (of a trace, in the order they were decoded in), which are in the file `received`.

    None when that file lacks some: its disk was too slow.
    """
    whole = Clip(received)
    if whole.count != len(pictures) or not pictures:
        return None
    first = pictures[0]["pts"]
    numbers = [round((picture["pts"] - first) / 1e6 * clip.rate) for picture in pictures]
    raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{clip.width}x{clip.height}", "-r", "25", "-i", "-"]
    command = ["ffmpeg", "-v", "error", "-nostdin", "-r", "25", "-i", str(received), *raw, "-lavfi", "[0:v][1:v]psnr=stats_file=-",
               "-f", "null", "/dev/null"]
    filter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        try:
            clip.copy(numbers, filter.stdin)
            filter.stdin.close()
        except BrokenPipeError:
            pass

    feeding = threading.Thread(target=feed)
    feeding.start()
    values = [float(found) for found in re.findall(r"psnr_y:([0-9.]+|inf)", filter.stdout.read().decode())]
    feeding.join()
    if filter.wait() != 0 or len(values) != len(pictures):
        raise Fault("ffmpeg could not compare the pictures with the clip")
    # Without any difference: as good as 8 bits tell.
    return [min(value, 100.0) for value in values]
