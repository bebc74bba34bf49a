#include "ckpt/parts_export.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "machine/temp_file.h"
#include "netcdf/netcdf_form.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

// Stands for the count of a rank that no part knows.
constexpr uint64_t unknown = UINT64_MAX;

const CkptVariable& variable_of(const std::vector<CkptVariable>& variables,
                                const std::string& name) {
  for (const CkptVariable& one : variables)
    if (one.name == name) return one;
  fail("variable '{}' is missing", name);
}

}  // namespace

PartsExport::PartsExport(const CkptSet& set, const CkptVersion& version,
                         std::vector<CkptPart> parts, const std::string& path, bool may_replace,
                         bool with_copies)
    : set_(set),
      version_(version),
      parts_(std::move(parts)),
      path_(path),
      may_replace_(may_replace),
      with_copies_(with_copies),
      variables_(set.variables(version.info.number)),
      rendezvous_(path, set, version),
      reader_(set, version.info.number),
      progress_(path, 1) {
  const bool has_own = std::any_of(parts_.begin(), parts_.end(), [](const CkptPart& one) {
    return one.presence == CAIRN_PART_OWN;
  });
  with_copies_ = with_copies_ || !has_own;
  for (const CkptPart& one : parts_)
    if (is_of_share(one)) share_bytes_ += one.bytes;
}

bool PartsExport::is_of_share(const CkptPart& part) const {
  return part.presence == CAIRN_PART_OWN || (part.presence == CAIRN_PART_COPY && with_copies_);
}

PartsExport::State PartsExport::step() {
  if (!content_) {
    if (!gather_counts()) return State::waits_for_counts;
    content_.emplace(set_, version_, counts_);
    meet();
  }
  if (!write_share()) return State::interrupted;
  progress_.hide();
  if (find_missing()) {
    if (rendezvous_.is_published()) return State::completed_by_another;
    return State::waits_for_parts;
  }
  return rendezvous_.publish(may_replace_) ? State::completed : State::completed_by_another;
}

// ---- how many elements the ranks have

// Lists, by name of variable, {rank, elements} for each rank of the part and, for ragged arrays,
// {first cell, cells, values} for each row of cells.
Json PartsExport::own_counts(const CkptPart& part) {
  const int64_t number = version_.info.number;
  Json all = {{"ranks", Json::object()}, {"rows", Json::object()}};
  for (const CkptVariable& one : variables_) {
    if (!one.is_counted()) continue;
    Json& of_ranks = all["ranks"][one.name] = Json::array();
    for (const CkptPiece& piece : set_.pieces(number, one, part.number))
      of_ranks.push_back({piece.rank, piece.count[0]});
    if (one.counting() != Counting::by_lists) continue;
    const CkptVariable& over = variable_of(variables_, one.over);
    Json& of_cells = all["rows"][one.name] = Json::array();
    for_each_cell_rows(&reader_, over, set_.pieces(number, over, part.number),
                       [&](const Slab&, const std::vector<CellRow>& rows) {
                         for (const CellRow& row : rows)
                           of_cells.push_back({row.first, row.cells, row.values});
                         return true;
                       });
  }
  return all;
}

void PartsExport::take_counts(const Json& counts) {
  for (auto& [name, of_ranks] : counts_)
    for (const Json& one : counts.at("ranks").at(name))
      of_ranks.at(one.at(0).get<size_t>()) = one.at(1).get<uint64_t>();
  for (auto& [name, rows] : rows_)
    for (const Json& one : counts.at("rows").at(name))
      rows.add({one.at(0).get<uint64_t>(), one.at(1).get<uint64_t>(), one.at(2).get<uint64_t>()});
}

// False: some are missing.
bool PartsExport::gather_counts() {
  rows_.clear();
  for (const CkptVariable& one : variables_) {
    if (one.is_counted()) counts_[one.name].assign(version_.info.ranks, unknown);
    if (one.counting() == Counting::by_lists) rows_[one.name] = {};
  }
  if (counts_.empty()) return true;
  missing_.clear();
  for (const CkptPart& part : parts_) {
    const bool is_there = rendezvous_.has_counts(part.number);
    if (!is_there && is_of_share(part)) {
      rendezvous_.leave_counts(part.number, own_counts(part));
    } else if (!is_there) {
      missing_.push_back(part.host);
    }
  }
  if (!missing_.empty()) return false;
  for (const CkptPart& part : parts_) {
    try {
      take_counts(rendezvous_.counts_of(part.number));
    } catch (const std::exception& error) {
      fail("{}: the counts of part {} are damaged ({}); remove the directory", rendezvous_.path(),
           part.number, error.what());
    }
  }
  find_places();
  return true;
}

