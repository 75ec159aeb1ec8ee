// A program of many streams without a sleep and without a lock: kernels, copies, events, memory that comes and goes,
// graphs. Each waits for its operands and for nothing more, so its numbers are those of its order in the text, if the
// device and the allocator keep their promises. tests/schedule/races.py compiles it with the allocator's tests of a
// tree, in which it plants races.
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "allocator_fixture.h"
#include "runtime/Event.h"
#include "runtime/PoolAllocator.h"

namespace openreg::test {

namespace {

constexpr size_t kStreams = 4;
constexpr size_t kCells = 6;
constexpr int kSteps = 150;
constexpr int kNodes = 300;

using Number = uint64_t;

// *to = *from * 3 + add
struct Kernel {
  Number* to;
  const Number* from;
  Number add;
  static void run(void* kernel) {
    const auto& self = *static_cast<const Kernel*>(kernel);
    *self.to = *self.from * 3 + self.add;
  }
};

// Its device is current for a while. Device 0 is anyhow, and a call of the device would be one more place where others
// go on.
std::optional<OpenRegGuard> on(const OpenRegStream& stream) {
  if (stream.device_index() == 0) return std::nullopt;
  return std::optional<OpenRegGuard>(std::in_place, stream.device_index());
}

class Moment {
 public:
  explicit Moment(const OpenRegStream& stream) {
    const auto guard = on(stream);
    OPENREG_CHECK(orEventCreateWithFlags(&event_, orEventDisableTiming));
    OPENREG_CHECK(orEventRecord(event_, stream.stream()));
  }
  ~Moment() { orEventDestroy(event_); }
  Moment(const Moment&) = delete;
  void wait(const OpenRegStream& stream) const {
    const auto guard = on(stream);
    OPENREG_CHECK(orStreamWaitEvent(stream.stream(), event_));
  }

 private:
  orEvent_t event_ = nullptr;
};

// A number on the device, what it should be, and what has to have happened before it is read, or written.
struct Cell {
  c10::DataPtr data;
  Number expected = 0;
  std::shared_ptr<const Moment> written;
  std::vector<std::shared_ptr<const Moment>> read;
  Number* get() const { return static_cast<Number*>(data.get()); }
};

class OrderTest : public AllocatorTest {
 protected:
  void SetUp() override {
    AllocatorTest::SetUp();
    for (size_t i = 0; i < kStreams; ++i) streams_.push_back(getStreamFromPool());
    for (size_t i = 0; i < kCells; ++i) cells_.push_back(fresh(any_stream(), i));
  }

  void TearDown() override {
    cells_.clear();
    device_synchronize();
    for (const orGraph_t graph : graphs_) OPENREG_CHECK(orGraphDestroy(graph));
    AllocatorTest::TearDown();
  }

  size_t any(size_t below) { return random_() % below; }
  const OpenRegStream& any_stream() { return streams_[any(kStreams)]; }
  Cell& any_cell() { return cells_[any(kCells)]; }

  void launch(const OpenRegStream& stream, Number* to, const Number* from, Number add) {
    const auto guard = on(stream);
    kernels_.push_back(std::make_unique<Kernel>(Kernel{to, from, add}));
    OPENREG_CHECK(orLaunchKernel(stream.stream(), &Kernel::run, kernels_.back().get()));
  }

  static void use(const OpenRegStream& stream, const Cell& cell) {
    getDeviceAllocator()->recordStream(cell.data, stream);
  }

  static void before_read(const OpenRegStream& stream, const Cell& cell) {
    cell.written->wait(stream);
    use(stream, cell);
  }

  static void before_write(const OpenRegStream& stream, const Cell& cell) {
    before_read(stream, cell);
    for (const auto& moment : cell.read) moment->wait(stream);
  }

  static void after(const OpenRegStream& stream, Cell& to, Cell& from) {
    const auto moment = std::make_shared<const Moment>(stream);
    from.read.push_back(moment);
    to.written = moment;
    to.read.clear();
  }

