// The codec of abi/codec.h: its bytes are those that its head describes, and nothing that a file may hold
// makes the decoder read outside of it.
#include "abi/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace cleave::test {
namespace {

uint64_t some_word(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return random() % 300;
    case 2:
      return 0x555555560000 + random() % 4096 * 8;
    case 3:
      return 0x7ffff7000000 + random() % 64 * 8;
    case 4: {
      double value = static_cast<double>(random() % 1000) * 0.25;
      uint64_t word;
      memcpy(&word, &value, sizeof word);
      return word;
    }
    default:
      return random() >> (random() % 64);
  }
}

std::vector<std::vector<uint64_t>> some_records(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<uint64_t>> records;
  uint64_t lengths[40];
  for (uint64_t& length : lengths) length = random() % 8 ? random() % 9 : random() % 240;
  lengths[30] = 400;  // counted ones may be long
  for (size_t i = 0; i < count; ++i) {
    uint64_t which = random() % 8 ? i % 5 : random() % 40;
    uint64_t branches = random() % 4 ? 1 : random() % 65535 + 1;
    std::vector<uint64_t> record{(which < 20 ? 0x555555558000 + 4 * which : which) | branches << 48};
    for (uint64_t k = 0; k < lengths[which]; ++k) record.push_back(some_word(random));
    records.push_back(record);
  }
  return records;
}

std::vector<uint8_t> encode(cleave_codec& codec, const std::vector<std::vector<uint64_t>>& records) {
  uint64_t words = 0;
  for (const auto& record : records) words += record.size();
  std::vector<uint8_t> bytes(cleave_codec_bound(words));
  cleave_codec_begin_body(&codec, bytes.data(), bytes.size());
  for (const auto& record : records) {
    EXPECT_TRUE(cleave_codec_fits(&codec, record.size()));
    cleave_codec_put_record(&codec, record.data(), static_cast<uint32_t>(record.size() - 1));
    EXPECT_LE(codec.next, codec.middle);
    EXPECT_LE(codec.codes, codec.end);
  }
  bytes.resize(cleave_codec_end_body(&codec));
  return bytes;
}

// What the head of codec.h says, word by word and with maps for tables as large as the format's.
class PlainDecoder {
 public:
  explicit PlainDecoder(std::vector<uint8_t> body) : body_(std::move(body)) {
    uint32_t middle = 0;
    memcpy(&middle, body_.data(), 4);
    bytes_ = 4;
    codes_ = 2 * size_t{middle};
  }
  void go_on(const PlainDecoder& before) {
    places_ = before.places_, behind_ = before.behind_, follow_ = before.follow_;
    address_ = before.address_, recent_ = before.recent_;
  }
  std::vector<uint64_t> record(size_t payload) {
    codes_ += codes_ % 2;
    uint64_t& turned = follow_[slot(address_, CLEAVE_CODEC_FOLLOW)];
    auto [second, difference] = symbol();
    EXPECT_FALSE(second);
    turned += difference;
    std::vector<uint64_t> words{turned >> 16 | turned << 48};
    address_ = words[0] & 0xffffffffffff;
    for (size_t i = 0; i < payload; ++i) {
      size_t position = std::min<size_t>(i, 255);
      uint64_t& place = places_[slot(address_, CLEAVE_CODEC_PLACES) + position];
      uint64_t& other = i == 0 ? recent_ : behind_[slot(words[1], CLEAVE_CODEC_BEHIND) + position];
      auto [takes_other, distance] = symbol();
      uint64_t word = (takes_other ? other : place) + distance;
      place = other = word;
      words.push_back(word);
    }
    if (payload > 0) recent_ = address_ < 4096 ? words[1] : words.back();
    return words;
  }
  bool at_end() const { return (codes_ + 1) / 2 + 8 == body_.size(); }