// Finds where the elements of each rank and the lists of each row of cells begin.
void PartsExport::find_places() {
  for (const auto& [name, of_ranks] : counts_) {
    bool is_whole = std::find(of_ranks.begin(), of_ranks.end(), unknown) == of_ranks.end();
    std::exclusive_scan(of_ranks.begin(), of_ranks.end(), std::back_inserter(firsts_[name]),
                        uint64_t{0});
    if (const auto rows = rows_.find(name); is_whole && rows != rows_.end()) {
      const CkptVariable& over = variable_of(variables_, variable_of(variables_, name).over);
      is_whole = rows->second.finish(over.elements(), firsts_[name].back() + of_ranks.back());
    }
    if (!is_whole)
      fail("{}: the counts of '{}' do not fit together; remove the directory", rendezvous_.path(),
           name);
  }
}

// ---- the file

void PartsExport::meet() {
  constexpr int most_rounds = 10;  // others begin anew as well
  for (int round = 0; round < most_rounds; ++round) {
    if (rendezvous_.open_files()) return;
    make_files();
  }
  fail("{}: other processes remove what is there", rendezvous_.path());
}

void PartsExport::make_files() {
  std::vector<ExportRendezvous::ExportedFile> files;
  for (const bool is_beside : {true, false}) {
    if (is_beside && !content_->has_beside()) continue;
    ExportRendezvous::ExportedFile file = rendezvous_.new_file(is_beside);
    if (is_beside) check_may_create(path_ + beside_suffix, may_replace_);
    const std::vector<NetcdfPlace> places = content_->make_skeleton(file.data, is_beside);
    // Variables that the version does not have are written here.
    write_and_compare(file.data, path_, *content_, [&](const PutBytes& put) {
      for (const NetcdfPlace& place : places)
        if (const std::vector<int64_t>* const values = content_->values(place.variable))
          put(place.variable, reinterpret_cast<const uint8_t*>(values->data()),
              values->size() * sizeof(int64_t), place.offset);
      return true;
    });
    for (const NetcdfPlace& place : places)
      file.places[content_->variables()[place.variable].name] = place.offset;
    file.bytes = static_cast<uint64_t>(file.data.status().st_size);
    files.push_back(std::move(file));
  }
  rendezvous_.offer_files(files);
}

// ---- the parts

bool PartsExport::write_share() {
  for (const uint32_t presence : {CAIRN_PART_OWN, CAIRN_PART_COPY}) {
    for (const CkptPart& part : parts_) {
      if (part.presence != presence || !is_of_share(part) || damaged_.contains(part.number))
        continue;
      try {
        if (!write_part(part)) return false;
      } catch (const Error& error) {
        if (rendezvous_.is_published()) return true;  // its directory is gone
        if (presence == CAIRN_PART_OWN) throw;
        damaged_.insert(part.number);
        warn(fmt::format("the copy of the part of host {}: {}", part.host, error.what()));
      }
    }
  }
  return true;
}

void PartsExport::check_place(const ExportRendezvous::ExportedFile& file, size_t variable,
                              uint64_t offset) const {
  const CkptVariable& one = content_->variables()[variable];
  if (offset > file.bytes || one.elements() > (file.bytes - offset) / content_->unit(variable))
    fail("{}: the place of variable '{}' is not in the file; remove the directory",
         rendezvous_.path(), one.name);
}

// False: a signal came.
bool PartsExport::write_part(const CkptPart& part) {
  // When the file gets its name, the notes of parts go.
  const auto is_done = [&] { return rendezvous_.has_part(part.number) || !rendezvous_.is_open(); };
  if (is_done()) return true;
  const std::optional<DataFile> lock = rendezvous_.lock_part(part.number);
  if (!lock || is_done()) return true;
  for (const ExportRendezvous::ExportedFile& file : rendezvous_.files()) {
    if (file.data.descriptor() < 0) continue;  // it has its name already
    const bool is_written =
        write_and_compare(file.data, path_, *content_, [&](const PutBytes& put) {
          for (size_t i = 0; i < content_->variables().size(); ++i) {
            const auto place = file.places.find(content_->variables()[i].name);
            if (place == file.places.end() || content_->values(i) != nullptr) continue;
            check_place(file, i, place->second);
            if (!put_variable(part, i, place->second, put)) return false;
          }
          return true;
        });
    if (!is_written) return false;
  }
  rendezvous_.mark_part(part.number);
  return true;
}

