// The declarations of a text trace: what its events do not say of threads, variables, objects, sites.
#pragma once

#include "trace/text/text_names.h"

namespace cleave {

class TextDeclarations : protected TextNames {
 protected:
  // A line's trailing key=value words, its place and its expression, as they come.
  struct Trailer {
    std::optional<SiteInfo> place;
    SiteId site = kNone<SiteId>;
    SymbolicInfo symbolic;
  };
  explicit TextDeclarations(std::string_view place) : TextNames(place) {}

  bool declaration(std::string_view keyword, WordSplitter& words);
  bool site_attribute(Trailer& trailer, std::string_view key, std::string_view value);
  bool place(Trailer& trailer, std::string_view word);

 private:
  bool at_end(WordSplitter& words);
  bool declare_initial(std::string_view word, WordSplitter& words);
  bool declare_set(std::string_view word, WordSplitter& words);
  bool enter(Names& names, std::string_view word, uint32_t id);
  bool declare_thread(std::string_view word, WordSplitter& words);
  bool declare_variable(std::string_view word, WordSplitter& words);
  bool declare_object(std::string_view word, WordSplitter& words);
  bool declare_outer(uint32_t id, WordSplitter& words);
  bool declare_sync(std::string_view word, WordSplitter& words);
  bool declare_site(std::string_view word, WordSplitter& words);
  bool declare_context(std::string_view word, WordSplitter& words);
  bool declare_unit(std::string_view word, WordSplitter& words);
  template <typename Take>
  bool attributes(WordSplitter& words, Take take);
};

}  // namespace cleave
