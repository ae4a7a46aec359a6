#include "pass/record/ranges.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include <map>

namespace cleave {

using namespace llvm;

namespace {

using Kind = RangeLength::Kind;

// One range of a library function: which argument, how long. -1: no such argument. The pointer of a write may
// be the result of the call (kResult).
struct Rule {
  bool write;
  int address;
  Kind length;
  int count = -1, text = -1, other = -1;
};

constexpr int kResult = 100;

const std::vector<Rule>* rules_of(StringRef name) {
  static const std::vector<Rule> copy = {{false, 1, Kind::Bytes, 2}, {true, 0, Kind::Bytes, 2}};
  static const std::vector<Rule> copy_back = {{false, 0, Kind::Bytes, 2}, {true, 1, Kind::Bytes, 2}};
  static const std::vector<Rule> fill = {{true, 0, Kind::Bytes, 2}};
  static const std::vector<Rule> clear = {{true, 0, Kind::Bytes, 1}};
  static const std::vector<Rule> compare = {{false, 0, Kind::Bytes, 2}, {false, 1, Kind::Bytes, 2}};
  static const std::vector<Rule> search = {{false, 0, Kind::Bytes, 2}};
  static const std::vector<Rule> one_string = {{false, 0, Kind::String, -1, 0}};
  static const std::vector<Rule> two_strings = {{false, 0, Kind::String, -1, 0},
                                                {false, 1, Kind::String, -1, 1}};
  static const std::vector<Rule> bounded = {{false, 0, Kind::BoundedString, 1, 0}};
  static const std::vector<Rule> string_copy = {{false, 1, Kind::String, -1, 1},
                                                {true, 0, Kind::String, -1, 0}};
  static const std::vector<Rule> bounded_copy = {{false, 1, Kind::BoundedString, 2, 1},
                                                 {true, 0, Kind::Bytes, 2}};
  static const std::vector<Rule> append = {
      {false, 0, Kind::String, -1, 0}, {false, 1, Kind::String, -1, 1}, {true, 0, Kind::String, -1, 0}};
  static const std::vector<Rule> bounded_append = {
      {false, 0, Kind::String, -1, 0}, {false, 1, Kind::BoundedString, 2, 1}, {true, 0, Kind::String, -1, 0}};
  static const std::vector<Rule> string_compare = {{false, 0, Kind::ShorterString, -1, 0, 1},
                                                   {false, 1, Kind::ShorterString, -1, 0, 1}};
  static const std::vector<Rule> bounded_compare = {{false, 0, Kind::ShorterBounded, 2, 0, 1},
                                                    {false, 1, Kind::ShorterBounded, 2, 0, 1}};
  static const std::vector<Rule> duplicate = {{false, 0, Kind::String, -1, 0},
                                              {true, kResult, Kind::ReturnedString}};
  static const std::vector<Rule> bounded_duplicate = {{false, 0, Kind::BoundedString, 1, 0},
                                                      {true, kResult, Kind::ReturnedString}};
  static const std::vector<Rule> input = {{true, 1, Kind::Result}};
  static const std::vector<Rule> input_items = {{true, 0, Kind::ResultTimes, 1}};
  static const std::vector<Rule> input_line = {{true, kResult, Kind::ReturnedString}};
  static const std::vector<Rule> print = {{true, 0, Kind::Printed}};
  static const std::vector<Rule> bounded_print = {{true, 0, Kind::Printed, 1}};
  static const std::map<StringRef, const std::vector<Rule>*> all = {{"memcpy", &copy},
                                                                    {"memmove", &copy},
                                                                    {"mempcpy", &copy},
                                                                    {"__memcpy_chk", &copy},
                                                                    {"__memmove_chk", &copy},
                                                                    {"__mempcpy_chk", &copy},
                                                                    {"bcopy", &copy_back},
                                                                    {"memset", &fill},
                                                                    {"__memset_chk", &fill},
                                                                    {"bzero", &clear},
                                                                    {"explicit_bzero", &clear},
                                                                    {"memcmp", &compare},
                                                                    {"bcmp", &compare},
                                                                    {"memchr", &search},
                                                                    {"memrchr", &search},
                                                                    {"strlen", &one_string},
                                                                    {"strnlen", &bounded},
                                                                    {"strchr", &one_string},
                                                                    {"strrchr", &one_string},
                                                                    {"strchrnul", &one_string},
                                                                    {"index", &one_string},
                                                                    {"rindex", &one_string},
                                                                    {"strstr", &two_strings},
                                                                    {"strcasestr", &two_strings},
                                                                    {"strspn", &two_strings},
                                                                    {"strcspn", &two_strings},
                                                                    {"strpbrk", &two_strings},
                                                                    {"strcpy", &string_copy},
                                                                    {"__strcpy_chk", &string_copy},
                                                                    {"stpcpy", &string_copy},
                                                                    {"__stpcpy_chk", &string_copy},
                                                                    {"strncpy", &bounded_copy},
                                                                    {"__strncpy_chk", &bounded_copy},
                                                                    {"stpncpy", &bounded_copy},
                                                                    {"strcat", &append},
                                                                    {"__strcat_chk", &append},
                                                                    {"strncat", &bounded_append},
                                                                    {"__strncat_chk", &bounded_append},
                                                                    {"strcmp", &string_compare},
                                                                    {"strcasecmp", &string_compare},
                                                                    {"strcoll", &string_compare},
                                                                    {"strncmp", &bounded_compare},
                                                                    {"strncasecmp", &bounded_compare},
                                                                    {"strdup", &duplicate},
                                                                    {"__strdup", &duplicate},
                                                                    {"strndup", &bounded_duplicate},
                                                                    {"__strndup", &bounded_duplicate},
                                                                    {"read", &input},
                                                                    {"pread", &input},
                                                                    {"pread64", &input},
                                                                    {"recv", &input},
                                                                    {"recvfrom", &input},
                                                                    {"fread", &input_items},
                                                                    {"fgets", &input_line},
                                                                    {"sprintf", &print},
                                                                    {"vsprintf", &print},
                                                                    {"snprintf", &bounded_print},
                                                                    {"vsnprintf", &bounded_print}};
  auto known = all.find(name);
  return known == all.end() ? nullptr : known->second;
}

Value* argument(CallBase& call, int index) {
  if (index < 0) return nullptr;
  if (index == kResult) return &call;
  return static_cast<unsigned>(index) < call.arg_size() ? call.getArgOperand(static_cast<unsigned>(index))
                                                        : nullptr;
}

std::optional<Range> apply(const Rule& rule, CallBase& call) {
  auto fits = [](int index, Value* value, bool pointer) {
    return index < 0 || (value != nullptr &&
                         (pointer ? value->getType()->isPointerTy() : value->getType()->isIntegerTy()));
  };
  Range range{
      rule.write,
      argument(call, rule.address),
      {rule.length, argument(call, rule.count), argument(call, rule.text), argument(call, rule.other)}};
  if (!fits(rule.address, range.address, true) || !fits(rule.count, range.length.count, false) ||
      !fits(rule.text, range.length.text, true) || !fits(rule.other, range.length.other, true)) {
    return std::nullopt;  // a function of that name that is not the library's
  }
  if (rule.length == Kind::ReturnedString) range.length.text = &call;
  if (rule.length == Kind::Result || rule.length == Kind::ResultTimes || rule.length == Kind::Printed) {
    range.length.other = &call;
    if (!call.getType()->isIntegerTy()) return std::nullopt;
  }
  if (rule.length == Kind::ReturnedString && !call.getType()->isPointerTy()) return std::nullopt;
  return range;
}

// Argument and size of what the function fills in. The sizes are those of the one platform there is.
struct Behind {
  unsigned argument;
  uint64_t bytes;
};
const Behind* behind_of(StringRef name) {
  static const std::map<StringRef, Behind> all = {{"gettimeofday", {0, sizeof(timeval)}},
                                                  {"time", {0, sizeof(time_t)}},
                                                  {"clock_gettime", {1, sizeof(timespec)}},
                                                  {"clock_getres", {1, sizeof(timespec)}},
                                                  {"localtime_r", {1, sizeof(tm)}},
                                                  {"gmtime_r", {1, sizeof(tm)}},
                                                  {"stat", {1, sizeof(struct stat)}},
                                                  {"lstat", {1, sizeof(struct stat)}},
                                                  {"fstat", {1, sizeof(struct stat)}},
                                                  {"fstatat", {2, sizeof(struct stat)}},
                                                  {"stat64", {1, sizeof(struct stat)}},
                                                  {"lstat64", {1, sizeof(struct stat)}},
                                                  {"fstat64", {1, sizeof(struct stat)}},
                                                  {"getrusage", {1, sizeof(rusage)}},
                                                  {"pipe", {0, 2 * sizeof(int)}},
                                                  {"pipe2", {0, 2 * sizeof(int)}},
                                                  {"socketpair", {3, 2 * sizeof(int)}},
                                                  {"pthread_create", {0, sizeof(pthread_t)}},
                                                  {"pthread_join", {1, sizeof(void*)}},
                                                  {"pthread_key_create", {0, sizeof(pthread_key_t)}},
                                                  {"sem_getvalue", {1, sizeof(int)}},
                                                  {"sigwait", {1, sizeof(int)}},
                                                  {"wait", {0, sizeof(int)}},
                                                  {"waitpid", {1, sizeof(int)}},
                                                  {"strtol", {1, sizeof(char*)}},
                                                  {"strtoul", {1, sizeof(char*)}},
                                                  {"strtoll", {1, sizeof(char*)}},
                                                  {"strtoull", {1, sizeof(char*)}},
                                                  {"strtod", {1, sizeof(char*)}},
                                                  {"strtof", {1, sizeof(char*)}}};
  auto known = all.find(name);
  return known == all.end() ? nullptr : &known->second;
}

FunctionCallee library(IRBuilder<>& builder, StringRef name, ArrayRef<Type*> parameters) {
  Module* module = builder.GetInsertBlock()->getModule();
  return module->getOrInsertFunction(name, FunctionType::get(builder.getInt64Ty(), parameters, false));
}

Value* text_length(IRBuilder<>& builder, Value* text, Value* bound) {
  Value* length;
  if (bound == nullptr) {
    length = builder.CreateCall(library(builder, "strlen", {builder.getPtrTy()}), {text});
    return builder.CreateAdd(length, builder.getInt64(1));
  }
  bound = builder.CreateZExtOrTrunc(bound, builder.getInt64Ty());
  length = builder.CreateCall(library(builder, "strnlen", {builder.getPtrTy(), builder.getInt64Ty()}),
                              {text, bound});
  return builder.CreateAdd(length,
                           builder.CreateZExt(builder.CreateICmpULT(length, bound), builder.getInt64Ty()));
}

Value* smaller(IRBuilder<>& builder, Value* left, Value* right) {
  return builder.CreateSelect(builder.CreateICmpULT(left, right), left, right);
}

Value* positive(IRBuilder<>& builder, Value* result) {
  Value* wide = builder.CreateSExtOrTrunc(result, builder.getInt64Ty());
  return builder.CreateSelect(builder.CreateICmpSGT(wide, builder.getInt64(0)), wide, builder.getInt64(0));
}

}  // namespace

std::vector<Range> ranges_of(CallBase& call) {
  std::vector<Range> ranges;
  if (auto* memory = dyn_cast<AnyMemIntrinsic>(&call)) {
    RangeLength length{Kind::Bytes, memory->getLength(), nullptr, nullptr};
    if (auto* copy = dyn_cast<AnyMemTransferInst>(memory))
      ranges.push_back({false, copy->getRawSource(), length});
    ranges.push_back({true, memory->getRawDest(), length});
    return ranges;
  }
  const auto* callee = dyn_cast<Function>(call.getCalledOperand());
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() || isa<InvokeInst>(call))
    return ranges;
  const std::vector<Rule>* rules = rules_of(callee->getName());
  if (rules == nullptr) return ranges;
  for (const Rule& rule : *rules) {
    std::optional<Range> range = apply(rule, call);
    if (!range) return {};
    ranges.push_back(*range);
  }
  return ranges;
}

