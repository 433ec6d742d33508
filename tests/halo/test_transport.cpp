// What every transport must do, short and long messages, and what it must refuse.

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "halo/choose_transport.hpp"
#include "null_transport.hpp"
#include "tested_transports.hpp"

namespace tessera::halo {
namespace {

using device::Device;
using device::DeviceView;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::on_host;
using testing::world;

DeviceView<Real*> device_values(const std::vector<Real>& values) {
  return device::to_device<DeviceView<Real*>>(
      "values", values.data(), typename DeviceView<Real*>::array_layout(values.size()));
}

class TransportTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = testing::why_not_tested(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
    transport_ = testing::tested_transport(GetParam());
  }

  std::unique_ptr<Transport> transport_;
  Device exec_;
};

/// What rank `from` sends to rank `to` as its i-th number: exact in float.
Real sent(int from, int to, std::int64_t i) {
  return static_cast<Real>((from * 31 + to * 7 + i) % 16000);
}

/// Every rank to every other, twice through the same buffers; the longest message takes several
/// pieces, and lengths differ by direction.
TEST_P(TransportTest, EveryRankGetsWhatEveryOtherSent) {
  const int me = world().rank();
  const auto length = [](int from, int to) {
    return std::int64_t{3} + 400000 * ((from + 2 * to) % 3);
  };
  std::vector<DeviceView<Real*>> send;
  std::vector<DeviceView<Real*>> receive;
  std::vector<Message> messages;
  for (int peer = 0; peer < world().size(); ++peer) {
    if (peer == me) continue;
    const auto& out = send.emplace_back("send", length(me, peer));
    const auto& in = receive.emplace_back("receive", length(peer, me));
    messages.push_back(
        {peer, out.data(), length(me, peer), in.data(), static_cast<std::int64_t>(in.size())});
  }
  for (const int round : {0, 1}) {
    for (std::size_t k = 0; k < messages.size(); ++k) {
      const auto host = Kokkos::create_mirror(send[k]);
      for (std::int64_t i = 0; i < messages[k].n_send; ++i)
        host(i) = sent(me, messages[k].peer, i + round);
      Kokkos::deep_copy(send[k], host);
    }
    transport_->begin(exec_, messages, 3);
    transport_->finish(exec_);
    transport_->wait(exec_);
    for (std::size_t k = 0; k < messages.size(); ++k) {
      const auto host = on_host(receive[k]);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < messages[k].n_receive; ++i)
        wrong += host(i) != sent(messages[k].peer, me, i + round);
      EXPECT_EQ(wrong, 0) << "from rank " << messages[k].peer << ", round " << round;
    }
  }
}

TEST_P(TransportTest, AnEmptyExchangeEnds) {
  const std::vector<Message> none;
  transport_->begin(exec_, none, 1);
  transport_->finish(exec_);
  transport_->watch(exec_);
  transport_->wait(exec_);
}

TEST_P(TransportTest, AllReduceIsTheSumOnEveryRankToTheLastBit) {
  for (const int n : {1, 777, 600000}) {
    std::vector<Real> mine(n);
    std::vector<double> expected(n, 0.0);
    for (int rank = 0; rank < world().size(); ++rank) {
      std::mt19937 random(static_cast<unsigned>(5 + rank));
      for (int i = 0; i < n; ++i) {
        const auto value = static_cast<Real>(static_cast<double>(random()) / 4294967296.0);
        if (rank == world().rank()) mine[i] = value;
        expected[i] += static_cast<double>(value);
      }
    }
    const auto values = device_values(mine);
    transport_->all_reduce(exec_, values);
    transport_->wait(exec_);
    const auto sum = on_host(values);
    double worst = 0;
    for (int i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(static_cast<double>(sum(i)) - expected[i]));
    EXPECT_LT(worst, 1e-5);
    std::vector<Real> of_root(sum.data(), sum.data() + n);
    world().broadcast(std::span(of_root));
    EXPECT_TRUE(std::equal(of_root.begin(), of_root.end(), sum.data()));
  }
}

TEST_P(TransportTest, BroadcastGivesAllWhatRankZeroHas) {
  std::vector<Real> mine(1001);
  for (int i = 0; i < 1001; ++i) mine[i] = static_cast<Real>(i + 5000 * world().rank());
  const auto values = device_values(mine);
  transport_->broadcast(exec_, values);
  transport_->wait(exec_);
  const auto got = on_host(values);
  int wrong = 0;
  for (int i = 0; i < 1001; ++i) wrong += got(i) != Real(i);
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TransportTest, ::testing::ValuesIn(testing::tested_transports()),
                         [](const auto& test) { return test.param; });

