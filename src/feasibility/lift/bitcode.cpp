#include "feasibility/lift/bitcode.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Support/MemoryBuffer.h>

namespace cleave {

llvm::Module* Bitcode::module(const ProgramModule& from) {
  auto it = modules_.find(from.identity);
  if (it == modules_.end()) {
    std::unique_ptr<llvm::Module> loaded;
    if (Result<std::vector<uint8_t>> bytes = from.bitcode(); bytes.ok()) {
      llvm::StringRef text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
      auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "cleave"), context_);
      if (parsed) {
        loaded = std::move(*parsed);
      } else {
        llvm::consumeError(parsed.takeError());
      }
    }
    it = modules_.emplace(from.identity, std::move(loaded)).first;
    if (it->second) identities_[it->second.get()] = from.identity;
  }
  return it->second.get();
}

llvm::Function* Bitcode::function(uint64_t identity, const std::string& linkage) {
  const ProgramModule* from = program_.find(identity);
  llvm::Module* in = from == nullptr ? nullptr : module(*from);
  llvm::Function* found = in == nullptr ? nullptr : in->getFunction(linkage);
  return found == nullptr || found->isDeclaration() ? nullptr : found;
}

llvm::Function* Bitcode::definition(const std::string& linkage, uint64_t preferred) {
  if (llvm::Function* found = function(preferred, linkage)) return found;
  for (const ProgramModule& from : program_.modules) {
    llvm::Function* found = function(from.identity, linkage);
    if (found != nullptr && !found->hasLocalLinkage()) return found;
  }
  return nullptr;
}

}  // namespace cleave
