#ifndef MIDSTREAM_CNGHTTP2_H
#define MIDSTREAM_CNGHTTP2_H

// HTTP/2's frames and header compression, for the wire transport.

#ifdef __linux__

#include <nghttp2/nghttp2.h>

#endif
#endif
