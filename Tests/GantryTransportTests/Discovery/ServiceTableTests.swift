import GantryCore
import Testing

@testable import GantryTransport

@Suite struct ServiceTableTests {
    private func key(_ name: String, interface: Int32 = 2, networkProtocol: Int32 = 0) -> ServiceTable.Key {
        ServiceTable.Key(
            interface: interface, networkProtocol: networkProtocol, name: Array(name.utf8), domain: Array("local".utf8))
    }

    private func address(_ host: String, port: UInt16 = 7787) -> ServiceTable.Address {
        ServiceTable.Address(host: host, isLinkLocalIPv6: host.hasPrefix("fe80"), port: port)
    }

    @Test func answersOfOneNameAreOneService() {
        var table = ServiceTable()
        let found = [
            ("fe80::1%eth0", Int32(2), Int32(1)), ("fd00::1", 3, 1), ("192.168.1.2", 2, 0), ("10.0.0.1", 3, 0),
            ("10.0.0.1", 4, 0),
        ]
        for (host, interface, networkProtocol) in found {
            let key = key("Camera", interface: interface, networkProtocol: networkProtocol)
            #expect(table.add(key, name: "Camera") == .added)
            #expect(table.add(key, name: "Camera") == .known)
            table.resolve(key, address: address(host), text: ["from": host])
        }
        #expect(
            table.services(.producer) == [
                DiscoveredService(
                    type: .producer, name: "Camera",
                    endpoints: ["10.0.0.1", "192.168.1.2", "fd00::1", "fe80::1%eth0"].map {
                        Endpoint(host: $0, port: 7787)
                    },
                    // The newest one.
                    text: ["from": "10.0.0.1"])
            ])
        _ = table.remove(key("Camera", interface: 2, networkProtocol: 0))
        #expect(table.services(.producer).first?.endpoints.map(\.host) == ["10.0.0.1", "fd00::1", "fe80::1%eth0"])
        table.removeAll()
        #expect(table.services(.producer).isEmpty)
    }

    @Test func withoutAnAddressThereIsNoService() {
        var table = ServiceTable()
        _ = table.add(key("waits"), name: "waits")
        _ = table.add(key("zero"), name: "zero")
        table.resolve(key("zero"), address: address("10.0.0.1", port: 0), text: [:])
        // Never added, or removed meanwhile.
        table.resolve(key("stranger"), address: address("10.0.0.1"), text: [:])
        #expect(table.services(.pairing).isEmpty)
        table.resolve(key("zero"), address: address("10.0.0.1", port: 1), text: [:])
        #expect(table.services(.pairing).map(\.name) == ["zero"])
        #expect(table.services(.pairing).map(\.type) == [.pairing])
    }

    @Test func namesThatSwiftHoldsForEqualStayApartUntilTheyAreTold() {
        var table = ServiceTable()
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        #expect(table.add(key(composed), name: composed) == .added)
        #expect(table.add(key(decomposed), name: decomposed) == .added)
        table.resolve(key(composed), address: address("10.0.0.1"), text: [:])
        table.resolve(key(decomposed), address: address("10.0.0.2"), text: [:])
        #expect(table.services(.producer).count == 1)
        _ = table.remove(key(decomposed))
        #expect(table.services(.producer).first?.endpoints.map(\.host) == ["10.0.0.1"])
    }

    @Test func everythingIsBounded() {
        var table = ServiceTable()
        // 20 addresses of one service, then strangers until it is full.
        for number in 0..<20 {
            let key = key("z first", interface: Int32(number))
            _ = table.add(key, name: "z first")
            table.resolve(key, address: address("10.0.0.\(number)"), text: [:])
        }
        for number in 0..<236 {
            let name = "a\(number)"
            #expect(table.add(key(name), name: name) == .added)
            table.resolve(key(name), address: address("10.0.1.\(number)"), text: [:])
        }
        #expect(table.add(key("one more"), name: "one more") == .full)
        let services = table.services(.producer)
        #expect(services.count == 64)
        // Who was there first stays, whatever the names of the others.
        #expect(services.last?.name == "z first")
        #expect(services.last?.endpoints.count == 16)
        #expect(services.map(\.name) == services.map(\.name).sorted())
        // Who found no room gets the first that there is.
        #expect(table.remove(key("a0")) == key("one more"))
        #expect(table.add(key("one more"), name: "one more") == .added)
        #expect(table.remove(key("a1")) == nil)
    }

    /// A flood that ends: everybody who was left out meanwhile is found, unless he has gone himself.
    @Test func whoWasLeftOutGetsHisPlaceLater() {
        var table = ServiceTable()
        for number in 0..<256 { _ = table.add(key("rogue \(number)"), name: "rogue") }
        for name in ["genuine", "second", "gone"] {
            #expect(table.add(key(name), name: name) == .full)
            #expect(table.add(key(name), name: name) == .full)
        }
        #expect(table.remove(key("gone")) == nil)
        var found: Set<ServiceTable.Key> = []
        for number in 0..<256 {
            guard let next = table.remove(key("rogue \(number)")) else { continue }
            found.insert(next)
            #expect(table.add(next, name: "found") == .added)
        }
        #expect(found == [key("genuine"), key("second")])
    }

    @Test func whoIsLeftOutIsBoundedAsWell() {
        var table = ServiceTable()
        for number in 0..<10_000 { _ = table.add(key("rogue \(number)"), name: "rogue") }
        var found = 0
        for number in 0..<10_000 {
            guard let next = table.remove(key("rogue \(number)")) else { continue }
            _ = table.add(next, name: "rogue")
            found += 1
        }
        #expect(found <= ServiceTable.maximumLeftOut)
    }

    /// One machine that claims to be many does not displace the others, whoever came first.
    @Test func eachMachineKeepsAPlace() {
        var table = ServiceTable()
        for number in 0..<100 {
            _ = table.add(key("rogue \(number)"), name: "rogue \(number)")
            table.resolve(key("rogue \(number)"), address: address("10.0.0.66", port: UInt16(1000 + number)), text: [:])
        }
        _ = table.add(key("z genuine"), name: "z genuine")
        table.resolve(key("z genuine"), address: address("10.0.0.1"), text: [:])
        let services = table.services(.producer)
        #expect(services.count == ServiceTable.maximumServices)
        #expect(services.last?.name == "z genuine")
        #expect(services.endpointsInTurn(ofEach: 8).prefix(2).map(\.host) == ["10.0.0.66", "10.0.0.1"])
    }

    /// However many addresses some claim to have, the first of each comes before the second of any.
    @Test func noServiceWaitsForAllAddressesOfAnother() {
        func service(_ name: String, _ addresses: [String]) -> DiscoveredService {
            DiscoveredService(
                type: .producer, name: name, endpoints: addresses.map { Endpoint(host: $0, port: 1) }, text: [:])
        }
        let services = [
            service("a", ["a1", "a2", "a3"]), service("b", []), service("c", ["c1"]), service("d", ["d1", "a1", "d3"]),
        ]
        let order = services.endpointsInTurn(ofEach: 2).map(\.host)
        #expect(order == ["a1", "c1", "d1", "a2", "a1"])
        #expect(services.endpointsInTurn(ofEach: 0).isEmpty)
    }
}
