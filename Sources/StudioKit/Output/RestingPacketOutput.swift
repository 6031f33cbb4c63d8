/// A packet output that is there all the time and has use for packets only while it wants regular key frames: nothing is coded
/// for it meanwhile.
package protocol RestingPacketOutput: PacketOutput {}
