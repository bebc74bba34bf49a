// The head of every record: made when a record is complete, checked before one is believed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/sha256.h"
#include "base/status.h"

namespace cairn::checkpoint {

// Stores magic, version, length and checksum into the first bytes of a record of `size` bytes; its
// feature bits are left alone.
void seal_record(void* record, size_t size, const char* magic);

// The length of the record that begins here. `size`: bytes that there are. EUCLEAN: this is not a
// record of that kind, or it is damaged. EPROTONOSUPPORT: a newer Cairn wrote it.
Result<uint64_t> check_record(const uint8_t* record, size_t size, const char* magic,
                              uint64_t longest);

// What a DECOMPOSITION or a LAYOUT is named by.
Sha256Hash content_hash(const uint8_t* record, size_t size);

}  // namespace cairn::checkpoint