  // The bytes come from pageable memory, which is the caller's again at once.
  Cell fresh(const OpenRegStream& stream, Number value) {
    const auto guard = on(stream);
    setCurrentStream(stream);
    Cell cell;
    cell.data = allocate(sizeof(Number));
    cell.expected = value;
    OPENREG_CHECK(orMemcpyAsync(cell.data.get(), &value, sizeof(value), orMemcpyHostToDevice, stream.stream()));
    value = ~value;
    cell.written = std::make_shared<const Moment>(stream);
    return cell;
  }

  void compute() {
    const OpenRegStream& stream = any_stream();
    Cell &to = any_cell(), &from = any_cell();
    compute(stream, to, from);
  }

  void compute(const OpenRegStream& stream, Cell& to, Cell& from) {
    before_read(stream, from);
    before_write(stream, to);
    const Number add = random_() % 1000;
    launch(stream, to.get(), from.get(), add);
    to.expected = from.expected * 3 + add;
    after(stream, to, from);
  }

  // What was there is freed while streams may still use it.
  void replace() { any_cell() = fresh(any_stream(), random_() % 1000); }

  void look() {
    const OpenRegStream& stream = any_stream();
    look(stream, any_cell());
  }

  void look(const OpenRegStream& stream, const Cell& cell) {
    const auto guard = on(stream);
    before_read(stream, cell);
    Number value = 0;
    OPENREG_CHECK(orMemcpyAsync(&value, cell.get(), sizeof(value), orMemcpyDeviceToHost, stream.stream()));
    wrong_ += value != cell.expected;
  }

  // Memory of the device's own, freed when it has been used last.
  void pass_through() {
    const OpenRegStream& stream = any_stream();
    Cell &to = any_cell(), &from = any_cell();
    void* memory = nullptr;
    OPENREG_CHECK(orMalloc(&memory, sizeof(Number)));
    before_read(stream, from);
    const Number add = random_() % 1000;
    launch(stream, static_cast<Number*>(memory), from.get(), add);
    const OpenRegStream& other = any_stream();
    before_write(other, to);
    Moment(stream).wait(other);
    launch(other, to.get(), static_cast<const Number*>(memory), add);
    to.expected = (from.expected * 3 + add) * 3 + add;
    after(other, to, from);
    OPENREG_CHECK(orFree(memory));
    OPENREG_CHECK(orMalloc(&memory, sizeof(Number)));
    launch(any_stream(), static_cast<Number*>(memory), static_cast<const Number*>(memory), 7);
    OPENREG_CHECK(orFree(memory));
  }

  // Captured on two streams, launched twice on a third.
  void replay() {
    const OpenRegStream &first = streams_[0], &second = streams_[1], &third = any_stream();
    Cell &to = any_cell(), &from = any_cell();
    const Number add = random_() % 1000;
    orGraph_t graph = nullptr;
    OPENREG_CHECK(orStreamBeginCapture(first.stream(), orCaptureModeRelaxed));
    launch(first, to.get(), from.get(), add);
    Moment(first).wait(second);
    launch(second, to.get(), to.get(), add);
    Moment(second).wait(first);
    OPENREG_CHECK(orStreamEndCapture(first.stream(), &graph));
    graphs_.push_back(graph);
    before_read(third, from);
    before_write(third, to);
    for (int i = 0; i < 2; ++i) {
      OPENREG_CHECK(orGraphLaunch(graph, third.stream()));
      to.expected = (from.expected * 3 + add) * 3 + add;
    }
    after(third, to, from);
  }

  // Keeps a stream behind in most orders: it is one task, but others may go on before each of its nodes.
  orGraph_t long_graph(const OpenRegStream& stream, const Cell& sum) {
    orGraph_t graph = nullptr;
    OPENREG_CHECK(orStreamBeginCapture(stream.stream(), orCaptureModeRelaxed));
    for (int i = 0; i < kNodes; ++i) launch(stream, sum.get(), sum.get(), 1);
    OPENREG_CHECK(orStreamEndCapture(stream.stream(), &graph));
    graphs_.push_back(graph);
    return graph;
  }

