/// An interceptor that does the same to all requests, whoever makes them, although it can't tell beforehand what that will be.
///
/// Whoever wants to know whose a request is needn't ask it.
package protocol ImpersonalInterceptor: HTTPInterceptor {}

/// An interceptor whose plan says "would" wherever the request that is sent can't be known beforehand, so that any other text hides
/// nothing. Of one that isn't known to keep to that, only a plan without a text says enough to tell whose a request is.
package protocol ForeseeableInterceptor: HTTPInterceptor {}
