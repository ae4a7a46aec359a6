// Depends on something from outside that nobody pins: the contents of a file.
#include <cstdio>

int values[4];

int main(int, char** arguments) {
  std::FILE* file = std::fopen(arguments[1], "r");
  int count = 0;
  if (file == nullptr || std::fscanf(file, "%d", &count) != 1) return 2;
  std::fclose(file);
  for (int i = 0; i < count; ++i) values[i & 3] += i;
  return 0;
}
