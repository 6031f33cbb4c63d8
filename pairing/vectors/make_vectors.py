#!/usr/bin/env python3
"""Computes the test vectors of the wire protocol and of pairing, from the text in this folder alone.

Independent of the Swift code: Python 3 and its standard library only. Run it in any folder; it writes *.json beside
itself. With --check it writes nothing and fails when a file differs.
"""
import base64
import binascii
import hashlib
import hmac
import json
import pathlib
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def b32(data):
    return base64.b32encode(data).decode().rstrip("=")


def u8(n):
    return struct.pack(">B", n)


def u16(*n):
    return b"".join(struct.pack(">H", x) for x in n)


def u32(*n):
    return b"".join(struct.pack(">I", x) for x in n)


def u64(n):
    return struct.pack(">Q", n)


def i32(n):
    return struct.pack(">i", n)


def i64(n):
    return struct.pack(">q", n)


def tlv(tag, value):
    return u16(tag, len(value)) + value


def text(s):
    return s.encode("utf-8")


def header(kind, flags, channel, length):
    return u8(kind) + u8(flags) + u16(channel) + u32(length)


def frames():
    cases = [
        ("hello", 0x01, 0x00, 0, 45),
        ("empty pair done", 0x32, 0x00, 0, 0),
        ("video key fragment", 0x20, 0x03, 1, 16376),
        ("largest payload accepted", 0x20, 0x02, 8, 16384),
        ("audio", 0x21, 0x08, 2, 182),
        ("all flags", 0x20, 0x0F, 0x0102, 0xFFFFFFFF),
    ]
    return [
        {"name": n, "type": t, "flags": f, "channel": c, "length": l, "hex": header(t, f, c, l).hex()}
        for n, t, f, c, l in cases
    ]


def media_prefixes():
    cases = [
        ("first", 0, 0, 0, 0),
        ("middle", 0x01020304, 123456789, 123450000, 7),
        ("before the clock's zero", 0xFFFFFFFF, -1, -(2**63), 65535),
    ]
    return [
        {"name": n, "sequence": s, "presentation": p, "capture": c, "epoch": e,
         "hex": (u32(s) + i64(p) + i64(c) + u16(e)).hex()}
        for n, s, p, c, e in cases
    ]


def stream(channel, kind, codec, source, created, name):
    return u16(channel) + u8(kind) + u8(codec) + u8(source) + i64(created) + text(name)


def stage(number, p50, p95):
    return u8(number) + u32(p50, p95)


def feedback():
    return (tlv(1, u16(1)) + tlv(2, u32(900)) + tlv(3, i64(30000000)) + tlv(4, i32(-1500)) + tlv(5, u32(250))
            + tlv(6, u64(22500000)) + tlv(7, u32(1)) + tlv(8, u32(2)))


