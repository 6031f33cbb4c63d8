import Glibc

/// Whether a firewall of this machine lets others in: nftables (and iptables, which stand on it), ufw, firewalld.
package enum FirewallCheck {
    package struct Facts: Sendable {
        /// What `nft list ruleset` writes; nil: it may not be asked, or is not there.
        package var ruleset: String?
        package var hasNft: Bool
        package var isRoot: Bool
        /// The rules of the user where ufw is switched on; nil: it is not.
        package var ufwRules: String?
        package var runsFirewalld: Bool

        package init(ruleset: String?, hasNft: Bool, isRoot: Bool, ufwRules: String? = nil, runsFirewalld: Bool = false)
        {
            self.ruleset = ruleset
            self.hasNft = hasNft
            self.isRoot = isRoot
            self.ufwRules = ufwRules
            self.runsFirewalld = runsFirewalld
        }
    }

    /// A port that others must reach.
    package struct Port: Sendable {
        let number: Int
        let kind: String
        let meaning: String
    }

    package static let discovery = Port(number: 5353, kind: "udp", meaning: "finding each other")
    package static let session = Port(number: 7787, kind: "tcp", meaning: "studios that connect")

    /// Asks nft(8), as root.
    package static func read(_ files: SystemFiles, isRoot: Bool = geteuid() == 0) -> Facts {
        let program = ["/usr/sbin/nft", "/sbin/nft"].first { files.exists($0) }
        let isOn = files.lines("/etc/ufw/ufw.conf").contains { $0.filter { $0 != " " } == "ENABLED=yes" }
        return Facts(
            ruleset: isRoot ? program.flatMap { CommandOutput.read([$0, "list", "ruleset"]) } : nil,
            hasNft: program != nil, isRoot: isRoot,
            ufwRules: isOn ? files.text("/etc/ufw/user.rules") ?? "" : nil,
            runsFirewalld: files.exists("/run/firewalld")
                && files.entries("/proc").contains {
                    Int($0) != nil && files.line("/proc/\($0)/comm") == "firewalld"
                })
    }

    package static func judge(_ facts: Facts, _ ports: [Port]) -> [Finding] {
        if let rules = facts.ufwRules {
            // Which needs root to be read: nothing is known then.
            if rules.isEmpty, !facts.isRoot { return [unknown(facts, ports, by: "ufw")] }
            return ports.map { port in
                let isOpen = rules.split(separator: "\n").contains { line in
                    line.hasPrefix("-A ufw-user-input") && line.contains(" \(port.kind) ") && line.contains("ACCEPT")
                        && mentions(line, port.number)
                }
                return isOpen ? open(port) : closed(port, "ufw", "sudo ufw allow \(port.number)/\(port.kind)")
            }
        }
        if facts.runsFirewalld { return [unknown(facts, ports, by: "firewalld")] }
        guard let ruleset = facts.ruleset else {
            if !facts.hasNft { return [.ok("No firewall was found (no nft, ufw or firewalld).")] }
            return [
                .ok(
                    facts.isRoot
                        ? "The firewall could not be asked: nft list ruleset"
                        : "Whether a firewall is in the way only root can see: run it with sudo.")
            ]
        }
        guard blocks(ruleset) else { return [.ok("No firewall of this machine is in the way.")] }
        return ports.map { port in
            let isOpen = ruleset.split(separator: "\n").contains { line in
                line.contains("accept") && line.contains("\(port.kind) dport") && mentions(line, port.number)
            }
            return isOpen
                ? open(port)
                : closed(
                    port, "nftables",
                    "sudo nft insert rule \(inputChain(ruleset)) \(port.kind) dport \(port.number) accept")
        }
    }

    private static func unknown(_ facts: Facts, _ ports: [Port], by name: String) -> Finding {
        let commands = ports.map { port in
            name == "ufw"
                ? "sudo ufw allow \(port.number)/\(port.kind)"
                : "sudo firewall-cmd --permanent --add-port=\(port.number)/\(port.kind)"
        }
        return .warning(
            "\(name) is in force. Nothing came through? Open \(ports.map { "\($0.kind.uppercased()) port \($0.number)" }.joined(separator: " and ")).",
            (commands + (name == "ufw" ? [] : ["sudo firewall-cmd --reload"])).joined(separator: " && "))
    }

    private static func open(_ port: Port) -> Finding {
        .ok("The firewall lets \(port.kind.uppercased()) port \(port.number) through (\(port.meaning)).")
    }

    private static func closed(_ port: Port, _ name: String, _ command: String) -> Finding {
        .problem(
            "The firewall (\(name)) keeps \(port.kind.uppercased()) port \(port.number) closed: \(port.meaning).",
            command)
    }

    /// Whether a chain of what comes in drops what no rule takes.
    static func blocks(_ ruleset: String) -> Bool {
        var isInput = false
        for line in ruleset.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == ";" }
            if words.first == "chain" { isInput = false }
            if words.contains("hook"), words.contains("input") {
                isInput = true
                if words.contains("drop") { return true }
            }
            // A last rule without a condition; it may count: "counter packets 12 bytes 720 drop".
            var rule = words[...]
            if rule.first == "counter" { rule = rule.dropFirst(rule.dropFirst().first == "packets" ? 5 : 1) }
            if isInput, rule.first == "drop" || rule.first == "reject" { return true }
        }
        return false
    }

    /// "inet filter input": the first chain of what comes in.
    private static func inputChain(_ ruleset: String) -> String {
        var table = "inet filter"
        var chain = "input"
        for line in ruleset.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "{" || $0 == ";" }.map(String.init)
            if words.first == "table", words.count >= 3 { table = "\(words[1]) \(words[2])" }
            if words.first == "chain", words.count >= 2 { chain = words[1] }
            if words.contains("hook"), words.contains("input") { break }
        }
        return "\(table) \(chain)"
    }

    /// As a number of its own, or inside a range such as 7000-8000.
    private static func mentions(_ line: Substring, _ port: Int) -> Bool {
        line.split { !($0.isNumber || $0 == "-" || $0 == ":") }.contains { word in
            let bounds = word.split { $0 == "-" || $0 == ":" }.compactMap { Int($0) }
            guard let first = bounds.first, let last = bounds.last, bounds.count <= 2, first <= last else {
                return false
            }
            return (first...last).contains(port)
        }
    }
}
