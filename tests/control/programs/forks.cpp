// A child process in the middle of a controlled run: it runs as it likes, its parent goes on under control.
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>

std::mutex mutex;
int counter;

int main() {
  std::thread other([] {
    for (int i = 0; i < 10; ++i) {
      std::lock_guard guard(mutex);
      ++counter;
    }
  });
  pid_t child = fork();
  if (child == 0) {
    int own = 0;
    std::thread grandchild([&] { own = 41; });
    grandchild.join();
    _exit(own + 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 2;
  other.join();
  return WIFEXITED(status) && WEXITSTATUS(status) == 42 && counter == 10 ? 0 : 1;
}
