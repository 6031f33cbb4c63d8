import GantryCore
import GantryTrust

/// Certificates of all kinds, made by the openssl command line in a scratch folder.
enum Certificates {
    enum Kind: String, CaseIterable, Sendable {
        case ed25519, p256, expired, future
        case rsa, p384, chain, large, none
    }

    /// The options of `s_client` and `s_server` that make them show it.
    static func options(_ kind: Kind, in scratch: ScratchFolder) -> [String] {
        switch kind {
        case .ed25519, .none, .chain, .large: make("-newkey ed25519", large: kind == .large, scratch)
        case .p256: make("-newkey ec -pkeyopt ec_paramgen_curve:P-256", scratch)
        case .p384: make("-newkey ec -pkeyopt ec_paramgen_curve:P-384", scratch)
        case .rsa: make("-newkey rsa:2048", scratch)
        case .expired: makeDated("20000101000000Z", "20010101000000Z", scratch)
        case .future: makeDated("20400101000000Z", "20410101000000Z", scratch)
        }
        let options = ["-cert", scratch.file("cert.pem"), "-key", scratch.file("key.pem")]
        switch kind {
        case .none: return []
        case .chain:
            Tool.openssl(
                "req -x509 -newkey ed25519 -nodes -keyout @other.key -out @other.pem -subj /CN=other", in: scratch)
            return options + ["-cert_chain", scratch.file("other.pem")]
        default: return options
        }
    }

    /// SHA-256 over the public key, as openssl sees both.
    static func keyID(in scratch: ScratchFolder) -> KeyID? {
        Tool.openssl("pkey -in @key.pem -pubout -outform DER -out @public.der", in: scratch)
        return KeyID(bytes: hex(String(Tool.openssl("dgst -sha256 -r @public.der", in: scratch).output.prefix(64))))
    }

    private static func make(_ key: String, large: Bool = false, _ scratch: ScratchFolder) {
        let comment = large ? " -addext nsComment=" + String(repeating: "A", count: 65536) : ""
        Tool.openssl(
            "req -x509 \(key) -nodes -keyout @key.pem -out @cert.pem -subj /CN=test -days 30\(comment)", in: scratch)
    }

    private static func makeDated(_ start: String, _ end: String, _ scratch: ScratchFolder) {
        let configuration = """
            [ca]
            default_ca = d
            [d]
            database = \(scratch.path)/index.txt
            new_certs_dir = \(scratch.path)
            default_md = default
            policy = p
            rand_serial = yes
            [p]
            commonName = optional
            """
        scratch.write("ca.cnf", Array(configuration.utf8))
        scratch.write("index.txt", [])
        Tool.openssl("req -new -newkey ed25519 -nodes -keyout @key.pem -out @request.pem -subj /CN=test", in: scratch)
        Tool.openssl(
            "ca -config @ca.cnf -selfsign -batch -notext -in @request.pem -keyfile @key.pem -out @cert.pem "
                + "-startdate \(start) -enddate \(end)", in: scratch)
    }
}