// Shows how far it is. False: a signal came.
bool PartsExport::note(size_t variable, uint64_t elements) {
  done_ += elements * content_->variables()[variable].element_size;
  progress_.show(std::min(done_ / 2, share_bytes_), share_bytes_);  // written, and read back
  return stop_signal() == 0;
}

// All of these return false if a signal came.
bool PartsExport::put_variable(const CkptPart& part, size_t variable, uint64_t offset,
                               const PutBytes& put) {
  const CkptVariable& one = content_->variables()[variable];
  if (one.counting() == Counting::by_lists) return put_lists(part, variable, offset, put);
  for (const CkptPiece& piece : set_.pieces(version_.info.number, one, part.number)) {
    if (one.is_counted())
      put_of_rank(piece, variable, offset, put);
    else
      put_box(piece, variable, offset, put);
    if (stop_signal() != 0) return false;
  }
  return true;
}

void PartsExport::put_box(const CkptPiece& piece, size_t variable, uint64_t offset,
                          const PutBytes& put) {
  const CkptVariable& one = content_->variables()[variable];
  const uint64_t unit = content_->unit(variable);
  reader_.for_each_slab_of(one, piece, [&](const Slab& slab, const uint8_t* elements) {
    const uint8_t* from = content_->in_file(variable, elements, slab.elements, &converted_);
    for_each_run(one.shape, slab, [&](uint64_t first, uint64_t count) {
      put(variable, from, count * unit, offset + first * unit);
      from += count * unit;
    });
    return note(variable, slab.elements);
  });
}

void PartsExport::put_of_rank(const CkptPiece& piece, size_t variable, uint64_t offset,
                              const PutBytes& put) {
  const CkptVariable& one = content_->variables()[variable];
  const uint64_t unit = content_->unit(variable);
  const uint64_t first = firsts_.at(one.name).at(piece.rank);
  reader_.for_each_slab_of_rank(one, piece, [&](const Slab& slab, const uint8_t* elements) {
    put(variable, content_->in_file(variable, elements, slab.elements, &converted_),
        slab.elements * unit, offset + (first + slab.first) * unit);
    return note(variable, slab.elements);
  });
}

bool PartsExport::put_lists(const CkptPart& part, size_t variable, uint64_t offset,
                            const PutBytes& put) {
  const CkptVariable& one = content_->variables()[variable];
  const CkptVariable& over = variable_of(content_->variables(), one.over);
  const ListRows& places = rows_.at(one.name);
  const uint64_t unit = content_->unit(variable);
  for_each_cell_rows(&reader_, over, set_.pieces(version_.info.number, over, part.number),
                     [&](const Slab& cells, const std::vector<CellRow>& rows) {
                       uint64_t all = 0;
                       for (const CellRow& row : rows) all += row.values;
                       auto row = rows.begin();
                       uint64_t had = 0;  // of this row
                       reader_.for_each_slab_of_lists(
                           one, cells, all, [&](const Slab& slab, const uint8_t* elements) {
                             const uint8_t* from =
                                 content_->in_file(variable, elements, slab.elements, &converted_);
                             for (uint64_t left = slab.elements; left != 0;) {
                               const uint64_t n = std::min(left, row->values - had);
                               if (n != 0)
                                 put(variable, from, n * unit,
                                     offset + (places.place_of(*row) + had) * unit);
                               from += n * unit;
                               left -= n;
                               had += n;
                               if (had != row->values) continue;
                               ++row;
                               had = 0;
                             }
                             return note(variable, slab.elements);
                           });
                       return stop_signal() == 0;
                     });
  return stop_signal() == 0;
}

// Are there any?
bool PartsExport::find_missing() {
  missing_.clear();
  has_copies_of_missing_ = false;
  for (const uint32_t number : rendezvous_.missing_parts(static_cast<uint32_t>(parts_.size()))) {
    const CkptPart& part = parts_[number];
    missing_.push_back(part.host);
    if (part.presence == CAIRN_PART_COPY && !with_copies_) has_copies_of_missing_ = true;
  }
  return !missing_.empty();
}

}  // namespace cairn::cli
