#ifndef MIDSTREAM_CCURL_H
#define MIDSTREAM_CCURL_H
#include <curl/curl.h>
#endif
