// The head of every record: written when a record is complete, checked before a record is trusted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/sha256.h"
#include "base/status.h"

namespace cairn::checkpoint {

// Stores magic, version, length and checksum into the first bytes of a record of `size` bytes; its
// feature bits stay as they are.
void seal_record(void* record, size_t size, const char* magic);

// Returns the length of the record that begins here; `size` bytes are available. EUCLEAN: not a
// record of that kind, or damaged. EPROTONOSUPPORT: a newer Cairn wrote it.
Result<uint64_t> check_record(const uint8_t* record, size_t size, const char* magic,
                              uint64_t longest);

// Returns the hash that names a DECOMPOSITION or a LAYOUT.
Sha256Hash content_hash(const uint8_t* record, size_t size);

}  // namespace cairn::checkpoint
