#include "file/inode/shape.h"

#include <cassert>

#include "pool/lanes/epoch.h"

namespace cairn::file {
namespace {

// Notes the inode in the seat, so that its shape becomes even again if the seat's owner dies.
unsigned begin_change(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number) {
  unsigned note = 0;
  while (note < std::size(seat.words->shaped) && seat.words->shaped[note].load_relaxed() != 0)
    ++note;
  assert(note < std::size(seat.words->shaped));
  fs.pool.store(seat.words->shaped[note], number);
  // The shape is odd for the holder of the lock only after damage.
  if (is_changing(inode)) fs.pool.fetch_add(inode.shape, 1);
  // A locked instruction makes the change visible before the seats are read.
  fs.pool.fetch_add(inode.shape, 1);
  return note;
}

void end_change(FileSystem& fs, LocalSeat& seat, Inode& inode, unsigned note) {
  // The shape is flushed because its line may have been flushed while it was odd, and a clean
  // detach must leave it even.
  fs.pool.store_flush(inode.shape, inode.shape.load() + 1);
  fs.pool.store(seat.words->shaped[note], 0);
}

}  // namespace

void wait_for_shape(FileSystem& fs, pool::SeatGuard& seat, Inode& inode, uint64_t number) {
  pool::Waiter waiter(fs.pool);
  do {
    seat.pause_writing();
    while (is_changing(inode)) {
      const uint64_t shape = inode.shape.load();
      const uint64_t owner = inode.lock.load();
      // A process that changes the shape holds the inode's lock while the shape is odd; here only
      // damage can have left it so.
      if (uint64_t held = shape; (shape & 1) != 0 && pool::is_void(fs.pool, owner) &&
                                 fs.pool.compare_exchange(inode.shape, held, shape + 1))
        break;
      waiter.wait_for_lock(owner);
    }
    seat.resume_writing(fs.pool, number);
  } while (is_changing(inode));
}

ShapeChange::ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number)
    : fs_(fs), seat_(seat), inode_(inode), note_(begin_change(fs, seat, inode, number)) {
  pool::wait_for_writers(fs.pool, seat, number);
}

ShapeChange::ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number,
                         int patience_ms)
    : fs_(fs),
      seat_(seat),
      inode_(inode),
      note_(begin_change(fs, seat, inode, number)),
      is_alone_(pool::wait_for_writers(fs.pool, seat, number, patience_ms)) {}

ShapeChange::~ShapeChange() { end_change(fs_, seat_, inode_, note_); }

DirectoryChange::DirectoryChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number)
    : fs_(fs), seat_(seat), inode_(inode), note_(begin_change(fs, seat, inode, number)) {}

DirectoryChange::~DirectoryChange() { end_change(fs_, seat_, inode_, note_); }

}  // namespace cairn::file