def messages():
    token = bytes(range(16))
    video = stream(1, 1, 1, 3, 1000000, "Clip")
    audio = stream(2, 2, 16, 3, 1000000, "Sound")
    data = stream(3, 3, 0, 4, -5, "")
    size = u16(1280, 720)
    rate = u32(30000, 1001)
    sets = bytes.fromhex("0000000167420000000001 68ce".replace(" ", ""))
    head = b"OpusHead" + bytes([1, 2, 0, 0]) + bytes.fromhex("80bb0000") + bytes([0, 0, 0])
    table = [
        ("hello studio", 0x01, tlv(1, u16(0)) + tlv(2, u64(1)) + tlv(3, text("Régie 1")) + tlv(4, text("PC"))
         + tlv(5, text("0.1.0")) + tlv(6, u16(480)) + tlv(7, u16(1920, 1080)) + tlv(8, bytes([1, 2, 16]))),
        ("hello producer", 0x01, tlv(1, u16(3)) + tlv(2, u64(0x8000000000000001)) + tlv(3, text("Stage left"))
         + tlv(9, u64(0x1122334455667788)) + tlv(10, u64(1)) + tlv(11, u16(1))),
        ("hello producer with field of use", 0x01, tlv(1, u16(0)) + tlv(2, u64(1)) + tlv(3, text("Stage left"))
         + tlv(12, text("Arena A")) + tlv(13, text("Équipe B")) + tlv(14, text("Scores"))),
        ("accept", 0x02, tlv(1, u64(42)) + tlv(2, video) + tlv(2, audio) + tlv(2, data)),
        ("reject busy", 0x03, tlv(1, u8(3)) + tlv(2, u32(2000)) + tlv(3, text("two studios at most"))),
        ("reject version", 0x03, tlv(1, u8(4)) + tlv(4, u8(2))),
        ("start", 0x04, tlv(1, u16(1, 2)) + tlv(2, size) + tlv(3, rate) + tlv(4, u32(6000000)) + tlv(5, u16(480))),
        ("start least", 0x04, tlv(1, u16(1))),
        ("format video", 0x05, tlv(1, u16(1)) + tlv(2, u16(9)) + tlv(3, u8(1)) + tlv(4, size) + tlv(5, rate)
         + tlv(6, bytes([1, 1, 1, 0])) + tlv(7, u16(90)) + tlv(8, sets)),
        ("format audio", 0x05, tlv(1, u16(2)) + tlv(2, u16(0)) + tlv(3, u8(16)) + tlv(9, u32(48000)) + tlv(10, u8(2))
         + tlv(11, u16(480)) + tlv(12, head)),
        ("keyframe", 0x06, tlv(1, u16(1)) + tlv(2, u8(2))),
        ("prefer", 0x07, tlv(1, u16(640, 360)) + tlv(2, u32(15, 1)) + tlv(3, u32(800000))),
        ("prefer nothing", 0x07, b""),
        ("pause", 0x08, tlv(1, u16(0b110)) + tlv(2, u8(1))),
        ("resume", 0x09, tlv(1, u16(0b010)) + tlv(2, u8(2))),
        ("feedback", 0x0A, feedback()),
        ("rate", 0x0B, tlv(1, u32(4000000)) + tlv(2, u32(20, 1)) + tlv(3, u8(2))),
        ("stats", 0x0C, tlv(1, u64(300)) + tlv(2, u64(0)) + tlv(3, u64(2)) + tlv(4, u64(7500000)) + tlv(5, u64(0))
         + tlv(6, u64(1000)) + tlv(7, u64(0)) + tlv(8, u64(0)) + tlv(9, stage(1, 3100, 4400))
         + tlv(9, stage(2, 200, 900))),
        ("ping", 0x0D, tlv(1, i64(123456789))),
        ("pong", 0x0E, tlv(1, i64(123456789)) + tlv(2, i64(-7)) + tlv(3, i64(-5))),
        ("video state", 0x0F, tlv(1, u16(1)) + tlv(2, u8(3)) + tlv(3, u8(2))),
        ("data", 0x10, u8(4) + b"chat" + bytes([0, 255, 1])),
        ("data without label", 0x10, u8(0) + b"x"),
        ("streams", 0x11, tlv(1, video) + tlv(2, u16(2, 3))),
        ("carrier offer", 0x12, tlv(1, token) + tlv(2, u16(4011)) + tlv(3, u16(4))),
        ("data credit", 0x14, tlv(1, u64(131072))),
        ("carrier bind", 0x13, tlv(1, u64(42)) + tlv(2, token) + tlv(3, u16(4))),
        ("carrier offer of datagrams", 0x12, tlv(1, token) + tlv(2, u16(40111)) + tlv(3, u16(6)) + tlv(4, u16(1472))),
        ("carrier bind of datagrams", 0x13, tlv(1, u64(42)) + tlv(2, token) + tlv(3, u16(6)) + tlv(4, u16(40222))
         + tlv(5, u16(1452))),
        ("carrier bind at once", 0x13, tlv(1, u64(42)) + tlv(2, token) + tlv(3, u16(2)) + tlv(4, u16(40222))
         + tlv(5, u16(1232)) + tlv(6, u8(1))),
        ("error", 0x1E, tlv(1, u16(501)) + tlv(2, text("the clip is damaged"))),
        ("bye", 0x1F, tlv(1, u8(1))),
        ("bye with text", 0x1F, tlv(1, u8(5)) + tlv(2, text("length"))),
        ("pair hello studio", 0x30, tlv(1, u16(0)) + tlv(2, text("Desk")) + tlv(3, text("PC"))),
        ("pair hello producer", 0x30, tlv(1, u16(0)) + tlv(2, text("Stage left")) + tlv(3, text("Pi 5"))
         + tlv(4, u16(4010)) + tlv(5, bytes(range(32)))),
        ("pair accept", 0x31, tlv(1, bytes(range(32, 64)))),
        ("pair done", 0x32, b""),
        ("pair fail", 0x33, tlv(1, u8(1)) + tlv(2, text("old code"))),
    ]
    return [{"name": n, "type": t, "payload": p.hex()} for n, t, p in table]


