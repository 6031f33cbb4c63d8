/// mDNS answers that no Avahi would send, made by hand: names with NUL, invalid UTF-8 and control characters, records
/// cut short, absurd lengths. The last one is in good order.
enum HostileAnswers {
    /// Sends them from host 1 of a lab, again every half second.
    static let program = #"""
        import socket, struct, time
        def label(b): return bytes([len(b)]) + b
        TYPE = label(b"_camo") + label(b"_tcp") + label(b"local") + b"\0"
        HOST = label(b"strange") + label(b"local") + b"\0"
        def record(name, kind, data, ttl=120, unique=True):
            return name + struct.pack("!HHIH", kind, 1 | (0x8000 if unique else 0), ttl, len(data)) + data
        def answer(instance, text, port=7787, address=bytes([10, 77, 0, 1])):
            name = label(instance) + TYPE
            records = [record(TYPE, 12, name, unique=False), record(name, 33, struct.pack("!HHH", 0, 0, port) + HOST),
                       record(name, 16, text), record(HOST, 1, address)]
            return struct.pack("!HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)
        def text(*strings): return b"".join(label(s) for s in strings)
        packets = [
            answer(b"nul\0inside", text(b"a=1")), answer(b"\xff\xfe\xc0\x80", text(b"a=1")),
            answer(b"\x1b[2J\x07\n\r", text(b"a=\x1b[31m", b"b=\xff\xfe", b"c=a\0b", b"\xff=1", b"=1", b"")),
            answer(b"many", text(*[b"k%d=%d" % (i, i) for i in range(200)])),
            answer(b"full", text(*[bytes([65 + i]) * 5 + b"=" + b"v" * 249 for i in range(4)])),
            answer(b"zero", text(b"a=1"), port=0), answer(b"dots.and\\slashes", text(b"a=1")),
            answer(b"cut", text(b"a=1"))[:-3], answer(b"x" * 63, b"\xff" + b"a" * 10),
            b"\0" * 11, b"\xff" * 600,
            answer(b"plain", text(b"ok=1")),
        ]
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", 5353))
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        for _ in range(60):
            for p in packets: s.sendto(p, ("224.0.0.251", 5353))
            time.sleep(0.5)
        """#
}
