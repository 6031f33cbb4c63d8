/// Is told what happens to a producer, and decides who may receive. Every method has a default: write those that you need.
///
/// The methods without an answer come on one thread of the controller ("delegate"), one after the other, in order, and never
/// while a lock of Gantry's is held: each may call every method of the controller, `stop()` included. While one does not return,
/// the next ones wait (64 events at most, then the oldest go); media and connections are not held up. The controller does
/// not keep its delegate alive.
public protocol ProducerControllerDelegate: AnyObject, Sendable {
    /// Whether a paired studio that has connected may receive now. The default says yes.
    ///
    /// Each studio is asked about on a thread of its own, so the answer may take its time, also by blocking; others
    /// are let in meanwhile. After 30 seconds the studio is turned away, and told that the producer has declined; when 16 answers are
    /// outstanding, or two about this very studio, it is told to come again later. The task is cancelled when the studio has gone.
    ///
    /// - Parameters:
    ///   - controller: the one that was connected to.
    ///   - studio: its key is proved, its name is that of the paired device.
    func producerController(
        _ controller: ProducerController, shouldAcceptIncomingConnection studio: ProducerPeer
    ) async -> Bool

    /// The state is another one than was told last: started, stopped, paused, resumed, a studio came or went. States that did
    /// not last until the call are left out. A delegate that is set while the producer runs is told the state at once.
    func producerController(_ controller: ProducerController, stateDidChangeTo state: ProducerState)

    /// Sound is wanted in pieces of so many samples of each channel (`ProducerController.audioSamplesRequired`), or, with 0,
    /// not any more.
    func producerController(_ controller: ProducerController, audioSamplesRequiredDidChangeTo count: Int)

    /// Everything that is in `ProducerController.events`.
    func producerController(_ controller: ProducerController, didReceive event: ProducerEvent)
}

extension ProducerControllerDelegate {
    /// Lets every paired studio in.
    public func producerController(
        _ controller: ProducerController, shouldAcceptIncomingConnection studio: ProducerPeer
    ) async -> Bool { true }

    /// Does nothing.
    public func producerController(_ controller: ProducerController, stateDidChangeTo state: ProducerState) {}

    /// Does nothing.
    public func producerController(_ controller: ProducerController, audioSamplesRequiredDidChangeTo count: Int) {}

    /// Does nothing.
    public func producerController(_ controller: ProducerController, didReceive event: ProducerEvent) {}
}
