// SPDX-License-Identifier: Apache-2.0
#include "compile/headers_read.hpp"

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include <fcntl.h>
#include <sys/stat.h>

#include "compile/descriptor.hpp"
#include "compile/header_mentions.hpp"
#include "compile/provided_headers.hpp"

namespace cudacore::compile {
namespace {

constexpr std::size_t most_texts = 20'000;
constexpr std::size_t largest_header = std::size_t{64} << 20U;

/// Of a path without a slash, "": the current folder.
std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash + 1));
}

std::string in_folder(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path.append(name);
}

/// Where the compiler may look, and what is there.
class HeaderSearch {
 public:
  HeaderSearch(KeyHash& hash, const SourceTexts& given, const FlagEffects& flags,
               const std::function<std::vector<std::string>()>& cuda_folders)
      : hash_(hash.content),
        file_hash_(hash.files),
        given_(given),
        flags_(flags),
        cuda_folders_(cuda_folders),
        source_folder_(folder_of(given.name)) {}

  std::string run() {
    for (const std::string& expression : given_.name_expressions) add(expression, source_folder_);
    for (const std::string& macro : flags_.macros) add(macro, source_folder_);
    add(given_.code, source_folder_);
    for (const auto& [name, text] : given_.headers) add(text, folder_of(name));
    for (const std::string& name : flags_.pre_includes) look_for({name, true}, "");
    do {
      read_texts();
      follow_macros();
    } while (trouble_.empty() && next_ < texts_.size());
    return trouble_;
  }

 private:
  struct Text {
    std::string_view content;
    std::string folder;  ///< where its quoted includes are searched first
  };
  /// `#include NAME`, and the folder of the text that has it.
  using MacroInclude = std::pair<std::string, std::string>;

  void add(std::string_view content, std::string folder) {
    if (texts_.size() == most_texts) return trouble("it may include too many headers");
    texts_.push_back({content, std::move(folder)});
  }

  void trouble(std::string why) {
    if (trouble_.empty()) trouble_ = std::move(why);
  }

  void read_texts() {
    for (; next_ < texts_.size() && trouble_.empty(); ++next_) {
      const Text text = texts_[next_];
      HeaderMentions mentions = header_mentions(text.content);
      if (!mentions.trouble.empty()) return trouble("the text " + mentions.trouble);
      for (const HeaderMention& header : mentions.headers) look_for(header, text.folder);
      for (std::string& macro : mentions.macros) macros_.emplace(std::move(macro), text.folder);
    }
  }

  /// Looks for what the macros that are included may stand for. A word that no text defines is
  /// prose, in a comment.
  void follow_macros() {
    std::set<MacroInclude> waiting = macros_;
    std::set<MacroInclude> done;
    while (!waiting.empty() && trouble_.empty()) {
      const MacroInclude include = *waiting.begin();
      waiting.erase(waiting.begin());
      if (!done.insert(include).second) continue;
      const auto& [macro, folder] = include;
      if (macro.starts_with("__FILE") || macro.starts_with("__BASE")) {
        return trouble("the text includes " + macro);
      }
      for (const MacroBody& body : definitions(macro)) {
        if (body.header) {
          look_for(*body.header, folder);
        } else if (!body.macro.empty()) {
          waiting.emplace(body.macro, folder);
        } else {
          return trouble("the text includes what the macro " + macro + " makes");
        }
      }
    }
  }

  [[nodiscard]] std::vector<MacroBody> definitions(const std::string& macro) const {
    std::vector<MacroBody> all;
    for (const Text& text : texts_) {
      for (MacroBody& body : definitions_of(macro, text.content)) all.push_back(std::move(body));
    }
    for (const std::string& flag : flags_.macros) {
      const std::size_t equals = flag.find('=');
      const std::string_view name = std::string_view(flag).substr(0, equals);
      if (name != macro && !name.starts_with(macro + "(")) continue;
      const bool is_plain = name == macro && equals != std::string::npos;
      all.push_back(is_plain ? macro_body(std::string_view(flag).substr(equals + 1)) : MacroBody{});
    }
    return all;
  }

  void look_for(const HeaderMention& header, const std::string& folder) {
    const std::string& name = header.name;
    if (name.empty() || name.find('\0') != std::string::npos) return;
    if (!looked_for_.insert((header.is_quoted ? folder : "<") + '\n' + name).second) return;
    hash_.add(name);
    if (const auto text = provided_header(name); text && provided_.insert(name).second) {
      add(*text, "");
    }
    if (name.starts_with('/')) return read("", name);
    if (header.is_quoted) read(folder, name);
    read(source_folder_, name);
    for (const std::string& place : flags_.folders) read(place, name);
    if (!cuda_) {
      cuda_ = cuda_folders_();
      for (const std::string& place : *cuda_) hash_.add(place);
    }
    for (const std::string& place : *cuda_) read(place, name);
  }

