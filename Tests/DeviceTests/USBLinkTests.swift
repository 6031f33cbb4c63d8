import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Glibc
import Testing

/// FunctionFS and libusb on one kernel, joined by dummy_hcd: scripts/vm --tests -- --filter USBLinkTests. Other speeds:
/// scripts/usb-speeds.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs USB controllers that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct USBLinkTests {
    /// The packet size that the loaded driver's speed gives.
    private static var packetSize: Int {
        TestGadget.isSet("is_super_speed") ? 1024 : TestGadget.isSet("is_high_speed") ? 512 : 64
    }

    private func withProducer(
        controller: String = TestGadget.controllers[0],
        _ body: @escaping @Sendable (TestGadget, EchoingProducer) throws -> Void
    ) async throws {
        try await onThread { () throws in
            let gadget = try TestGadget(controller: controller)
            defer { gadget.remove() }
            let producer = try EchoingProducer(gadget)
            defer { producer.function.stop() }
            try gadget.bind()
            try body(gadget, producer)
        }
    }

    /// Sends and reads back `total` bytes at once. The number that came back right.
    private static func exchange(_ link: BulkLink, _ total: Int, seed: UInt8 = 1, piece: Int = 20_000) -> Int {
        LinkTraffic.run([LinkFlow(from: link, to: link, total: total, seed: seed) { piece }])[0]
    }

    @Test(.timeLimit(.minutes(5))) func bytesGoBothWaysExactly() async throws {
        try await withProducer { gadget, producer in
            let device = try gadget.found()
            #expect(device.speed == [64: 12, 512: 480, 1024: 5000][Self.packetSize])
            let link = try USBHost.open(device)
            #expect(link.peerAddress == "usb:\(gadget.serial)")
            for (number, piece) in [1, Self.packetSize, 4 * Self.packetSize, 16384, 20_000, 32768].enumerated() {
                let total = min(400_000, piece * 50)
                #expect(Self.exchange(link, total, seed: UInt8(number), piece: piece) == total)
            }
            // Alone: none may wait for the next.
            for size in [1, Self.packetSize, 16384, 32768, 20_000] {
                #expect(LinkTraffic.write(link, total: size, seed: 9) { size } == size)
                #expect(LinkTraffic.read(link, total: size, seed: 9) == size)
            }
            link.close()
            #expect(producer.seen.waitBlocking { $0.ended == 1 })
        }
    }

    @Test(.timeLimit(.minutes(5))) func carriersRunOverIt() async throws {
        let links = Watched<[BulkLink]>([])
        try await onThread { () throws in
            let gadget = try TestGadget()
            defer { gadget.remove() }
            let function = try FunctionFSFunction(mount: gadget.mount) { link in links.change { $0.append(link) } }
            defer { function.stop() }
            try function.start()
            try gadget.bind()
            let link = try USBHost.open(try gadget.found())
            #expect(links.waitBlocking { !$0.isEmpty })
            let (studio, producer) = (CarrierNotes(), CarrierNotes())
            let server = try CarrierNotes.carrier(.server, links.value[0])
            let client = try CarrierNotes.carrier(.client, link)
            try server.start(handler: producer)
            try client.start(handler: studio)
            #expect(studio.state.waitBlocking { $0.isOpen } && producer.state.waitBlocking { $0.isOpen })
            for number in 0..<20 {
                let isSent = server.send(CarrierNotes.picture(20_000 + number), channel: 1)
                #expect(isSent)
                let hasCome = studio.state.waitBlocking { $0.messages > number || $0.isClosed }
                #expect(hasCome && !studio.state.value.isClosed)
            }
            client.close()
            #expect(studio.state.waitBlocking { $0.isClosed } && producer.state.waitBlocking { $0.isClosed })
            #expect(studio.state.value.error == nil && producer.state.value.error == nil)
            client.join()
            server.join()
        }
    }

    /// A studio that goes without a word leaves data in both directions; the next must not see it.
    @Test(.timeLimit(.minutes(5))) func aSecondStudioSeesNothingOfTheFirst() async throws {
        try await withProducer { gadget, producer in
            let device = try gadget.found()
            for round in 0..<3 {
                // Held: nothing of the first is read.
                let first = try ToolRun(["gantry-labprobe", "usb-host", gadget.serial])
                #expect(first.state.waitBlocking { $0.lines.contains("open") || $0.outputEnded })
                #expect(producer.seen.waitBlocking { $0.begun == 2 * round + 1 })
                usleep(100_000)
                first.signal(SIGKILL)
                #expect(first.state.waitBlocking { $0.status != nil })
                let second = try USBHost.open(device)
                #expect(Self.exchange(second, 50_000, seed: UInt8(round)) == 50_000)
                second.close()
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func itComesBackAfterEachUnplugging() async throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = Int(environment["GANTRY_USB_CYCLES"] ?? "") ?? 200
        let limit = MediaDuration.seconds(environment["GANTRY_USB_CYCLES"] == nil ? 20 : 3600)
        try await withProducer { gadget, producer in
            var address: UInt8?
            var before: Holdings?
            var slowest = MediaDuration.zero
            var done = 0
            let end = MonotonicClock.now() + limit
            while done < rounds, MonotonicClock.now() < end {
                let plugged = MonotonicClock.now()
                if done > 0 { try gadget.bind() }
                let device = try gadget.found(notAt: address)
                address = device.address
                let link = try USBHost.open(device)
                #expect(LinkTraffic.write(link, total: 100, seed: 3) { 100 } == 100)
                #expect(LinkTraffic.read(link, total: 100, seed: 3) == 100)
                if done > 0 { slowest = max(slowest, MonotonicClock.now() - plugged) }
                // Streaming when the cable goes: what nobody reads fills both directions.
                #expect(Self.exchange(link, 50_000, seed: 3) == 50_000)
                LinkTraffic.write(link, total: .max, seed: 3, limit: .milliseconds(50)) { 20_000 }
                try gadget.unbind()
                #expect(LinkTraffic.endsWithin(.seconds(10), link))
                done += 1
                let count = done
                #expect(producer.seen.waitBlocking { $0.ended == count })
                if done == 5 { before = .now() }
            }
            let held = try #require(before)
            let after = Holdings.now()
            print("USB: \(done) replugs, slowest \(slowest.microseconds / 1000) ms; before \(held); after \(after)")
            #expect(done >= min(rounds, 7))
            #expect(slowest < .seconds(2))
            #expect(after.descriptors <= held.descriptors + 2)
            #expect(after.threads <= held.threads + 2)
            #expect(after.kibibytes <= held.kibibytes + 16 * 1024)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aProducerThatDiesEndsTheLink() async throws {
        try await onThread { () throws in
            let gadget = try TestGadget()
            defer { gadget.remove() }
            var last: UInt8?
            for _ in 0..<2 {
                let producer = try ToolRun(["gantry-labprobe", "usb-device", gadget.mount])
                #expect(producer.state.waitBlocking { $0.lines.contains("ready") || $0.outputEnded })
                // Nothing binds it again by itself: the last death took it off the controller.
                try gadget.bind()
                let device = try gadget.found(notAt: last)
                last = device.address
                let link = try USBHost.open(device)
                #expect(Self.exchange(link, 50_000) == 50_000)
                producer.signal(SIGKILL)
                #expect(LinkTraffic.endsWithin(.seconds(20), link))
                #expect(producer.state.waitBlocking { $0.status != nil })
            }
        }
    }

    /// The kernel suspends an unused device; that is all dummy_hcd can, and at super speed it cannot do that (it takes
    /// USB_PORT_FEAT_LINK_STATE without doing anything: drivers/usb/gadget/udc/dummy_hcd.c).
    @Test(
        .timeLimit(.minutes(5)),
        .disabled(if: TestGadget.isSet("is_super_speed"), "dummy_hcd does not suspend at super speed"))
    func aSleepingHostEndsTheSession() async throws {
        try await withProducer { gadget, producer in
            let device = try gadget.found()
            let power = "/sys/bus/usb/devices/\(device.port)/power"
            let studio = try ToolRun(["gantry-labprobe", "usb-host", gadget.serial])
            #expect(studio.state.waitBlocking { $0.lines.contains("open") || $0.outputEnded })
            #expect(producer.seen.waitBlocking { $0.begun == 1 })
            studio.signal(SIGKILL)
            #expect(try TestGadget.shell("echo 0 >\(power)/autosuspend_delay_ms; echo auto >\(power)/control") == 0)
            #expect(producer.seen.waitBlocking { $0.states.contains(.suspended) })
            #expect(producer.seen.waitBlocking { $0.ended == 1 })
            // Opening wakes it.
            let link = try USBHost.open(device)
            #expect(Self.exchange(link, 50_000) == 50_000)
            #expect(producer.seen.value.states.last == .enabled)
            link.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func twoProducersOnTwoControllers() async throws {
        try await withProducer { one, _ in
            let two = try TestGadget(controller: TestGadget.controllers[1])
            defer { two.remove() }
            let other = try EchoingProducer(two)
            defer { other.function.stop() }
            try two.bind()
            let links = [try USBHost.open(try one.found()), try USBHost.open(try two.found())]
            let right = Watched([Int]())
            for (number, link) in links.enumerated() {
                Thread.detachNewThread {
                    let count = Self.exchange(link, 300_000, seed: UInt8(number))
                    right.change { $0.append(count) }
                }
            }
            #expect(right.waitBlocking { $0.count == 2 })
            #expect(right.value == [300_000, 300_000])
            for link in links { link.close() }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aSecondStudioIsToldThatTheDeviceIsBusy() async throws {
        try await withProducer { gadget, _ in
            let device = try gadget.found()
            let link = try USBHost.open(device)
            let error = #expect(throws: GantryError.self) { try USBHost.open(device) }
            #expect(error?.code == .usbBusy)
            #expect(error?.message.contains("fuser") == true)
            #expect(Self.exchange(link, 50_000) == 50_000)
            link.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aDeviceThatMayNotBeOpenedNamesTheRule() async throws {
        try await withProducer { gadget, _ in
            let device = try gadget.found()
            #expect(try TestGadget.shell("chmod 0600 \(device.node)") == 0)
            // The list needs no permission; to open does.
            let folder = ToolRun.folder
            let run = try ToolRun([
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", folder + "/gantry-labprobe",
                "usb-host",
                gadget.serial,
            ])
            #expect(run.state.waitBlocking { $0.status != nil && $0.errorsEnded })
            #expect(run.state.value.status == 1)
            #expect(run.state.value.errorText.contains("/etc/udev/rules.d/70-gantry.rules"))
            #expect(run.state.value.errorText.contains("sudo scripts/install --udev-only"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aMountOfAnotherUserNamesTheOwner() async throws {
        try await onThread { () throws in
            let gadget = try TestGadget()
            defer { gadget.remove() }
            let run = try ToolRun([
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                ToolRun.folder + "/gantry-labprobe", "usb-device", gadget.mount,
            ])
            #expect(run.state.waitBlocking { $0.status != nil && $0.errorsEnded })
            #expect(run.state.value.status == 1)
            #expect(run.state.value.errorText.contains("GANTRY_USB_OWNER"), "\(run.state.value.errorText)")
        }
    }

    /// Through usbdevfs itself: requests of nonsense, data without a start, and halts.
    @Test(.timeLimit(.minutes(5))) func aHostThatSendsGarbageChangesNothing() async throws {
        try await withProducer { gadget, producer in
            let device = try gadget.found()
            let run = try ToolRun(["python3", "-c", Self.garbage, device.node, "\(device.interface)"])
            #expect(run.state.waitBlocking(.seconds(200)) { $0.status != nil && $0.errorsEnded && $0.outputEnded })
            #expect(run.state.value.status == 0, "\(run.state.value.errorText)")
            #expect(run.state.value.lines.last?.hasPrefix("done") == true)
            // None of it was a session.
            #expect(producer.seen.value.begun == 0)
            let link = try USBHost.open(device)
            #expect(Self.exchange(link, 50_000) == 50_000)
            link.close()
        }
    }

    private static let garbage = """
        import ctypes, fcntl, os, random, struct, sys
        CONTROL, BULK, CLAIM, CLEAR = 0xC0185500, 0xC0185502, 0x8004550F, 0x80045515
        file = os.open(sys.argv[1], os.O_RDWR)
        number = int(sys.argv[2])
        fcntl.ioctl(file, CLAIM, struct.pack("I", number))
        dice = random.Random(1)
        refused = 0
        def control(kind, request, value, index, data):
            global refused
            buffer = ctypes.create_string_buffer(data, max(len(data), 1))
            try:
                fcntl.ioctl(file, CONTROL, struct.pack(
                    "BBHHHIQ", kind, request, value, index, len(data), 300, ctypes.addressof(buffer)))
            except OSError:
                refused += 1
        def bulk(endpoint, data):
            buffer = ctypes.create_string_buffer(data, len(data))
            try:
                fcntl.ioctl(file, BULK, struct.pack("III4xQ", endpoint, len(data), 100, ctypes.addressof(buffer)))
            except OSError:
                pass
        for _ in range(70):
            size = dice.choice([0, 1, 7, 8, 15, 16, 17, 64, 500, 4096])
            data = bytes(dice.randrange(256) for _ in range(size))
            kind = dice.choice([0x41, 0x41, 0xC1, 0x21, 0xA1])
            request = dice.choice([0, 2, 2, 3, 77, 255])
            control(kind, request, dice.choice([0, 0, 1, 65535]), number, data)
        # Data without a start, then a start without a preface, and garbage behind it.
        for size in (1, 63, 512, 16384):
            bulk(2, bytes(size))
        for _ in range(3):
            control(0x41, 1, 0, number, bytes(dice.randrange(256) for _ in range(16)))
            for size in (25, 16384, 16384, 1, 4000):
                bulk(2, bytes(dice.randrange(256) for _ in range(size)))
        # A start of the wrong size, and ends of sessions that never were.
        control(0x41, 1, 0, number, bytes(15))
        control(0x41, 2, 0, number, b"\\xff" * 8)
        fcntl.ioctl(file, CLEAR, struct.pack("I", 0x81))
        fcntl.ioctl(file, CLEAR, struct.pack("I", 2))
        print("done", refused)
        sys.exit(0 if refused >= 40 else 1)
        """

    /// The triple and the name are ours, and nothing else: a gadget of somebody else's that looks like one.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["one endpoint", "interrupt", "same direction", "no answer", "other name", "only the ids"])
    func aForeignGadgetIsRefused(_ kind: String) async throws {
        try await onThread { () throws in
            let gadget = try TestGadget()
            defer { gadget.remove() }
            let foreign = try ForeignFunction(gadget.mount, kind)
            defer { foreign.stop() }
            try gadget.bind()
            if let reason = ["other name": "gantry/9", "only the ids": "1209:0001"][kind] {
                let watched = Watched(USBScan())
                let watch = try USBWatch { scan in watched.change { $0 = scan } }
                try watch.start()
                #expect(watched.waitBlocking { $0.refused.first?.reason.contains(reason) == true })
                #expect(watched.value.devices.isEmpty)
                return watch.stop()
            }
            let error = #expect(throws: GantryError.self) { try USBHost.open(try gadget.found()) }
            #expect(error?.code == .usbNotGantry, "\(String(describing: error))")
        }
    }
}
