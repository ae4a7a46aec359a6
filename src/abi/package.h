/* What a binary carries of each of its modules beside its code: this header, the encoded site tables, the
 * bitcode packed with zstd, zero bytes up to a multiple of 8.
 *
 * The section's name is one of the few that LLVM makes a section for that is not loaded. Its neighbour
 * .llvmbc will not do: LLVM's linker plugin, which `ar` and `ld` load by themselves, takes every file that
 * has one for bitcode. */
#ifndef CLEAVE_ABI_PACKAGE_H
#define CLEAVE_ABI_PACKAGE_H

#include <stdint.h>

#define CLEAVE_PACKAGE_MAGIC UINT64_C(0x314342564c430a7f) /* "\x7f\nCLVBC1" */

#define CLEAVE_PACKAGE_SECTION ".llvmcmd"

struct cleave_package_header {
  uint64_t magic;
  uint64_t identity; /* cleave_module.identity */
  uint64_t table_bytes;
  uint64_t packed_bytes;  /* of the bitcode, as stored */
  uint64_t bitcode_bytes; /* of the bitcode, unpacked */
};

#ifdef __cplusplus
static_assert(sizeof(cleave_package_header) == 40);
#endif
#endif
