import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// Other writers, readers that hold on, and devices that are not there.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct VirtualCameraFaultTests {
    private typealias Devices = VirtualCameraTests

    private static func failure(_ device: String?) async throws -> GantryError? {
        let wish = try Devices.wish(device)
        return try await onThread {
            do throws(GantryError) {
                let camera = try VirtualCamera(wish)
                camera.close()
                return nil
            } catch { return error }
        }
    }

    /// ffmpeg as a writer that is in our way.
    private static func writer(_ device: String) async throws -> ToolRun {
        let run = try ToolRun([
            "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-re", "-f", "lavfi", "-i",
            "color=c=red:s=320x180:r=10", "-pix_fmt", "yuyv422", "-f", "v4l2", device,
        ])
        let isThere = try await run.state.wait { state in
            state.outputEnded
                || state.lines.contains { $0.hasPrefix("frame=") && (Int($0.dropFirst(6)) ?? 0) > 1 }
        }
        #expect(isThere && !run.state.value.outputEnded, "\(run.state.value.errorText)")
        return run
    }

    @Test(.timeLimit(.minutes(5)), arguments: Devices.devices) func anotherWriterIsNamed(device: String) async throws {
        let writer = try await Self.writer(device)
        let error = try await Self.failure(device)
        #expect(error?.code == .outputBusy)
        #expect(error?.message.contains("ffmpeg (process \(writer.processID))") == true, "\(String(describing: error))")
        // Without a name the other one is taken.
        let wish = try Devices.wish(nil)
        let path = try await onThread { () throws -> String in
            let camera = try VirtualCamera(wish)
            defer { camera.close() }
            return camera.path
        }
        #expect(path == Devices.devices.first { $0 != device })
        writer.signal(SIGKILL)
        _ = try await writer.end()
        // With exclusive_caps the device is now neither camera nor output, as ffmpeg has left it.
        #expect(try await Self.failure(device) == nil)
        #expect(try await Self.failure(device) == nil)
    }

    @Test(.timeLimit(.minutes(5))) func allOfThemBusyIsSaid() async throws {
        let first = try await Self.writer(Devices.devices[0])
        let second = try await Self.writer(Devices.devices[1])
        let error = try await Self.failure(nil)
        #expect(error?.code == .outputBusy)
        for device in Devices.devices { #expect(error?.message.contains(device) == true) }
        for writer in [first, second] {
            writer.signal(SIGKILL)
            _ = try await writer.end()
        }
    }

    /// A reader that holds on sees the pictures of the next writer.
    @Test(.timeLimit(.minutes(5)), arguments: Devices.devices)
    func aReaderOutlivesWriters(device: String) async throws {
        let reader: ToolRun
        do {
            let camera = try Devices.camera(device)
            reader = try ToolRun(Devices.reader("v4l2-ctl", device, count: 1_000_000))
            #expect(try await reader.state.wait { $0.output.count > 2 * Devices.width * Devices.height * 2 })
            camera.close()
        }
        // Another size is wanted: the reader's stays.
        let camera = try VirtualCamera(try Devices.wish(device, 640, 480))
        #expect(camera.layout.width == Devices.width && camera.layout.height == Devices.height)
        let picture = try Devices.picture(luma: 222)
        let stream = Devices.Stream(camera, picture)
        let size = Devices.width * Devices.height * 2
        #expect(
            try await reader.state.wait { state in
                let whole = state.output.count / size * size
                return whole > 0 && state.output[whole - size] == 222
            })
        stream.stop()
        camera.close()
        reader.signal(SIGKILL)
        _ = try await reader.end()
        // Nobody holds it now.
        let again = try VirtualCamera(try Devices.wish(device, 640, 480))
        #expect(again.layout.width == 640)
        again.close()
    }

    /// A format that is kept by request gives way to ours, and the request stays.
    @Test(.timeLimit(.minutes(5))) func aKeptFormatIsReplaced() async throws {
        let device = Devices.devices[1]
        _ = try await Oracle.check(["v4l2-ctl", "-d", device, "-c", "keep_format=1"])
        for (width, height) in [(320, 180), (640, 480)] {
            let camera = try VirtualCamera(try Devices.wish(device, width, height))
            #expect(camera.layout.width == width)
            camera.close()
        }
        let kept = try await Oracle.check(["v4l2-ctl", "-d", device, "-C", "keep_format"]).output
        #expect(String(decoding: kept, as: UTF8.self).contains("keep_format: 1"))
        _ = try await Oracle.check(["v4l2-ctl", "-d", device, "-c", "keep_format=0"])
    }

    @Test(.timeLimit(.minutes(5))) func otherDevicesAreRefused() async throws {
        let real = try await Self.failure("/dev/video0")
        #expect(real?.code == .outputNotFound)
        #expect(real?.message.contains("vivid") == true && real?.message.contains("/dev/video10") == true)
        let missing = try await Self.failure("/dev/video77")
        #expect(missing?.code == .outputNotFound)
        #expect(missing?.message.contains("There are: /dev/video10, /dev/video11") == true)
        let file = try await Self.failure("/etc/passwd")
        #expect(file?.code == .outputNotFound)
        let null = try await Self.failure("/dev/null")
        #expect(null?.code == .outputNotFound)
    }

    @Test(.timeLimit(.minutes(5))) func withoutTheModuleTheCommandIsSaid() async throws {
        _ = try await Oracle.check(["modprobe", "-r", "v4l2loopback"])
        for device in [nil, "/dev/video10"] {
            let error = try await Self.failure(device)
            #expect(error?.code == .outputNotFound)
            #expect(error?.message.contains("sudo modprobe v4l2loopback exclusive_caps=1") == true)
            #expect(error?.message.contains("v4l2loopback-dkms") == true)
        }
        // Ours is preferred, wherever it stands.
        _ = try await Oracle.check([
            "modprobe", "v4l2loopback", "devices=2", "video_nr=10,11", "card_label=Other,Gantry", "exclusive_caps=1,1",
        ])
        _ = try await Oracle.check(["udevadm", "settle"])
        let camera = try Devices.camera(nil)
        #expect(camera.path == "/dev/video11")
        camera.close()
        _ = try await Oracle.check(["modprobe", "-r", "v4l2loopback"])
        _ = try await Oracle.check([
            "modprobe", "v4l2loopback", "devices=2", "video_nr=10,11", "card_label=Loopback10,Loopback11",
            "exclusive_caps=1,0",
        ])
    }

    @Test(.timeLimit(.minutes(5))) func whoMayNotIsToldTheGroup() async throws {
        _ = try await Oracle.check(["chmod", "600", "/dev/video10"])
        let run = try await ToolRun.run([
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", ToolRun.folder + "/gantry-studio",
            "--state-dir", "/tmp/gantry-nobody-\(UUID().uuidString)", "receive", "--pair", "--text",
            "--vcam=/dev/video10",
        ])
        #expect(run.status == 4, "\(run.errorText)")
        #expect(run.errorText.contains("usermod -aG video"), "\(run.errorText)")
        _ = try await Oracle.check(["chmod", "660", "/dev/video10"])
    }
}
