// Sockets that lead to other processes. What comes through them is noted with the schedule; a replay asks
// nobody: it gives back what came then, and lets what is sent go nowhere. So a server is replayed without its
// clients.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "runtime/record/file.h"
#include "runtime/schedule/control_outside.h"

namespace cleave::runtime {
namespace {

enum Kind : uint8_t { kUnknown, kInside, kOutside };
constexpr int kDescriptors = 1 << 16;
std::atomic<uint8_t> kinds[kDescriptors];

Kind look(int descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (system_call(SYS_getsockopt, descriptor, SOL_SOCKET, SO_DOMAIN, reinterpret_cast<long>(&domain),
                  reinterpret_cast<long>(&size)) == 0)
    return domain == AF_INET || domain == AF_INET6 ? kOutside : kInside;
  struct stat about;
  if (descriptor != 0 || system_call(SYS_fstat, descriptor, reinterpret_cast<long>(&about)) != 0)
    return kInside;
  return S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode) ? kOutside : kInside;
}

bool is_random_device(int descriptor) {
  struct stat about;
  if (system_call(SYS_fstat, descriptor, reinterpret_cast<long>(&about)) != 0) return false;
  return S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 &&
         (minor(about.st_rdev) == 8 || minor(about.st_rdev) == 9);
}

// In a replay nobody connects: an unconnected socket stands where the connection stood.
void stand_in(int descriptor, int flags) {
  long made = system_call(SYS_socket, AF_INET, SOCK_STREAM | (flags & (SOCK_NONBLOCK | SOCK_CLOEXEC)), 0);
  if (made < 0 || made == descriptor) return;
  dup3(static_cast<int>(made), descriptor, flags & SOCK_CLOEXEC ? O_CLOEXEC : 0);
  system_call(SYS_close, made);
}

void take_address(ControlThread* self, sockaddr* address, socklen_t* length, socklen_t room) {
  if (address == nullptr || length == nullptr) return;
  take(self, length, sizeof *length);
  take(self, address, *length < room ? *length : room);
}

template <typename Call>
int accept_from(int socket, sockaddr* address, socklen_t* length, int flags, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  socklen_t room = length != nullptr ? *length : 0;
  Answer answer = ask(self, socket, POLLIN, call);
  if (answer.result < 0) return -1;
  int made = static_cast<int>(answer.result);
  if (control.replaying) stand_in(made, flags);
  mark_outside(made);
  take_address(self, address, length, room);
  return made;
}

// Bytes that came, into one buffer.
template <typename Call>
ssize_t receive(int descriptor, void* bytes, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr || !is_outside(descriptor)) return on_descriptor(descriptor, POLLIN, call);
  Answer answer = ask(self, descriptor, POLLIN, call);
  take(self, bytes, answer.result);
  return answer.result;
}

void take_pieces(ControlThread* self, const iovec* pieces, size_t count, int64_t size) {
  for (size_t i = 0; i < count && size > 0; ++i) {
    int64_t here =
        static_cast<int64_t>(pieces[i].iov_len) < size ? static_cast<int64_t>(pieces[i].iov_len) : size;
    take(self, pieces[i].iov_base, here);
    size -= here;
  }
}

// Sending: outside it counts how much was taken; inside it goes through at once, as ever.
template <typename Call>
ssize_t send_to(int socket, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr || socket <= 2 || !is_outside(socket)) return call();
  return ask(self, socket, POLLOUT, call).result;
}

// A question about a socket that is not the same one in a replay.
template <typename Call>
int ask_about(int socket, Call call, void* bytes, socklen_t* length) {
  ControlThread* self = controlled_self();
  if (self == nullptr || !is_outside(socket)) return call();
  socklen_t room = length != nullptr ? *length : 0;
  Answer answer = answer_of(self, false, call);
  if (answer.result == 0 && length != nullptr) {
    take(self, length, sizeof *length);
    take(self, bytes, *length < room ? *length : room);
  }
  return static_cast<int>(answer.result);
}

}  // namespace

bool would_block(int descriptor, short events) {
  pollfd one{descriptor, events, 0};
  timespec now{};
  if (system_call(SYS_ppoll, reinterpret_cast<long>(&one), 1, reinterpret_cast<long>(&now), 0, 8) != 0)
    return false;
  return (system_call(SYS_fcntl, descriptor, F_GETFL) & O_NONBLOCK) == 0;
}

bool is_outside(int descriptor) {
  if (descriptor < 0 || descriptor >= kDescriptors) return false;
  uint8_t kind = kinds[descriptor].load(std::memory_order_relaxed);
  if (kind == kUnknown) kinds[descriptor].store(kind = look(descriptor), std::memory_order_relaxed);
  return kind == kOutside;
}

void pin_descriptors(ControlThread* self) {
  constexpr int kFirst = 3, kMost = 64;
  uint64_t open_now = 0;
  for (int i = kFirst; i < kMost; ++i)
    if (i != trace_descriptor() && system_call(SYS_fcntl, i, F_GETFD) >= 0) open_now |= UINT64_C(1) << i;
  uint64_t open_then = open_now;
  pin(self, CLEAVE_PINNED_INPUT, &open_then, sizeof open_then);
  for (int i = kFirst; i < kMost; ++i) {
    bool now = open_now >> i & 1, then = open_then >> i & 1;
    if (now && !then) system_call(SYS_close, i);
    if (now || !then || i == trace_descriptor()) continue;
    long nothing = system_call(SYS_open, reinterpret_cast<long>("/dev/null"), O_RDWR);
    if (nothing < 0 || nothing == i) continue;
    system_call(SYS_dup2, nothing, i);
    system_call(SYS_close, nothing);
  }
}