std::string complaint(std::string_view name) {
  try {
    make_transport(name, world());
  } catch (const AgreedError& error) {
    return error.what();
  }
  return "none";
}

TEST(MakeTransport, NamesWhatTheBuildLacksAndWhatItHas) {
  const std::vector<std::string> names = transport_names();
  for (const std::string name : {"gpu_mpi", "nccl", "gpu_p2p"}) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    EXPECT_THAT(complaint(name), AllOf(HasSubstr("decomposition.transport = \"" + name + "\""),
                                       HasSubstr("this build"), HasSubstr("host_mpi")));
  }
  EXPECT_THAT(complaint("smoke"), HasSubstr("host_mpi"));
}

/// Rank 0 alone holds a tile's worth of ghosts of every other rank.
decomposition::HaloPlan star_plan() {
  decomposition::HaloPlan plan;
  for (int peer = 0; peer < world().size(); ++peer) {
    if (peer == world().rank() || (peer != 0 && world().rank() != 0)) continue;
    const Box both{{0, 0}, {16, 16}};
    plan.peers.push_back(world().rank() == 0 ? decomposition::PeerBoxes{peer, {}, both}
                                             : decomposition::PeerBoxes{peer, both, {}});
  }
  return plan;
}

TEST(ChooseTransport, AllRanksTakeOneThatWorksHere) {
  const decomposition::HaloPlan plan = star_plan();
  const auto chosen =
      choose_transport("auto", world(), default_timeout_s, {plan, 3, 512}, Log(false));
  EXPECT_EQ(kind_named(chosen->name()).why_not(world()), "");
  const std::vector<std::string> names = world().all_gather(std::string(chosen->name()));
  for (const std::string& name : names) EXPECT_EQ(name, names[0]);
  if (device::device_is_host || world().size() == 1) {
    EXPECT_EQ(names[0], "host_mpi");
  }
  EXPECT_EQ(
      choose_transport("host_mpi", world(), default_timeout_s, {plan, 3, 512}, Log(false))->name(),
      "host_mpi");
}

/// Sums do not arrive.
class NoSums final : public scaling::NullTransport {
 public:
  void begin(const Device& exec, const std::vector<Message>& messages, int tag) override {
    carrier_->begin(exec, messages, tag);
  }
  void finish(const Device& exec) override { carrier_->finish(exec); }

 private:
  std::unique_ptr<Transport> carrier_ = make_transport("host_mpi", world());
};

std::string found_by_check(Transport& transport) {
  try {
    check_transport(Device(), transport, world(), {star_plan(), 3, 512});
  } catch (const AgreedError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckTransport, NamesWhatArrivesWrong) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  scaling::NullTransport nothing;
  EXPECT_THAT(found_by_check(nothing),
              AllOf(HasSubstr("of 768 numbers from rank"), HasSubstr("decomposition.transport")));
  NoSums no_sums;
  EXPECT_THAT(found_by_check(no_sums), HasSubstr("of 512 sums"));
  EXPECT_EQ(found_by_check(*make_transport("host_mpi", world())), "");
}

/// What a killed or stuck rank does to the others, with transports that the host has no part in.
class StuckRank : public ::testing::TestWithParam<std::string> {};

TEST_P(StuckRank, EndsTheWaitOfTheOthers) {
  const std::string reason = kind_named(GetParam()).why_not(world());
  if (!reason.empty() || world().size() == 1)
    GTEST_SKIP() << (reason.empty() ? "needs two ranks" : reason);
  // NCCL's start is part of the first sum, and takes 3 s where others use the GPUs.
  constexpr double timeout_s = 8;
  const Device exec;
  const auto transport = make_transport(GetParam(), world(), timeout_s);
  const auto values = device_values(std::vector<Real>(1000, Real(1)));
  transport->all_reduce(exec, values);
  transport->wait(exec);
  if (world().rank() != 0) {
    const Kokkos::Timer timer;
    transport->all_reduce(exec, values);
    EXPECT_THROW(transport->wait(exec), SystemError);
    EXPECT_LT(timer.seconds(), 4 * timeout_s);
  }
  world().barrier();
}

INSTANTIATE_TEST_SUITE_P(All, StuckRank, ::testing::Values("nccl", "gpu_p2p"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tessera::halo
