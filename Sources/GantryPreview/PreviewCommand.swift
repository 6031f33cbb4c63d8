/// What somebody wants who has pressed a key in the window, where the window cannot do it alone.
package enum PreviewCommand: Sendable, Hashable, CaseIterable {
    /// Write the picture that is shown into a file.
    case snapshot
    /// Begin to record, or end it.
    case record
    /// Show what came five seconds earlier.
    case back
    /// Show what came five seconds later.
    case forward
    /// Show what comes now.
    case live
    /// Let no sound be heard, or let it be heard again.
    case mute
    /// Receive nothing, or go on.
    case pause
    /// The window was closed, or is to be: `q`, Escape, the button of its frame. It stays until `PreviewWindow.close`.
    case close
}
