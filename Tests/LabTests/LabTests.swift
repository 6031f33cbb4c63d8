import Testing

@Suite struct LabTests {}
