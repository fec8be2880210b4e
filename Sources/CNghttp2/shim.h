#ifndef MIDSTREAM_CNGHTTP2_H
#define MIDSTREAM_CNGHTTP2_H

// HTTP/2's frames and header compression, for the wire transport.

#ifdef __linux__

#include <nghttp2/nghttp2.h>

// Has values with white space at their ends passed on, which is taken off later: servers send them, and nghttp2 refuses them from 1.49 on.
// That can't be turned off before 1.50.
static inline void midstream_take_space_around_values(nghttp2_option *options) {
#if NGHTTP2_VERSION_NUM >= 0x013200
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1);
#else
    (void)options;
#endif
}

#endif
#endif