  std::minstd_rand random_{20};
  std::vector<OpenRegStream> streams_;
  std::vector<Cell> cells_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<orGraph_t> graphs_;
  int wrong_ = 0;
};

TEST_F(OrderTest, NumbersAreThoseOfTheText) {
  for (int step = 0; step < kSteps; ++step) {
    switch (any(16)) {
      case 0:
        look();
        break;
      case 1:
        pass_through();
        break;
      case 2:
        replay();
        break;
      case 3:
      case 4:
      case 5:
        replace();
        break;
      default:
        compute();
    }
  }
  for (const Cell& cell : cells_) look(streams_[0], cell);
  EXPECT_EQ(wrong_, 0);
}

// Each freed block has an event of its own until the reader got there, however many blocks wait. A slow stream's events
// are recorded first, a quick one's after them.
TEST_F(OrderTest, ManyBlocksWaitForTheirReaders) {
  const OpenRegStream &owner = streams_[0], &slow = streams_[1], &quick = streams_[2];
  Cell sum = fresh(slow, 0);
  const orGraph_t graph = long_graph(slow, sum);
  const auto blocks = [&](const OpenRegStream& stream, Number first) {
    std::vector<Cell> cells;
    for (Number i = 0; i < 20; ++i) cells.push_back(fresh(stream, first + i));
    return cells;
  };
  for (Number round = 0; round < 4; ++round) {
    std::vector<Cell> from = blocks(owner, round), other = blocks(owner, round), to = blocks(slow, round);
    for (const Cell& cell : other) before_read(quick, cell);
    OPENREG_CHECK(orGraphLaunch(graph, slow.stream()));
    for (size_t i = 0; i < to.size(); ++i) compute(slow, to[i], from[i]);
    from.clear();
    other.clear();
    from = blocks(owner, 1000);
    for (const Cell& cell : to) look(slow, cell);
  }
  EXPECT_EQ(wrong_, 0);
}

// The default streams of all devices have the same handle: null.
TEST_F(OrderTest, ADefaultStreamReadsMemoryOfAnotherDevice) {
  if (device_count() < 2) GTEST_SKIP() << "needs two devices";
  const OpenRegStream here = getDefaultStream(0), there = getDefaultStream(1);
  std::vector<Cell> to;
  for (Number step = 0; step < 30; ++step) {
    Cell from = fresh(here, step);
    to.push_back(fresh(there, step));
    compute(there, to.back(), from);
  }
  for (const Cell& cell : to) look(there, cell);
  EXPECT_EQ(wrong_, 0);
}

// Its events are recorded when the capture ends. The reader, which is not captured, may be behind until then, and
// after.
TEST_F(OrderTest, MemoryIsFreedDuringACapture) {
  std::vector<Cell> to;
  for (Number step = 0; step < 30; ++step) {
    const OpenRegStream& reader = streams_[1 + any(kStreams - 1)];
    Cell from = fresh(streams_[0], step);
    to.push_back(fresh(reader, step));
    compute(reader, to.back(), from);
    caching().pools()->markCaptureBegin(0);
    from.data.clear();
    caching().pools()->markCaptureEnd(0);
    fresh(streams_[0], 1000 + step);
  }
  for (const Cell& cell : to) look(streams_[0], cell);
  EXPECT_EQ(wrong_, 0);
}

TEST_F(OrderTest, AnEventComesAfterAllOfAGraph) {
  const OpenRegStream &first = streams_[0], &second = streams_[1];
  Cell sum = fresh(first, 0);
  std::vector<Cell> seen;
  const orGraph_t graph = long_graph(first, sum);
  for (int step = 0; step < 5; ++step) {
    seen.push_back(fresh(second, 0));
    before_write(first, sum);
    OPENREG_CHECK(orGraphLaunch(graph, first.stream()));
    for (int i = 0; i < kNodes; ++i) sum.expected = sum.expected * 3 + 1;
    sum.written = std::make_shared<const Moment>(first);
    sum.read.clear();
    compute(second, seen.back(), sum);
  }
  for (const Cell& cell : seen) look(first, cell);
  EXPECT_EQ(wrong_, 0);
}

// More staged bytes than one would keep for a stream that is behind.
TEST_F(OrderTest, ManySmallCopiesAreUnderWay) {
  for (Number round = 0; round < 8; ++round) {
    const OpenRegStream& stream = any_stream();
    std::vector<Cell> cells;
    for (Number i = 0; i < 16; ++i) cells.push_back(fresh(stream, i));
    for (const Cell& cell : cells) look(stream, cell);
  }
  EXPECT_EQ(wrong_, 0);
}

}  // namespace

}  // namespace openreg::test
