@_exported public import MidstreamURLSession
