import GantryCore
import GantryTransport
import Testing

@Suite struct EndpointTests {
    @Test(
        arguments: [
            ("studio.local:7787", "studio.local", 7787), ("192.168.1.5:1", "192.168.1.5", 1),
            ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535), ("[::1]:80", "::1", 80), ("a:007787", "a", 7787),
            ("küche:80", "küche", 80),
        ] as [(String, String, UInt16)])
    func whatIsAnEndpoint(text: String, host: String, port: UInt16) throws {
        let endpoint = try #require(Endpoint(text: text))
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect(Endpoint(text: endpoint.description) == endpoint)
    }

    @Test(arguments: [
        "", ":", "camera", "camera:", ":7787", "camera:0", "camera:65536", "camera:99999999999999999999", "camera:-1",
        "camera:+1", "camera: 1", "camera:1 ", "camera:١", "::1:7787", "fe80::1", "[::1]", "[::1]7787", "[::1]:",
        "[]:7787", "[::1:7787", "a:b:1", "[host]:1", "a b:1", "a/b:1",
        "host:\u{1B}", String(repeating: "a", count: 256) + ":1",
    ])
    func whatIsNone(text: String) { #expect(Endpoint(text: text) == nil) }

    @Test func anAddressWithoutPortTakesTheDefault() {
        #expect(Endpoint(text: "studio", defaultPort: 5600) == Endpoint(host: "studio", port: 5600))
        #expect(Endpoint(text: "[::1]", defaultPort: 5600) == Endpoint(host: "::1", port: 5600))
        #expect(Endpoint(text: "::1", defaultPort: 5600) == nil)
    }

    @Test func theDefaultPortIsThatOfTheReadme() {
        #expect(Endpoint(host: "a").description == "a:7787")
        #expect(Endpoint(host: "::1", port: 5).description == "[::1]:5")
    }

    @Test func addressesInFourParts() {
        #expect(NetworkInterfaces.parseIPv4("192.168.1.5") == [192, 168, 1, 5])
        for text in ["", "192.168.1", "192.168.1.256", "::1", "localhost", "1.2.3.4 ", "1.2.3.4.5"] {
            #expect(NetworkInterfaces.parseIPv4(text) == nil)
        }
    }
}
