#include "pass/name/debug_names.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Support/Path.h>

#include <array>

namespace cleave {

using namespace llvm;

std::string qualified_name(const DIScope* scope, StringRef name) {
  std::string result = name.str();
  for (; scope != nullptr; scope = scope->getScope()) {
    if (isa<DIFile>(scope) || isa<DICompileUnit>(scope)) break;
    if (isa<DISubprogram>(scope) || isa<DILexicalBlockBase>(scope)) {
      if (const auto* function = dyn_cast<DISubprogram>(scope)) {
        return qualified_name(function) + "::" + result;
      }
      continue;
    }
    if (const auto* space = dyn_cast<DINamespace>(scope)) {
      if (space->getExportSymbols() && !space->getName().empty())
        continue;  // inline namespaces are not written
      result = (space->getName().empty() ? "(anonymous namespace)" : space->getName().str()) + "::" + result;
    } else if (!scope->getName().empty()) {
      result = scope->getName().str() + "::" + result;
    }
  }
  return result;
}

namespace {

void replace_all(std::string& text, StringRef from, StringRef to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Takes out every argument that starts so (with its "<"), to its end.
void drop_arguments(std::string& text, StringRef start) {
  for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    size_t end = at + start.size();
    for (int depth = 1; end < text.size(); ++end) {
      char here = text[end];
      if (depth == 0 && (here == ',' || here == '>' || here == ' ')) break;
      depth += here == '<' ? 1 : here == '>' ? -1 : 0;
    }
    text.erase(at, end - at);
  }
}

// "(lambda at a.cpp:3:7)" becomes "(lambda)", and so do unnamed classes: what is called after a place of the
// source is called otherwise after every edit, and in every checkout.
void drop_places(std::string& text) {
  constexpr StringRef kAt = " at ";
  for (size_t at = text.find(kAt); at != std::string::npos; at = text.find(kAt, at + 1)) {
    StringRef before = StringRef(text).substr(0, at);
    size_t open = before.rfind('('), close = text.find(')', at);
    bool unnamed = open != StringRef::npos &&
                   any_of(std::array<StringRef, 3>{"lambda", "unnamed ", "anonymous "},
                          [&](StringRef word) { return before.substr(open + 1).starts_with(word); });
    // A file's name may have parentheses in it, too: the place ends with ":LINE:COLUMN)".
    while (close != std::string::npos && !isDigit(text[close - 1])) close = text.find(')', close + 1);
    if (unnamed && close != std::string::npos) text.erase(at, close - at);
  }
}

// Without the arguments of templates of the standard library that nobody writes: std::map<std::string, int>.
std::string as_written(std::string name) {
  drop_places(name);
  if (name.find('<') == std::string::npos || name.find("std::") == std::string::npos) return name;
  replace_all(name, "std::__cxx11::", "std::");
  replace_all(name, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  for (const char* argument : {", std::allocator<", ", std::less<", ", std::hash<", ", std::equal_to<",
                               ", std::default_delete<", ", std::char_traits<"})
    drop_arguments(name, argument);
  replace_all(name, " >", ">");
  return name;
}

}  // namespace

std::string qualified_name(const DIType* type) {
  if (type == nullptr) return "void";
  return as_written(qualified_name(type->getScope(), type->getName()));
}

std::string qualified_name(const DISubprogram* function) {
  if (const DISubprogram* declaration = function->getDeclaration()) function = declaration;
  return as_written(qualified_name(function->getScope(), function->getName()));
}

const DIType* plain(const DIType* type) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_template_alias:
      case dwarf::DW_TAG_member:
        type = derived->getBaseType();
        break;
      default:
        return type;
    }
  }
  return type;
}

const DICompositeType* as_class(const DIType* type) {
  const auto* composite = dyn_cast_or_null<DICompositeType>(plain(type));
  if (composite == nullptr) return nullptr;
  switch (composite->getTag()) {
    case dwarf::DW_TAG_class_type:
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_union_type:
      return composite;
    default:
      return nullptr;
  }
}

const DICompositeType* as_array(const DIType* type) {
  const auto* composite = dyn_cast_or_null<DICompositeType>(plain(type));
  return composite != nullptr && composite->getTag() == dwarf::DW_TAG_array_type ? composite : nullptr;
}

const DIType* pointee(const DIType* type) {
  const auto* derived = dyn_cast_or_null<DIDerivedType>(plain(type));
  if (derived == nullptr) return nullptr;
  switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return derived->getBaseType();
    default:
      return nullptr;
  }
}

namespace {

std::string spelled_array(const DICompositeType* array) {
  std::string result = spelled(array->getBaseType());
  for (const DINode* element : array->getElements()) {
    const auto* range = dyn_cast<DISubrange>(element);
    if (range == nullptr) continue;
    const auto* count = dyn_cast_if_present<ConstantInt*>(range->getCount());
    result += count != nullptr ? "[" + std::to_string(count->getZExtValue()) + "]" : "[]";
  }
  return result;
}

}  // namespace

std::string spelled(const DIType* type) {
  if (type == nullptr) return "void";
  if (const DICompositeType* array = dyn_cast<DICompositeType>(type);
      array != nullptr && array->getTag() == dwarf::DW_TAG_array_type) {
    return spelled_array(array);
  }
  if (isa<DISubroutineType>(type)) return "function";
  const auto* derived = dyn_cast<DIDerivedType>(type);
  if (derived == nullptr) return qualified_name(type);
  switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
      return spelled(derived->getBaseType()) + "*";
    case dwarf::DW_TAG_reference_type:
      return spelled(derived->getBaseType()) + "&";
    case dwarf::DW_TAG_rvalue_reference_type:
      return spelled(derived->getBaseType()) + "&&";
    case dwarf::DW_TAG_const_type:
      return "const " + spelled(derived->getBaseType());
    case dwarf::DW_TAG_volatile_type:
      return "volatile " + spelled(derived->getBaseType());
    case dwarf::DW_TAG_restrict_type:
      return spelled(derived->getBaseType());
    case dwarf::DW_TAG_atomic_type:
      return "_Atomic " + spelled(derived->getBaseType());
    case dwarf::DW_TAG_ptr_to_member_type:
      return "member pointer";
    case dwarf::DW_TAG_member:
      return spelled(derived->getBaseType());
    default:
      return qualified_name(type);
  }
}

std::string path_of(const DIFile* file) {
  if (file == nullptr) return {};
  SmallString<128> path(file->getFilename());
  if (!sys::path::is_absolute(path) && !file->getDirectory().empty()) {
    path = file->getDirectory();
    sys::path::append(path, file->getFilename());
  }
  // The compiler finds the library's headers by way of its own folder; a user's folders may be links.
  sys::path::remove_dots(path, /*remove_dot_dot=*/path.starts_with("/usr/"));
  return path.str().str();
}

bool is_system(const DIFile* file) {
  if (file == nullptr) return false;
  std::string path = path_of(file);
  return StringRef(path).starts_with("/usr/include/") || StringRef(path).starts_with("/usr/lib/") ||
         StringRef(path).starts_with("/usr/local/include/") || StringRef(path).starts_with("/usr/bin/");
}

}  // namespace cleave