def broken_messages():
    """Payloads that must be refused, with the error's name."""
    many = b"".join(tlv(100 + n, b"") for n in range(65))
    table = [
        ("cut tag", 0x0D, b"\x00", "protocolError"),
        ("cut value", 0x0D, u16(1, 8) + bytes(7), "protocolError"),
        ("missing field", 0x0D, b"", "protocolError"),
        ("number of a wrong size", 0x0D, tlv(1, u32(1)), "protocolError"),
        ("field twice", 0x0D, tlv(1, i64(1)) + tlv(1, i64(2)), "protocolError"),
        ("65 fields", 0x0D, tlv(1, i64(1)) + many[4:], "protocolError"),
        ("unknown critical field", 0x0D, tlv(1, i64(1)) + tlv(0x8000 | 77, b""), "versionMismatch"),
        ("name of 65 bytes", 0x01, tlv(1, u16(0)) + tlv(2, u64(0)) + tlv(3, b"a" * 65), "protocolError"),
        ("model of 33 bytes", 0x01, tlv(1, u16(0)) + tlv(2, u64(0)) + tlv(4, b"a" * 33), "protocolError"),
        ("width 0", 0x01, tlv(1, u16(0)) + tlv(2, u64(0)) + tlv(7, u16(0, 720)), "protocolError"),
        ("width 8193", 0x01, tlv(1, u16(0)) + tlv(2, u64(0)) + tlv(7, u16(8193, 720)), "protocolError"),
        ("17 codecs", 0x01, tlv(1, u16(0)) + tlv(2, u64(0)) + tlv(8, b"\x01" * 17), "protocolError"),
        ("stream cut", 0x02, tlv(1, u64(1)) + tlv(2, bytes(12)), "protocolError"),
        ("stream on channel 9", 0x02, tlv(1, u64(1)) + tlv(2, stream(9, 1, 1, 1, 0, "")), "protocolError"),
        ("two streams on a channel", 0x02, tlv(1, u64(1)) + 2 * tlv(2, stream(1, 1, 1, 1, 0, "")), "protocolError"),
        ("reason of 129 bytes", 0x1F, tlv(1, u8(1)) + tlv(2, b"a" * 129), "protocolError"),
        ("frame rate 1/0", 0x07, tlv(2, u32(1, 0)), "protocolError"),
        ("rotation 45", 0x05, tlv(1, u16(1)) + tlv(2, u16(0)) + tlv(3, u8(1)) + tlv(4, u16(2, 2)) + tlv(5, u32(1, 1))
         + tlv(6, bytes(4)) + tlv(7, u16(45)), "protocolError"),
        ("no audio channels", 0x05, tlv(1, u16(1)) + tlv(2, u16(0)) + tlv(3, u8(16)) + tlv(9, u32(48000))
         + tlv(10, u8(0)) + tlv(11, u16(480)), "protocolError"),
        ("unknown codec", 0x05, tlv(1, u16(1)) + tlv(2, u16(0)) + tlv(3, u8(99)), "protocolError"),
        ("data label too long", 0x10, u8(33) + bytes(40), "protocolError"),
        ("data cut in its label", 0x10, u8(4) + b"cha", "protocolError"),
        ("data empty", 0x10, b"", "protocolError"),
        ("token of 15 bytes", 0x12, tlv(1, bytes(15)) + tlv(2, u16(1)) + tlv(3, u16(1)), "protocolError"),
        ("proof of 31 bytes", 0x31, tlv(1, bytes(31)), "protocolError"),
        ("proof not last", 0x30, tlv(1, u16(0)) + tlv(5, bytes(32)) + tlv(2, b"a"), "protocolError"),
    ]
    return [{"name": n, "type": t, "payload": p.hex(), "error": e} for n, t, p, e in table]


