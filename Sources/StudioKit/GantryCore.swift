// The values of the interface (errors, durations, formats, devices) come with it: `import StudioKit` is enough.
@_exported public import GantryCore
