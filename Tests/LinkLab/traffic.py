"""Numbered UDP packets with the time they were sent at, and what became of them on the way. For the hosts of a lab, which
share a clock.

    traffic.py receive PORT SECONDS             says "ready", listens until nothing comes for SECONDS, writes JSON
    traffic.py send ADDRESS PORT COUNT BYTES INTERVAL
"""
import json
import socket
import struct
import sys
import time

HEADER = struct.Struct("!Id")


def send(address, port, count, size, interval):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begin = time.monotonic()
    for number in range(count):
        wait = begin + number * interval - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        out.sendto(HEADER.pack(number, time.monotonic()).ljust(size, b"\0"), (address, port))


def receive(port, silence):
    source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    source.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    source.bind(("", port))
    # The first packet may take as long as a loaded machine takes to start the sender.
    source.settimeout(20)
    print("ready", flush=True)
    numbers, delays, arrivals, size = [], [], [], 0
    while True:
        try:
            packet = source.recv(65536)
        except TimeoutError:
            break
        now = time.monotonic()
        number, sent = HEADER.unpack_from(packet)
        numbers.append(number)
        delays.append((now - sent) * 1000)
        arrivals.append(now)
        size += len(packet)
        source.settimeout(silence)
    ordered = sorted(delays)
    span = arrivals[-1] - arrivals[0] if len(arrivals) > 1 else 0
    print(json.dumps({
        "received": len(set(numbers)), "doubled": len(numbers) - len(set(numbers)),
        "overtaken": sum(a > b for a, b in zip(numbers, numbers[1:])),
        "least": ordered[0] if ordered else 0, "median": ordered[len(ordered) // 2] if ordered else 0,
        "most": ordered[-1] if ordered else 0, "megabits": size * 8 / span / 1e6 if span else 0,
    }))


if sys.argv[1] == "receive":
    receive(int(sys.argv[2]), float(sys.argv[3]))
else:
    send(sys.argv[2], *map(int, sys.argv[3:6]), float(sys.argv[6]))