def hkdf(salt, ikm, info, count):
    prk = hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()
    out, block, n = b"", b"", 1
    while len(out) < count:
        block = hmac.new(prk, block + info + bytes([n]), hashlib.sha256).digest()
        out, n = out + block, n + 1
    return out[:count]


def pairing():
    result = []
    for name, seed in (("plain", 1), ("other secret", 2), ("leading zeros", 0)):
        for attempt in range(10000):
            secret = hashlib.sha256(b"secret %d %d" % (seed, attempt)).digest()[:16]
            exporter = hashlib.sha256(b"exporter %d" % seed).digest()
            studio = hashlib.sha256(b"studio key").digest()
            producer = hashlib.sha256(b"producer key").digest()
            hello_s = tlv(1, u16(0)) + tlv(2, text("Desk")) + tlv(3, text("PC"))
            # A field that this version does not know belongs to the transcript as well.
            if seed == 2:
                hello_s += tlv(99, b"later")
            hello_p = tlv(1, u16(0)) + tlv(2, text("Stage left")) + tlv(3, text("Pi 5")) + tlv(4, u16(4010))
            message = (b"gantry-pair-v1" + studio + producer + u32(len(hello_s)) + hello_s + u32(len(hello_p)) + hello_p)
            digest = hashlib.sha256(message).digest()

            def mac(label):
                key = hkdf(exporter, secret, b"gantry-pair-v1 " + label, 32)
                return hmac.new(key, digest, hashlib.sha256).digest()

            number = int.from_bytes(mac(b"comparison")[:8], "big") % 1000000
            if name != "leading zeros" or number < 1000:
                break
        result.append({
            "name": name, "secret": secret.hex(), "exporter": exporter.hex(), "studioKeyID": studio.hex(),
            "producerKeyID": producer.hex(), "studioHello": hello_s.hex(), "producerHelloWithoutProof": hello_p.hex(),
            "transcript": digest.hex(), "proofProducer": mac(b"producer").hex(), "proofStudio": mac(b"studio").hex(),
            "comparisonNumber": "%06d" % number, "rendezvous": b32(hkdf(b"", secret, b"rendezvous", 10)),
        })
    return result


def gf_multiply(a, b):
    result = 0
    while b:
        if b & 1:
            result ^= a
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return result


def gf_inverse(a):
    return next(b for b in range(1, 256) if gf_multiply(a, b) == 1)


def parity(symbols, count):
    """Reed-Solomon parity of symbols of one size, datagram.md."""
    k = len(symbols)
    rows = []
    for p in range(count):
        factors = [gf_inverse((k + p) ^ j) for j in range(k)]
        row = bytearray(len(symbols[0]))
        for factor, symbol in zip(factors, symbols):
            for i, byte in enumerate(symbol):
                row[i] ^= gf_multiply(factor, byte)
        rows.append(bytes(row))
    return rows


