#include "support.h"
namespace gossamer::tests {
TEST_SUITE("scores") {
  TEST_CASE("x") {}
}
}  // namespace gossamer::tests
