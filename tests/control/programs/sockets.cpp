// Threads that talk through a pipe and a socket pair: real blocking calls.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

int received;

int main() {
  int ends[2], sockets[2];
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 2;
  std::thread reader([&] {
    char byte;
    while (read(ends[0], &byte, 1) == 1) {
      ++received;
      if (send(sockets[1], &byte, 1, 0) != 1) return;
    }
  });
  std::thread writer([&] {
    for (char byte = 0; byte < 10; ++byte) {
      if (write(ends[1], &byte, 1) != 1) return;
      pollfd answer{sockets[0], POLLIN, 0};
      poll(&answer, 1, -1);
      char back;
      if (recv(sockets[0], &back, 1, 0) != 1 || back != byte) _exit(3);
    }
    close(ends[1]);
  });
  reader.join();
  writer.join();
  return received == 10 ? 0 : 1;
}
