#include <stddef.h>
#include <stdint.h>

/// libFuzzer's loop, which the compiler links in with -sanitize=fuzzer but has no header for.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
