#include "trace/core/trace.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

TEST(TraceBuilder, NamesBecomeIdsOnFirstUse) {
  TraceBuilder b;
  b.fork("main", "T1");
  b.read("T1", "x", 20);
  EventIndex update = b.update("T1", "n", 3, 4);
  b.join("main", "T1");
  Trace trace = std::move(b).build();
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace.threads().size(), 2u);
  EXPECT_EQ(trace.thread(ThreadId{1}).parent, ThreadId{0});
  EXPECT_EQ(trace.variable(trace.events()[1].variable()).name, "x");
  EXPECT_EQ(trace.old_value(update), 3u);
  EXPECT_EQ(trace.event(update).value, 4u);
}

TEST(Event, WidthAndOrderShareAByte) {
  Event e{.kind = EventKind::Read, .thread = ThreadId{0}};
  e.set_width(16);
  e.set_order(MemoryOrder::SeqCst);
  EXPECT_EQ(e.width(), 16u);
  EXPECT_EQ(e.order(), MemoryOrder::SeqCst);
  EXPECT_TRUE(e.atomic());
}

}  // namespace
}  // namespace cleave
