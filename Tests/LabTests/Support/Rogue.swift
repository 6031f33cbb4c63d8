import Foundation
import GantryTestSupport

/// A host of a lab that means ill: keys of its own, adverts of whatever it likes, and programs that speak to ours.
struct Rogue: Sendable {
    let lab: Lab
    let host: Int
    var key: String { lab.folder(host) + "/rogue.key" }
    var certificate: String { lab.folder(host) + "/rogue.crt" }

    /// Makes its key, as `openssl` makes them.
    static func make(_ lab: Lab, _ host: Int) async throws -> Rogue {
        let rogue = Rogue(lab: lab, host: host)
        _ = try await Oracle.check([
            "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=rogue", "-keyout", rogue.key,
            "-out", rogue.certificate,
        ])
        return rogue
    }

    /// What its Avahi daemon announces from now on, where it runs already.
    func advertise(_ type: String, _ name: String, port: Int, _ text: [String]) throws {
        let records = text.map { "<txt-record>\($0)</txt-record>" }.joined()
        try """
        <?xml version="1.0"?><!DOCTYPE service-group SYSTEM "avahi-service.dtd"><service-group>
        <name>\(name)</name><service><type>\(type)</type><port>\(port)</port>\(records)</service></service-group>
        """.write(
            toFile: lab.folder(host) + "/services/\(name)-\(port).service", atomically: true, encoding: .utf8)
    }

    /// Starts one of the programs below.
    func start(_ program: String, _ arguments: [String]) throws -> ToolRun {
        try lab.start(host, ["python3", "-u", "-c", program, certificate, key] + arguments)
    }

    /// Listens on each PORT=BEHAVIOUR and says what came: stall, garbage, tls (another key, then silence), wrong (another
    /// key, then a message of no protocol).
    static let listener = #"""
        import os, socket, ssl, sys, threading, time
        certificate, key = sys.argv[1:3]
        # Each line at one blow: there are many threads.
        def say(*words): os.write(1, (" ".join(map(str, words)) + "\n").encode())
        def serve(port, behaviour):
            s = socket.socket(socket.AF_INET6)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            s.bind(("::", port))
            s.listen(50)
            say("listening", port)
            while True:
                c, _ = s.accept()
                say("accepted", behaviour)
                threading.Thread(target=meet, args=(c, behaviour), daemon=True).start()
        def meet(c, behaviour):
            try:
                if behaviour == "garbage":
                    c.sendall(b"\x16\x03\x01\xff\xff" + b"garbage " * 4000)
                elif behaviour in ("tls", "wrong"):
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(certificate, key)
                    context.set_alpn_protocols(["gantry-pair/1"])
                    c = context.wrap_socket(c, server_side=True)
                    if behaviour == "wrong": c.sendall(b"\xff" * 64)
                while c.recv(4096): pass
            except OSError: pass
            if behaviour == "stall": time.sleep(60)
        for word in sys.argv[3:]:
            port, behaviour = word.split("=")
            threading.Thread(target=serve, args=(int(port), behaviour), daemon=True).start()
        time.sleep(170)
        """#

    /// A man in the middle: takes a connection on PORT, makes one to HOST PORT, plays TLS with a key of its own on both,
    /// and hands on what it can read. "server" or "client" is what it is in TLS towards whoever connects to it.
    static let proxy = #"""
        import select, socket, ssl, sys, threading
        certificate, key, port, host, target, side = sys.argv[1:7]
        def secure(c, server):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            context.load_cert_chain(certificate, key)
            context.set_alpn_protocols(["gantry-pair/1"])
            return context.wrap_socket(c, server_side=server)
        def relay(name, a, b):
            try:
                while True:
                    data = a.recv(4096)
                    if not data: break
                    print("read", len(data), "from", name, flush=True)
                    b.sendall(data)
            except OSError as error: print("lost", name, error, flush=True)
            for c in (a, b):
                try: c.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        def meet(c):
            try:
                d = socket.create_connection((host, int(target)))
                c = secure(c, side == "server")
                print("secured caller", flush=True)
                d = secure(d, side == "client")
                print("secured callee", flush=True)
                threading.Thread(target=relay, args=("caller", c, d), daemon=True).start()
                relay("callee", d, c)
            except OSError as error: print("failed", error, flush=True)
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", int(port)))
        s.listen(50)
        print("listening", flush=True)
        while True:
            c, _ = s.accept()
            print("accepted", flush=True)
            threading.Thread(target=meet, args=(c,), daemon=True).start()
        """#

    /// Claims the first names of `_camopairing._tcp` that somebody wants to take, as many as it is told.
    static let nameThief = #"""
        import socket, struct, sys
        TYPE = b"\x0c_camopairing\x04_tcp\x05local\0"
        def label(b): return bytes([len(b)]) + b
        def instance(packet):
            at = packet.find(TYPE)
            if at < 0: return None
            for n in range(1, 64):
                if at - n - 1 >= 12 and packet[at - n - 1] == n: return packet[at - n:at]
        limit = int(sys.argv[3])
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", 5353))
        own = socket.inet_aton(sys.argv[4])
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.251") + own)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
        print("listening", flush=True)
        taken = []
        while True:
            packet, _ = s.recvfrom(9000)
            name = instance(packet)
            if name is None or len(taken) >= limit and name not in taken: continue
            if name not in taken:
                taken.append(name)
                print("taken", name.decode(), flush=True)
            data = struct.pack("!HHH", 0, 0, 9) + label(b"thief") + label(b"local") + b"\0"
            answer = struct.pack("!HHHHHH", 0, 0x8400, 0, 1, 0, 0) + label(name) + TYPE \
                + struct.pack("!HHIH", 33, 0x8001, 120, len(data)) + data
            s.sendto(answer, ("224.0.0.251", 5353))
        """#
}
