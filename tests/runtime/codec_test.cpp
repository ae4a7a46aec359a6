// The codec of abi/codec.h: the fast functions and the ones that define the bytes agree, and nothing that a file may
// hold makes the decoder read outside of it.
#include "abi/codec.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace cleave::test {
namespace {


uint64_t some_word(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: return 0;
    case 1: return random() % 300;
    case 2: return 0x555555560000 + random() % 4096 * 8;
    case 3: return 0x7ffff7000000 + random() % 64 * 8;
    case 4: {
      double value = static_cast<double>(random() % 1000) * 0.25;
      uint64_t word;
      memcpy(&word, &value, sizeof word);
      return word;
    }
    default: return random() >> (random() % 64);
  }
}

std::vector<std::vector<uint64_t>> some_records(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<uint64_t>> records;
  uint64_t lengths[40];
  for (uint64_t& length : lengths) length = random() % 9;
  for (size_t i = 0; i < count; ++i) {
    uint64_t which = random() % 8 ? i % 5 : random() % 40;
    uint64_t branches = random() % 4 ? 1 : random() % 65535 + 1;
    std::vector<uint64_t> record{(which < 20 ? 0x555555558000 + 4 * which : which) | branches << 48};
    for (uint64_t k = 0; k < lengths[which]; ++k) record.push_back(some_word(random));
    records.push_back(record);
  }
  return records;
}

std::vector<uint8_t> encode(const std::vector<std::vector<uint64_t>>& records, bool fast) {
  auto codec = std::make_unique<cleave_codec>();
  uint64_t bound = 0;
  for (const auto& record : records) bound += cleave_codec_bound(record.size());
  std::vector<uint8_t> bytes(bound);
  cleave_codec_start(codec.get(), bytes.data(), bytes.size());
  for (const auto& record : records) {
    const uint8_t* before = codec->next;
    if (fast) {
      cleave_codec_put_record(codec.get(), record.data(), static_cast<uint32_t>(record.size() - 1));
    } else {
      cleave_codec_put_header(codec.get(), record[0]);
      for (uint32_t i = 1; i < record.size(); ++i) cleave_codec_put_word(codec.get(), record[0], i - 1, record[i]);
    }
    EXPECT_LE(codec->next + 8, before + cleave_codec_bound(record.size()));
  }
  bytes.resize(static_cast<size_t>(codec->next - bytes.data()));
  return bytes;
}

TEST(Codec, FastAndDefiningFunctionsAgree) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto records = some_records(seed, 300);
    std::vector<uint8_t> bytes = encode(records, true);
    ASSERT_EQ(bytes, encode(records, false)) << seed;
    auto word_by_word = std::make_unique<cleave_codec>(), at_once = std::make_unique<cleave_codec>();
    cleave_codec_start(word_by_word.get(), bytes.data(), bytes.size());
    cleave_codec_start(at_once.get(), bytes.data(), bytes.size());
    for (const auto& record : records) {
      ASSERT_EQ(cleave_codec_get_header(word_by_word.get()), record[0]);
      ASSERT_EQ(cleave_codec_get_header(at_once.get()), record[0]);
      auto payload = static_cast<uint32_t>(record.size() - 1);
      std::vector<uint64_t> words(payload + 1);
      uint32_t split = payload ? static_cast<uint32_t>(seed) % (payload + 1) : 0;  // counted records come in two parts
      cleave_codec_get_words(at_once.get(), record[0], 0, words.data(), split);
      cleave_codec_get_words(at_once.get(), record[0], split, words.data() + split, payload - split);
      for (uint32_t i = 0; i < payload; ++i) {
        ASSERT_EQ(words[i], record[i + 1]);
        ASSERT_EQ(cleave_codec_get_word(word_by_word.get(), record[0], i), record[i + 1]);
      }
    }
    EXPECT_FALSE(word_by_word->failed || at_once->failed);
    EXPECT_EQ(word_by_word->next, bytes.data() + bytes.size());
    EXPECT_EQ(at_once->next, bytes.data() + bytes.size());
  }
}

TEST(Codec, AnyBytesDecodeOrFail) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes(random() % 200);  // its own allocation: a sanitizer sees a byte too many
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    auto codec = std::make_unique<cleave_codec>();
    cleave_codec_start(codec.get(), bytes.data(), bytes.size());
    for (int record = 0; record < 100 && !codec->failed; ++record) {
      uint64_t header = cleave_codec_get_header(codec.get());
      uint64_t words[16];
      cleave_codec_get_words(codec.get(), header, 0, words, static_cast<uint32_t>(random() % 16));
      ASSERT_LE(codec->next, bytes.data() + bytes.size());
    }
  }
}

}  // namespace
}  // namespace cleave::test
