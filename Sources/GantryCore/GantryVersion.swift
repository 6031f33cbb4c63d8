/// The version of the package, as tools show it and peers are told it.
public enum GantryVersion {
    public static let text = "0.1.0"
}
