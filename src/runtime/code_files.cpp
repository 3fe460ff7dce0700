// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudacore/object_code.hpp"
#include "driver/descriptor.hpp"
#include "signature/bytes.hpp"

// Object code in files: only the bytes, so that other tools can read them too.

namespace cudacore {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_file_error(const char* what, const fs::path& path, int error) {
  throw fs::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

std::vector<std::byte> read_file(const fs::path& path) {
  constexpr char failed[] = "cannot read object code";
  const driver::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw_file_error(failed, path, errno);
  constexpr std::size_t pipe_size = std::size_t{1} << 16U;  // a pipe's own size is 0
  const bool has_size = S_ISREG(status.st_mode) && status.st_size > 0;
  const std::size_t expected = has_size ? static_cast<std::size_t>(status.st_size) : pipe_size;
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  std::vector<std::byte> code;
  if (!driver::read_all(file.get(), expected, any, code)) throw_file_error(failed, path, errno);
  return code;
}

/// The code type of an ELF file, for a GPU or for the host.
CodeType type_of_elf(std::string_view text) {
  constexpr std::size_t type_offset = 16;
  constexpr std::uint16_t relocatable = 1;
  std::array<std::uint16_t, 2> type_and_machine{};
  if (text.size() >= type_offset + sizeof(type_and_machine)) {
    std::memcpy(type_and_machine.data(), text.data() + type_offset, sizeof(type_and_machine));
  }
  if (type_and_machine[1] == signature::elf_machine_cuda) return CodeType::cubin;
  return type_and_machine[0] == relocatable ? CodeType::object : CodeType::library;
}

/// `file` is for messages.
CodeType type_of(std::string_view text, const std::string& file) {
  using namespace std::string_view_literals;
  if (text.starts_with(signature::elf_magic)) return type_of_elf(text);
  if (text.starts_with(signature::fatbin_magic)) return CodeType::fatbin;
  if (text.starts_with("\xed\x43\x4e\x7f"sv)) return CodeType::ltoir;
  if (text.starts_with("!<arch>\n"sv)) return CodeType::library;
  const std::string_view trimmed = text.substr(0, text.find('\0'));
  if (trimmed.find(".version"sv) != std::string_view::npos) return CodeType::ptx;
  throw std::invalid_argument(
      "ObjectCode.load: " + file +
      " is not PTX, a cubin, a fat binary, LTO IR, a host object or a library; compile source text "
      "with Program");
}

/// The end of a chain of links; the last link may lead to a file that doesn't exist yet.
fs::path end_of_links(const fs::path& path) {
  constexpr int most = 40;  // the limit that Linux uses
  fs::path end = path;
  for (int links = 0; links < most; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(end, error);
    if (error) return end;  // not a link
    end = end.parent_path() / next;
  }
  throw_file_error("cannot write object code", path, ELOOP);
}

}  // namespace

ObjectCode ObjectCode::from_file(const fs::path& path, CodeType type, Details details) {
  std::vector<std::byte> code = read_file(path);
  if (details.name.empty()) details.name = path.filename().string();
  return {std::move(code), type, std::move(details)};
}

ObjectCode ObjectCode::load(const fs::path& path, Details details) {
  std::vector<std::byte> code = read_file(path);
  const CodeType type = type_of(signature::text_of(code), path.string());
  if (details.name.empty()) details.name = path.filename().string();
  return {std::move(code), type, std::move(details)};
}

ObjectCode ObjectCode::detect(std::vector<std::byte> code, Details details) {
  const CodeType type =
      type_of(signature::text_of(code), details.name.empty() ? "the code" : details.name);
  return {std::move(code), type, std::move(details)};
}

void ObjectCode::save(const fs::path& path) const {
  constexpr char failed[] = "cannot write object code";
  constexpr ::mode_t readable = 0666;  // minus the umask
  std::error_code unknown;
  const fs::file_status there = fs::status(path, unknown);
  // Pipes and devices are written to directly; nothing replaces them.
  fs::path target = end_of_links(path);
  const bool is_file = fs::is_regular_file(there);
  // The link of an open descriptor may name a file that was deleted or never had a name.
  const bool is_special = fs::exists(there) && !(is_file && fs::exists(target, unknown));
  if (is_special) target = path;
  // In the same folder, so that it can be renamed.
  const fs::path draft = is_special ? path : target.parent_path() / driver::draft_name();
  const int creation = is_special ? (is_file ? O_TRUNC : 0) : O_CREAT | O_EXCL;
  driver::Descriptor file(::open(draft.c_str(), O_WRONLY | O_CLOEXEC | creation, readable));
  if (!file) throw_file_error(failed, errno == EEXIST ? draft : path, errno);
  int error = driver::write_all(file.get(), code());
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (!is_special) {
    if (error == 0 && ::rename(draft.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(draft.c_str());
  }
  if (error != 0) throw_file_error(failed, path, error);
}

}  // namespace cudacore
