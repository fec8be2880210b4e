#ifndef MIDSTREAM_CSQLITE_H
#define MIDSTREAM_CSQLITE_H
#include <sqlite3.h>
#endif