 private:
  static uint64_t slot(uint64_t word, uint64_t slots) { return (word * 0x9e3779b97f4a7c15 >> 40) % slots; }
  std::pair<bool, uint64_t> symbol() {
    uint32_t code = body_.at(codes_ / 2) >> (codes_ % 2 ? 4 : 0) & 15;
    ++codes_;
    bool second = code > 8;
    uint64_t bits = 0;
    for (uint32_t i = 0, bytes = second ? code - 9 : code; i < bytes; ++i)
      bits |= uint64_t{body_.at(bytes_++)} << (8 * i);
    return {second, bits % 2 ? ~(bits / 2) : bits / 2};
  }
  std::vector<uint8_t> body_;
  size_t bytes_ = 0, codes_ = 0;  // next of each; codes in halves of bytes
  std::map<uint64_t, uint64_t> places_, behind_, follow_;
  uint64_t address_ = 0, recent_ = 0;
};

TEST(Codec, BytesAreWhatTheFormatSays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    auto encoder = std::make_unique<cleave_codec>(), decoder = std::make_unique<cleave_codec>();
    cleave_codec_clear(encoder.get());
    cleave_codec_clear(decoder.get());
    std::unique_ptr<PlainDecoder> before;
    for (uint64_t chunk = 0; chunk < 3; ++chunk) {  // the second and third go on from the one before
      auto records = some_records(seed * 3 + chunk, 300);
      std::vector<uint8_t> bytes = encode(*encoder, records);
      auto plain = std::make_unique<PlainDecoder>(bytes);
      if (before) plain->go_on(*before);
      cleave_codec_begin_reading(decoder.get(), bytes.data(), bytes.size());
      for (const auto& record : records) {
        ASSERT_EQ(plain->record(record.size() - 1), record);
        ASSERT_EQ(cleave_codec_get_header(decoder.get()), record[0]);
        auto payload = static_cast<uint32_t>(record.size() - 1);
        std::vector<uint64_t> words(payload + 1);
        // Of a segment all at once; of a record that is counted the first word, then the others.
        uint32_t split = payload > 0 && (record[0] & CLEAVE_CODEC_ADDRESS) < 4096 ? 1 : 0;
        cleave_codec_get_words(decoder.get(), 0, words.data(), split);
        cleave_codec_get_words(decoder.get(), split, words.data() + split, payload - split);
        for (uint32_t i = 0; i < payload; ++i) ASSERT_EQ(words[i], record[i + 1]);
      }
      EXPECT_TRUE(plain->at_end());
      EXPECT_FALSE(decoder->failed);
      EXPECT_TRUE(cleave_codec_at_end(decoder.get()));
      before = std::move(plain);
    }
  }
}

TEST(Codec, RepeatedRecordsCostTheirCodesAlone) {
  auto codec = std::make_unique<cleave_codec>();
  cleave_codec_clear(codec.get());
  std::vector<std::vector<uint64_t>> records(100,
                                             {0x555555558000 | uint64_t{1} << 48, 0x7fff00001000, 5, 0, 7});
  uint64_t once = encode(*codec, {records[0]}).size();
  cleave_codec_clear(codec.get());
  // The first record of a header is told after another one before; from the third on all is as predicted.
  EXPECT_LT(encode(*codec, records).size(), 3 * once + 3 * 97);
}

TEST(Codec, AnyBytesDecodeOrFail) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes(random() % 200);  // its own allocation: a sanitizer sees a byte too many
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    auto codec = std::make_unique<cleave_codec>();
    // Half of them begin as a body would.
    uint32_t middle = bytes.size() > 12 ? 4 + static_cast<uint32_t>(random() % (bytes.size() - 11)) : 0;
    if (middle != 0 && round % 2 == 0) memcpy(bytes.data(), &middle, 4);
    cleave_codec_clear(codec.get());
    cleave_codec_begin_reading(codec.get(), bytes.data(), bytes.size());
    for (int record = 0; record < 100 && !codec->failed; ++record) {
      cleave_codec_get_header(codec.get());
      uint64_t words[300];
      cleave_codec_get_words(codec.get(), 0, words, static_cast<uint32_t>(random() % (round % 3 ? 16 : 300)));
      ASSERT_LE(codec->next, bytes.data() + bytes.size());
    }
  }
}

}  // namespace
}  // namespace cleave::test