void mark_outside(int descriptor) {
  if (descriptor >= 0 && descriptor < kDescriptors)
    kinds[descriptor].store(kOutside, std::memory_order_relaxed);
}

void forget_descriptor(int descriptor) {
  if (descriptor >= 0 && descriptor < kDescriptors)
    kinds[descriptor].store(kUnknown, std::memory_order_relaxed);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int accept(int socket, sockaddr* address, socklen_t* length) {
  return accept_from(socket, address, length, 0, [=] { return REAL(accept)(socket, address, length); });
}
INTERPOSE int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
  return accept_from(socket, address, length, flags,
                     [=] { return REAL(accept4)(socket, address, length, flags); });
}
INTERPOSE int connect(int socket, const sockaddr* address, socklen_t length) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(connect)(socket, address, length);
  mark_outside(socket);
  point(self, CLEAVE_POINT_call_out);
  return static_cast<int>(
      answer_of(self, true, [=] { return REAL(connect)(socket, address, length); }).result);
}

INTERPOSE ssize_t read(int descriptor, void* bytes, size_t size) {
  ssize_t result = receive(descriptor, bytes, [=] { return REAL(read)(descriptor, bytes, size); });
  ControlThread* self = controlled_self();
  if (self != nullptr && result > 0 && is_random_device(descriptor))
    pin(self, CLEAVE_PINNED_RANDOM, bytes, static_cast<uint64_t>(result));
  return result;
}
INTERPOSE ssize_t readv(int descriptor, const iovec* pieces, int count) {
  auto call = [=] { return REAL(readv)(descriptor, pieces, count); };
  ControlThread* self = controlled_self();
  if (self == nullptr || !is_outside(descriptor)) return on_descriptor(descriptor, POLLIN, call);
  Answer answer = ask(self, descriptor, POLLIN, call);
  take_pieces(self, pieces, static_cast<size_t>(count), answer.result);
  return answer.result;
}
INTERPOSE ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  return receive(socket, bytes, [=] { return REAL(recv)(socket, bytes, size, flags); });
}
INTERPOSE ssize_t recvfrom(int socket, void* bytes, size_t size, int flags, sockaddr* from,
                           socklen_t* length) {
  socklen_t room = length != nullptr ? *length : 0;
  ssize_t result =
      receive(socket, bytes, [=] { return REAL(recvfrom)(socket, bytes, size, flags, from, length); });
  ControlThread* self = controlled_self();
  if (self != nullptr && result >= 0 && is_outside(socket)) take_address(self, from, length, room);
  return result;
}
INTERPOSE ssize_t recvmsg(int socket, msghdr* message, int flags) {
  auto call = [=] { return REAL(recvmsg)(socket, message, flags); };
  ControlThread* self = controlled_self();
  if (self == nullptr || !is_outside(socket)) return on_descriptor(socket, POLLIN, call);
  socklen_t room = message->msg_namelen;
  Answer answer = ask(self, socket, POLLIN, call);
  if (answer.result < 0) return -1;
  take_pieces(self, message->msg_iov, message->msg_iovlen, answer.result);
  take(self, &message->msg_flags, sizeof message->msg_flags);
  take_address(self, static_cast<sockaddr*>(message->msg_name), &message->msg_namelen, room);
  take(self, &message->msg_controllen, sizeof message->msg_controllen);
  take(self, message->msg_control, static_cast<int64_t>(message->msg_controllen));
  return answer.result;
}

INTERPOSE ssize_t write(int descriptor, const void* bytes, size_t size) {
  return send_to(descriptor, [=] { return REAL(write)(descriptor, bytes, size); });
}
INTERPOSE ssize_t writev(int descriptor, const iovec* pieces, int count) {
  return send_to(descriptor, [=] { return REAL(writev)(descriptor, pieces, count); });
}
INTERPOSE ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  return send_to(socket, [=] { return REAL(send)(socket, bytes, size, flags); });
}
INTERPOSE ssize_t sendto(int socket, const void* bytes, size_t size, int flags, const sockaddr* to,
                         socklen_t length) {
  return send_to(socket, [=] { return REAL(sendto)(socket, bytes, size, flags, to, length); });
}
INTERPOSE ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return send_to(socket, [=] { return REAL(sendmsg)(socket, message, flags); });
}

INTERPOSE int getpeername(int socket, sockaddr* address, socklen_t* length) {
  return ask_about(socket, [=] { return REAL(getpeername)(socket, address, length); }, address, length);
}
INTERPOSE int getsockname(int socket, sockaddr* address, socklen_t* length) {
  return ask_about(socket, [=] { return REAL(getsockname)(socket, address, length); }, address, length);
}
INTERPOSE int getsockopt(int socket, int level, int option, void* value, socklen_t* length) {
  return ask_about(
      socket, [=] { return REAL(getsockopt)(socket, level, option, value, length); }, value, length);
}
INTERPOSE int shutdown(int socket, int how) {
  return ask_about(socket, [=] { return REAL(shutdown)(socket, how); }, nullptr, nullptr);
}
