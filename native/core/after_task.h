// A function that every thread of every team calls after each of its tasks.
#pragma once

namespace gossamer {

// nullptr: nothing is called. The function must be quick, and may be called by several threads at once.
void set_after_task(void (*function)() noexcept);

}  // namespace gossamer