std::vector<Range> results_behind_pointers(CallBase& call) {
  const auto* callee = dyn_cast<Function>(call.getCalledOperand());
  if (callee == nullptr || !callee->isDeclaration() || call.isMustTailCall()) return {};
  const Behind* behind = behind_of(callee->getName());
  if (behind == nullptr || behind->argument >= call.arg_size()) return {};
  Value* address = call.getArgOperand(behind->argument);
  if (!address->getType()->isPointerTy() || isa<ConstantPointerNull>(address)) return {};
  Range range{true, address, {Kind::Object, nullptr, address, nullptr}};
  range.length.bytes = behind->bytes;
  return {range};
}

Value* emit_length(IRBuilder<>& builder, const RangeLength& length) {
  Type* word = builder.getInt64Ty();
  switch (length.kind) {
    case Kind::Bytes:
      return builder.CreateZExtOrTrunc(length.count, word);
    case Kind::String:
      return text_length(builder, length.text, nullptr);
    case Kind::BoundedString:
      return text_length(builder, length.text, length.count);
    case Kind::ShorterString:
      return smaller(builder, text_length(builder, length.text, nullptr),
                     text_length(builder, length.other, nullptr));
    case Kind::ShorterBounded:
      return smaller(builder, text_length(builder, length.text, length.count),
                     text_length(builder, length.other, length.count));
    case Kind::Result:
      return positive(builder, length.other);
    case Kind::ResultTimes:
      return builder.CreateMul(positive(builder, length.other),
                               builder.CreateZExtOrTrunc(length.count, word));
    case Kind::Printed: {
      Value* printed = builder.CreateAdd(positive(builder, length.other), builder.getInt64(1));
      return length.count == nullptr
                 ? printed
                 : smaller(builder, printed, builder.CreateZExtOrTrunc(length.count, word));
    }
    case Kind::Object:
      return builder.CreateSelect(builder.CreateIsNull(length.text), builder.getInt64(0),
                                  builder.getInt64(length.bytes));
    case Kind::ReturnedString: {
      // strnlen of nothing is nothing, whatever the pointer.
      Value* bound = builder.CreateSelect(builder.CreateIsNull(length.text), builder.getInt64(0),
                                          builder.getInt64(INT64_MAX));
      return text_length(builder, length.text, bound);
    }
  }
  llvm_unreachable("every kind of length is above");
}

}  // namespace cleave
