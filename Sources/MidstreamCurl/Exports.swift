@_exported public import MidstreamTransport
