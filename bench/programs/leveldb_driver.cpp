// leveldb under two threads: each writes, reads back, overwrites and scans its part and the shared one.
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  long operations = argc > 2 ? std::atol(argv[2]) : 20000;
  leveldb::DB* db = nullptr;
  leveldb::Options options;
  options.create_if_missing = true;
  options.compression = leveldb::kNoCompression;
  leveldb::DestroyDB(argv[1], options);
  if (!leveldb::DB::Open(options, argv[1], &db).ok()) return 3;
  long found[2] = {};
  auto work = [&](int index) {
    unsigned long state = 77 + static_cast<unsigned long>(index);
    std::string value;
    for (long i = 0; i < operations; ++i) {
      state = state * 6364136223846793005ul + 1442695040888963407ul;
      std::string key = "key" + std::to_string((state >> 40) % 5000);
      if (state >> 61 < 3)
        db->Put(leveldb::WriteOptions(), key, std::string(100, static_cast<char>('a' + i % 26)));
      else
        found[index] += db->Get(leveldb::ReadOptions(), key, &value).ok();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  std::printf("%d\n", found[0] + found[1] > 0);
  delete db;
}