def rtp(payload_type, marker, sequence, timestamp, source, extension=True):
    return (u8(0x90 if extension else 0x80) + u8(payload_type | (0x80 if marker else 0)) + u16(sequence)
            + u32(timestamp) + u32(source))


def media_packet(payload_type, marker, sequence, pts, source, clock, tag, unit, payload):
    unit_number, index, total, data, position, k, r = tag
    extension = u8(1) + u8(14) + u32(unit_number) + u16(index, total, data) + bytes([position, k, r, 0])
    if unit is not None:
        capture, media_sequence, epoch, key = unit
        extension += (u8(2) + u8(24) + i64(pts) + i64(capture) + u32(media_sequence) + u16(epoch)
                      + bytes([2 if key else 0, 0]) + bytes(2))
    header = rtp(payload_type, marker, sequence, pts * clock // 1000 & 0xFFFFFFFF, source)
    return header + u16(0x1000, len(extension) // 4) + extension + payload


def datagram_packets():
    """Small units as they are before SRTP, with their parity."""
    pts, capture = 90000000, 89990000
    nals = [bytes([0x67]) + bytes(range(1, 21)), bytes([0x68]) + bytes(range(1, 5)),
            bytes([0x65]) + bytes(1 + i % 251 for i in range(2000))]
    unit = b"".join(b"\0\0\0\1" + n for n in nals)
    # A payload of 1232 bytes, less 16 for SRTP: 1156 for media in the first packet, 1181 in the others.
    stap = u8(0x60 | 24) + b"".join(u16(len(n)) + n for n in nals[:2])
    rest, pieces = nals[2][1:], []
    room = 1232 - 16 - 32 - 3
    while rest:
        part, rest = rest[:room - 2], rest[room - 2:]
        bits = (0x80 if not pieces else 0) | (0x40 if not rest else 0)
        pieces.append(bytes([0x60 | 28, bits | 5]) + part)
    payloads = [stap] + pieces
    heads = [(capture, 7, 3, True)] + [None] * len(pieces)
    k, r = len(payloads), 2
    symbols = []
    for payload, head in zip(payloads, heads):
        inner = b"" if head is None else i64(pts) + i64(head[0]) + u32(head[1]) + u16(head[2]) + bytes([2, 0])
        symbols.append(u16(len(payload)) + u8(0 if head is None else 1) + inner + payload)
    size = max(map(len, symbols))
    symbols = [s + bytes(size - len(s)) for s in symbols]
    packets = []
    for index, payload in enumerate(payloads + parity(symbols, r)):
        is_parity = index >= k
        packets.append(media_packet(98 if is_parity else 96, index == k - 1, 1 + index, pts, 1, 90,
                                    (0, index, k + r, k, index, k, r), heads[index] if index < k else None, payload))
    opus = bytes([0xFC]) + bytes(range(100))
    sound = media_packet(97, False, 1, pts, 2, 48, (0, 0, 1, 1, 0, 1, 0), (pts, 0, 1, False), opus)
    return {
        "video": {"payloadSize": 1232, "loss": 0.05, "presentation": pts, "capture": capture, "sequence": 7, "epoch": 3,
                  "key": True, "unit": unit.hex(), "packets": [p.hex() for p in packets]},
        "sound": {"payloadSize": 1232, "loss": 0, "presentation": pts, "capture": pts, "sequence": 0, "epoch": 1,
                  "key": False, "unit": opus.hex(), "packets": [sound.hex()]},
    }


def datagram():
    exporter = hashlib.sha256(b"exporter").digest()
    token = bytes(range(16))
    name = b"GNTR"
    blocks = []
    for k, r, size in ((1, 1, 5), (4, 2, 16), (48, 32, 3)):
        data = [bytes((7 * i + 13 * j + i * j) % 256 for i in range(size)) for j in range(k)]
        blocks.append({"data": [d.hex() for d in data], "parity": [p.hex() for p in parity(data, r)]})
    control = [
        ("hello", u8(0x80) + u8(204) + u16(2) + u32(10) + name),
        ("probed", u8(0x81) + u8(204) + u16(4) + u32(10) + name + u32(5) + u16(1472, 0)),
        ("sent", u8(0x82) + u8(204) + u16(4) + u32(9) + name + u32(1, 70000)),
        ("feedback", u8(0x83) + u8(204) + u16(20) + u32(10) + name + u16(70) + feedback()),
        ("report", u8(0x81) + u8(201) + u16(7) + u32(10) + u32(1) + u32(3 << 24 | 20) + u32(70001, 45, 0, 0)),
        ("request", u8(0x81) + u8(205) + u16(4) + u32(10) + u32(1) + u16(100, 0b101) + u16(200, 0)),
    ]
    return {
        "keys": {"exporter": exporter.hex(), "token": token.hex(),
                 "producer": hkdf(token, exporter, b"gantry datagram producer", 28).hex(),
                 "studio": hkdf(token, exporter, b"gantry datagram studio", 28).hex()},
        "parity": blocks,
        "packets": datagram_packets(),
        "control": [{"name": n, "packet": p.hex()} for n, p in control],
    }


def primitives():
    """RFC 4231 (HMAC) and RFC 5869 (HKDF) inputs; a check of an implementation's own primitives."""
    hmacs = [(b"\x0b" * 20, b"Hi There"), (b"Jefe", b"what do ya want for nothing?"), (b"\xaa" * 131, b"x" * 200)]
    hkdfs = [(bytes(range(13)), b"\x0b" * 22, bytes(range(0xF0, 0xFA)), 42), (b"", b"\x0b" * 22, b"", 42)]
    return {
        "sha256": [{"message": m.hex(), "digest": hashlib.sha256(m).hexdigest()}
                   for m in (b"", b"abc", b"a" * 55, b"a" * 56, b"a" * 64, b"a" * 1000)],
        "hmac": [{"key": k.hex(), "message": m.hex(), "mac": hmac.new(k, m, hashlib.sha256).hexdigest()}
                 for k, m in hmacs],
        "hkdf": [{"salt": s.hex(), "ikm": i.hex(), "info": f.hex(), "count": n, "okm": hkdf(s, i, f, n).hex()}
                 for s, i, f, n in hkdfs],
    }


def codes():
    key = hashlib.sha256(b"studio key").digest()
    secret = bytes(range(16))
    base = "GANTRY:1/%s/%s" % (b32(key), b32(secret))
    v6 = bytes.fromhex("20010db8000000000000000000000007") + u16(4010)

    def checked(options):
        return base + "/C" + b32(u16(binascii.crc_hqx((base + options).encode(), 0xFFFF))) + options

    everything = checked("/T120/N" + b32(text("Régie")) + "/A192.0.2.7:4010/B" + b32(v6))
    valid = [
        {"name": "least", "text": base, "endpoints": [], "hint": None, "life": None},
        {"name": "lower case", "text": base.lower(), "endpoints": [], "hint": None, "life": None},
        {"name": "white space around", "text": " \t" + base + "\r\n", "endpoints": [], "hint": None, "life": None},
        {"name": "everything", "text": everything,
         "endpoints": ["192.0.2.7:4010", "[2001:db8:0:0:0:0:0:7]:4010"], "hint": "Régie", "life": 120},
        {"name": "without a check", "text": base + "/T120/A192.0.2.7:4010", "endpoints": ["192.0.2.7:4010"], "hint": None,
         "life": 120},
        {"name": "check, lower case", "text": checked("/A192.0.2.7:4010").lower(), "endpoints": ["192.0.2.7:4010"],
         "hint": None, "life": None},
        {"name": "check of nothing else", "text": checked(""), "endpoints": [], "hint": None, "life": None},
        {"name": "unknown option is skipped", "text": base + "/Q1:2.3-4/Z/T600", "endpoints": [], "hint": None,
         "life": 600},
    ]
    for v in valid:
        v.update(keyID=key.hex(), secret=secret.hex())
    k, s = b32(key), b32(secret)
    invalid = [
        ("empty", "", "invalid"), ("a web address", "https://example.org/", "invalid"),
        ("other scheme", base.replace("GANTRY", "GENTRY"), "invalid"),
        ("version 0", base.replace(":1/", ":0/"), "version"), ("version 2", base.replace(":1/", ":2/"), "version"),
        ("version 2 with other content", "GANTRY:2/WHATEVER", "version"),
        ("version 01", base.replace(":1/", ":01/"), "invalid"), ("no version", base.replace(":1/", ":/"), "invalid"),
        ("only the start", "GANTRY:1", "invalid"), ("no secret", "GANTRY:1/" + k, "invalid"),
        ("cut in the key", base[:40], "invalid"), ("cut in the secret", base[:-1], "invalid"),
        ("secret too long", base + "AA", "invalid"), ("padding", base + "======", "invalid"),
        ("left-over bits", "GANTRY:1/%s/%s" % (k, s[:-1] + "B"), "invalid"),
        ("bad character", "GANTRY:1/%s/%s" % (k, "1" + s[1:]), "invalid"), ("empty option", base + "/", "invalid"),
        ("option that is no letter", base + "/1", "invalid"), ("address too large", base + "/A256.0.0.1:1", "invalid"),
        ("address with leading zero", base + "/A10.0.0.01:1", "invalid"), ("port 0", base + "/A10.0.0.1:0", "invalid"),
        ("port 65536", base + "/A10.0.0.1:65536", "invalid"), ("no port", base + "/A10.0.0.1", "invalid"),
        ("three numbers", base + "/A10.0.1:80", "invalid"), ("IPv6 cut", base + "/B" + b32(v6[:-1]), "invalid"),
        ("name of 25 bytes", base + "/N" + b32(b"a" * 25), "invalid"), ("empty name", base + "/N", "invalid"),
        ("two names", base + "/N" + b32(b"a") + "/N" + b32(b"b"), "invalid"),
        ("life over 600", base + "/T601", "invalid"), ("life 0", base + "/T0", "expired"),
        ("must be understood", base + "/X1", "version"), ("over 220 characters", base + "/Q" + "A" * 140, "invalid"),
        ("space inside", base[:30] + " " + base[30:], "invalid"), ("not ASCII", base + "/QÄ", "invalid"),
        ("NUL", base + "\0", "invalid"), ("a port cut short", checked("/A10.0.0.1:4010")[:-1], "invalid"),
        ("address cut off", checked("/A10.0.0.1:4010")[:-15], "invalid"),
        ("another port", checked("/A10.0.0.1:4010").replace("4010", "4011"), "invalid"),
        ("another secret", checked("").replace("AAAQEAYE", "AAAQEAYF"), "invalid"),
        ("check cut short", checked("")[:-1], "invalid"), ("empty check", base + "/C", "invalid"),
        ("two checks", checked("") + checked("")[-6:], "invalid"),
    ]
    return {"valid": valid, "invalid": [{"name": n, "text": t, "error": e} for n, t, e in invalid]}


FILES = {
    "frames.json": frames, "media-prefix.json": media_prefixes, "messages.json": messages,
    "broken-messages.json": broken_messages, "pairing.json": pairing, "primitives.json": primitives,
    "qr-codes.json": codes, "datagram.json": datagram,
}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: make_vectors.py [--check]")
    for name, make in FILES.items():
        content = json.dumps(make(), indent=1, ensure_ascii=False) + "\n"
        path = FOLDER / name
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                sys.exit(f"{name} is not what make_vectors.py computes: run it and commit the result")
        else:
            path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
