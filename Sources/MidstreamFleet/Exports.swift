@_exported public import MidstreamCacheStore
@_exported public import MidstreamTransport