  /// Whether the first folder of a name exists; if not, nothing in it does.
  bool has_first_folder(const std::string& folder, std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0) return true;
    const std::string first = in_folder(folder, name.substr(0, slash));
    const auto [known, is_new] = is_there_.emplace(first, true);
    if (is_new) {
      struct stat status {};
      const bool is_missing = ::stat(first.c_str(), &status) != 0;
      known->second = !is_missing || (errno != ENOENT && errno != ENOTDIR);
    }
    return known->second;
  }

  /// Adds what is at a place to the hash.
  void read(const std::string& folder, const std::string& name) {
    constexpr std::uint64_t nothing = 0;
    if (!trouble_.empty()) return;
    if (!has_first_folder(folder, name)) return hash_.add_number(nothing);
    const std::string path = in_folder(folder, name);
    const auto [seen, is_new] = paths_.emplace(path, nothing);
    if (is_new) seen->second = open_header(path);
    hash_.add_number(seen->second);
  }

  /// A number for what is at a path; adds a header's content to the hash the first time.
  std::uint64_t open_header(const std::string& path) {
    enum : std::uint64_t { nothing, folder, refused, first_header };
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) {
      const int error = errno;
      if (error == ENOENT || error == ENOTDIR) return nothing;
      if (error == EACCES || error == ENAMETOOLONG || error == ELOOP) return refused;
      trouble("cannot open " + path + ": " + std::generic_category().message(error));
      return nothing;
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) status.st_mode = 0;
    if (S_ISDIR(status.st_mode)) return folder;
    if (!S_ISREG(status.st_mode)) {
      trouble(path + " is not a regular file");
      return nothing;
    }
    const std::string canonical =
        in_folder(real_folder(folder_of(path)), path.substr(path.rfind('/') + 1));
    const auto [known, is_new] = files_.emplace(canonical, first_header + files_.size());
    if (!is_new) return known->second;
    auto content = std::make_unique<std::string>();
    if (!read_all(file.get(), static_cast<std::size_t>(status.st_size), largest_header, *content)) {
      trouble("cannot read " + path);
      return nothing;
    }
    hash_.add(canonical);
    hash_.add(*content);
    for (const timespec& time : {status.st_mtim, status.st_ctim}) {
      file_hash_.add_number(static_cast<std::uint64_t>(time.tv_sec));
      file_hash_.add_number(static_cast<std::uint64_t>(time.tv_nsec));
    }
    file_hash_.add_number(status.st_ino);
    contents_.push_back(std::move(content));
    add(*contents_.back(), folder_of(canonical));
    return known->second;
  }

  /// A folder without links and dots, so that headers that include each other don't make ever
  /// longer paths.
  const std::string& real_folder(const std::string& folder) {
    const auto [known, is_new] = real_folders_.emplace(folder, "");
    if (is_new) {
      const std::unique_ptr<char, decltype(&std::free)> real(
          ::realpath(folder.empty() ? "." : folder.c_str(), nullptr), &std::free);
      if (real == nullptr) trouble("cannot follow the path " + folder);
      known->second = real == nullptr ? folder : std::string(real.get()) + "/";
    }
    return known->second;
  }

  FieldHash& hash_;
  FieldHash& file_hash_;
  const SourceTexts& given_;
  const FlagEffects& flags_;
  const std::function<std::vector<std::string>()>& cuda_folders_;
  std::string source_folder_;
  std::optional<std::vector<std::string>> cuda_;

  std::deque<Text> texts_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<std::string>> contents_;
  std::set<MacroInclude> macros_;
  std::unordered_set<std::string> looked_for_;
  std::unordered_set<std::string> provided_;
  std::unordered_map<std::string, bool> is_there_;
  std::unordered_map<std::string, std::uint64_t> paths_;
  std::unordered_map<std::string, std::uint64_t> files_;
  std::unordered_map<std::string, std::string> real_folders_;
  std::string trouble_;
};

}  // namespace

std::string hash_headers(KeyHash& hash, const SourceTexts& texts, const FlagEffects& flags,
                         const std::function<std::vector<std::string>()>& cuda_folders) {
  return HeaderSearch(hash, texts, flags, cuda_folders).run();
}

}  // namespace cudacore::compile
