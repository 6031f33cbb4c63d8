/// The version of the package, as tools show it and peers are told it.
public enum GantryVersion {
    /// The version of this library, as in 1.2.0.
    public static let text = "0.1.0"
}
