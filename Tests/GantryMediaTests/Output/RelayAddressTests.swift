import GantryCore
import GantryMedia
import Testing

@Suite struct RelayAddressTests {
    @Test(
        "What is shown holds nothing secret",
        arguments: [
            ("rtmp://live.example/app/key", "rtmp://live.example/app/…", true),
            ("rtmps://live.example:443/app/key/more?x=y", "rtmps://live.example:443/app/…", true),
            ("rtmp://me:secret@h/app/key", "rtmp://h/app/…", true),
            ("RTMP://h/app", "RTMP://h/app", false),
            ("rtsp://h:8554/stage", "rtsp://h:8554/stage", false),
            ("rtsp://me:se?cr@et@h/stage", "rtsp://h/stage", true),
            ("srt://h:9000?streamid=a&passphrase=secret12345", "srt://h:9000", true),
            ("srt://[fe80::1]:9000", "srt://[fe80::1]:9000", false),
        ])
    func shown(_ url: String, _ shown: String, _ hasSecret: Bool) throws {
        let address = try RelayAddress(url)
        #expect(address.shown == shown)
        #expect(address.hasSecret == hasSecret)
    }

    @Test(arguments: [
        "", "x", "http://h/x", "file:///etc/passwd", "rtmp:", "rtmp://", "rtmp://h/a\0b", "-", "srt:/h",
    ])
    func refused(_ url: String) {
        do throws(GantryError) {
            _ = try RelayAddress(url)
            Issue.record("taken")
        } catch {
            #expect(error.code == .invalidArgument)
        }
    }

    @Test func aSecretInAURLOfAnotherSchemeIsNotTold() {
        do throws(GantryError) {
            _ = try RelayAddress("http://me:secret@h/x")
            Issue.record("taken")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }
}
