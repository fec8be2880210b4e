@_exported public import MidstreamCacheStore
