#include "trace/core/describe.h"

#include <fmt/format.h>

#include "trace/core/no_value.h"
#include "trace/text/text_words.h"

namespace cleave {

std::string object_name(const Trace& names, const Event& event) {
  if (event.object == UINT32_MAX) return {};
  switch (object_meaning(event.kind)) {
    case ObjectMeaning::Variable: {
      const VariableInfo& info = names.variable(event.variable());
      if (info.object == kNone<ObjectId> || info.field.empty()) return info.name;
      // Account::balance of which account: Account#2.balance says both.
      return fmt::format("{}.{}", names.object(info.object).name, info.field);
    }
    case ObjectMeaning::Sync: {
      const std::string& name = names.sync(event.sync()).name;
      bool waits = event.kind == EventKind::Wait || event.kind == EventKind::Wake;
      return waits && event.object2 != UINT32_MAX ? fmt::format("{} {}", name, names.sync(event.mutex()).name)
                                                  : name;
    }
    case ObjectMeaning::Thread:
      return names.thread(event.other()).name;
    case ObjectMeaning::UnitName: {
      const std::string& name = names.unit_name(event.unit()).name;
      return event.object2 == UINT32_MAX ? name
                                         : fmt::format("{} on {}", name, names.object(event.self()).name);
    }
    case ObjectMeaning::Object:
      return names.object(event.allocation()).name;
    case ObjectMeaning::Input:
      return names.input_names()[event.object];
    case ObjectMeaning::None:
      break;
  }
  return {};
}

std::string place_of(const Trace& names, SiteId site) {
  if (site == kNone<SiteId>) return {};
  const SiteInfo& info = names.site(site);
  size_t slash = info.file.rfind('/');
  return fmt::format("{}:{}", slash == std::string::npos ? info.file : info.file.substr(slash + 1),
                     info.line);
}

std::string value_text(uint64_t value) {
  return value == kFreed ? std::string(kFreedWord) : fmt::format("{}", value);
}

std::string describe(const Trace& names, const Event& event) {
  std::string text = fmt::format("{} {}", names.thread(event.thread).name, word_of(event.kind));
  std::string object = object_name(names, event);
  if (!object.empty()) text += " " + object;
  if (is_access(event.kind)) text += " " + value_text(event.value);
  std::string place = place_of(names, event.site);
  return place.empty() ? text : fmt::format("{} ({})", text, place);
}

}  // namespace cleave
