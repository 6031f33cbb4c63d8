import GantryCore
import GantryPlatform
import GantryTrust
import Testing

/// Against the openssl command line on a loopback socket.
@Suite(.timeLimit(.minutes(2))) struct TLSOracleTests {
    let scratch = ScratchFolder()
    let identity: Identity

    init() throws { identity = try Identity() }

    private func clientOptions(_ kind: Certificates.Kind) -> [String] {
        ["-tls1_3", "-alpn", "gantry/1"] + Certificates.options(kind, in: scratch)
    }

    @Test(arguments: [Certificates.Kind.ed25519, .p256, .expired, .future])
    func aServerTakesEachGoodKey(kind: Certificates.Kind) async {
        let outcome = await Loopback.serve(identity, to: clientOptions(kind), in: scratch)
        #expect(outcome.error == nil, "\(outcome.output)")
        #expect(outcome.peer != nil)
        #expect(outcome.peer == Certificates.keyID(in: scratch))
        #expect(outcome.received == Array("hello from openssl\n".utf8))
        #expect(outcome.output.contains("hello from gantry"))
        #expect(outcome.output.contains("TLSv1.3"))
        #expect(outcome.output.contains("ALPN protocol: gantry/1"))
        #expect(outcome.output.contains("Early data was not sent"))
        #expect(!outcome.output.contains("Post-Handshake New Session Ticket"))
    }

    @Test(arguments: [Certificates.Kind.rsa, .p384, .chain, .large, .none])
    func aServerRefusesTheRest(kind: Certificates.Kind) async {
        let outcome = await Loopback.serve(identity, to: clientOptions(kind), in: scratch)
        #expect(outcome.error != nil)
        #expect([.tls, .protocolError].contains(outcome.error?.code))
        #expect(outcome.peer == nil)
        #expect(!outcome.output.contains("hello from gantry"))
        // What openssl still writes when we have closed may cost it our alert (EPIPE, or a reset).
        let isCut = kind == .large && outcome.output.contains("errno")
        #expect(outcome.output.contains("alert") || isCut, "\(outcome.output)")
    }

    @Test(arguments: [Certificates.Kind.ed25519, .p256, .expired, .future])
    func aClientTakesEachGoodKey(kind: Certificates.Kind) async {
        let outcome = await Loopback.dial(identity, server: clientOptions(kind) + ["-Verify", "1"], in: scratch)
        #expect(outcome.error == nil)
        #expect(outcome.peer != nil)
        #expect(outcome.peer == Certificates.keyID(in: scratch))
        #expect(outcome.received == Array("olleh\n".utf8))
    }

    @Test(arguments: [Certificates.Kind.rsa, .p384, .chain, .large])
    func aClientRefusesTheRest(kind: Certificates.Kind) async {
        let outcome = await Loopback.dial(identity, server: clientOptions(kind) + ["-Verify", "1"], in: scratch)
        #expect(outcome.error != nil)
        #expect([.tls, .protocolError].contains(outcome.error?.code))
        #expect(outcome.peer == nil)
        #expect(outcome.received.isEmpty)
    }

    @Test func aServerRefusesOlderTLS() async {
        let options = ["-tls1_2", "-alpn", "gantry/1"] + Certificates.options(.ed25519, in: scratch)
        let outcome = await Loopback.serve(identity, to: options, in: scratch)
        #expect(outcome.error?.code == .protocolError)
        #expect(outcome.peer == nil)
    }

    @Test func aClientRefusesOlderTLS() async {
        let options = ["-tls1_2", "-alpn", "gantry/1"] + Certificates.options(.ed25519, in: scratch)
        let outcome = await Loopback.dial(identity, server: options, in: scratch)
        #expect(outcome.error?.code == .protocolError)
        #expect(outcome.peer == nil)
    }

    @Test(arguments: [["-alpn", "gantry/2"], ["-alpn", "h2,http/1.1"], []])
    func aServerRefusesAnotherProtocol(protocols: [String]) async {
        let options = ["-tls1_3"] + protocols + Certificates.options(.ed25519, in: scratch)
        let outcome = await Loopback.serve(identity, to: options, in: scratch)
        #expect(outcome.error?.code == .versionMismatch)
        #expect(outcome.output.contains("no application protocol"), "\(outcome.output)")
    }

    /// `-alpn` left out: the server ignores what the client asks for.
    @Test(arguments: [["-alpn", "gantry/2"], []])
    func aClientRefusesAnotherProtocol(protocols: [String]) async {
        let options = ["-tls1_3", "-Verify", "1"] + protocols + Certificates.options(.ed25519, in: scratch)
        let outcome = await Loopback.dial(identity, server: options, in: scratch)
        #expect(outcome.error?.code == .versionMismatch)
        #expect(outcome.peer == nil)
    }

    @Test func oneOfSeveralProtocolsServes() async {
        let options = ["-tls1_3", "-alpn", "gantry/9,gantry/1"] + Certificates.options(.ed25519, in: scratch)
        let outcome = await Loopback.serve(identity, to: options, in: scratch)
        #expect(outcome.error == nil)
        #expect(outcome.received == Array("hello from openssl\n".utf8))
    }

    /// Each is a key to openssl; only the two kinds in their one form are keys to us.
    @Test func publicKeysOfOtherKinds() {
        let kinds: [(String, Bool)] = [
            ("-algorithm ed25519", true), ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", true),
            ("-algorithm ed448", false), ("-algorithm x25519", false), ("-algorithm RSA", false),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", false),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", false),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit", false),
        ]
        for (options, isAccepted) in kinds {
            Tool.openssl("genpkey \(options) -out @kind.pem", in: scratch)
            Tool.openssl("pkey -in @kind.pem -pubout -outform DER -out @kind.der", in: scratch)
            let info = ScratchFolder.contents(scratch.file("kind.der"))
            #expect(!info.isEmpty)
            #expect(PublicKeyInfo.isAccepted(info) == isAccepted, "\(options)")
            #expect(!PublicKeyInfo.isAccepted(info + [0]))
            #expect(!PublicKeyInfo.isAccepted(info.dropLast()))
        }
        Tool.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out @kind.pem", in: scratch)
        Tool.openssl("ec -in @kind.pem -pubout -conv_form compressed -outform DER -out @kind.der", in: scratch)
        let compressed = ScratchFolder.contents(scratch.file("kind.der"))
        #expect(compressed.count == 59)
        #expect(!PublicKeyInfo.isAccepted(compressed))
    }
}
