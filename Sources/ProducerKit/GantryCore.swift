// `import ProducerKit` suffices: the values of both kits (errors, keys, stamps, formats, data) come with it.
@_exported public import GantryCore
