#include "CLockFence.h"

void loaderchain_lock_fence(void) {}
