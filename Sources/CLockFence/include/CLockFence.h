#ifndef CLOCKFENCE_H
#define CLOCKFENCE_H

/// Does nothing, in a way that the Swift optimizer cannot know.
///
/// Swift moves reference counting past whatever cannot touch a reference, and a store to an atomic cannot. A call into C
/// could do anything: so what was read before it has been retained before it, and what is written before it is written.
void loaderchain_lock_fence(void);

#endif
