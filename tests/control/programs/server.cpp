// Two threads serve one connection each: what comes is counted and sent back. Exit status: the bytes that
// came, unless an update of the count was lost. The port is the first word, the number of connections the
// second.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

std::mutex mutex;
int total;

struct Connection {
  int descriptor;
};

void serve(Connection* connection) {
  int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = connection;  // an address, as many servers do it
  epoll_ctl(set, EPOLL_CTL_ADD, connection->descriptor, &event);
  char bytes[64];
  for (;;) {
    if (epoll_wait(set, &event, 1, -1) != 1) std::_Exit(101);
    int descriptor = static_cast<Connection*>(event.data.ptr)->descriptor;
    ssize_t got = recv(descriptor, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    {
      std::lock_guard guard(mutex);
      for (ssize_t i = 0; i < got; ++i) total += bytes[i] == 'x';
    }
    if (send(descriptor, bytes, static_cast<size_t>(got), 0) != got) std::_Exit(102);
  }
  close(connection->descriptor);
  close(set);
}

int main(int, char** words) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(words[1])));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 8) != 0)
    return 103;
  std::vector<Connection> connections(static_cast<size_t>(std::atoi(words[2])));
  std::vector<std::thread> threads;
  for (Connection& connection : connections) {
    pollfd one{listener, POLLIN, 0};
    if (poll(&one, 1, -1) != 1) return 104;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    connection.descriptor = accept(listener, reinterpret_cast<sockaddr*>(&from), &size);
    if (connection.descriptor < 0 || from.sin_family != AF_INET) return 105;
    threads.emplace_back(serve, &connection);
  }
  for (std::thread& thread : threads) thread.join();
  return total;
}
