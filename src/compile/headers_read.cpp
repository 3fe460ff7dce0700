// SPDX-License-Identifier: Apache-2.0
#include "compile/headers_read.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/header_mentions.hpp"
#include "compile/macro_definitions.hpp"
#include "compile/provided_headers.hpp"
#include "driver/descriptor.hpp"
#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

constexpr std::size_t most_texts = 20'000;
constexpr std::size_t most_names = 1000;
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

/// The text of `-DNAME=BODY`, as a directive.
std::unique_ptr<std::string> definition(std::string_view flag) {
  const std::size_t equals = flag.find('=');
  auto text = std::make_unique<std::string>("#define ");
  text->append(flag.substr(0, equals));
  text->append(equals == std::string_view::npos ? " 1" : " ");
  if (equals != std::string_view::npos) text->append(flag.substr(equals + 1));
  return text;
}

/// Where the compiler may look, and what is there.
class HeaderSearch {
 public:
  HeaderSearch(KeyHash& hash, const SourceTexts& given, const FlagEffects& flags,
               const std::function<std::vector<std::string>()>& cuda_folders)
      : hash_(hash.content),
        files_watched_(hash.files),
        given_(given),
        flags_(flags),
        cuda_folders_(cuda_folders),
        source_folder_(folder_of(given.name)) {}

  std::string run() {
    for (const std::string& expression : given_.name_expressions) add(expression, source_folder_);
    for (const std::string& macro : flags_.macros) add(keep(definition(macro)), source_folder_);
    add(given_.code, source_folder_);
    for (const auto& [name, text] : given_.headers) add(text, folder_of(name));
    for (const std::string& name : flags_.pre_includes) look_for({name, true}, "");
    do {
      read_texts();
      follow_queries();
      follow_macros();
      follow_words();
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

  /// Of each macro, the bodies that it may have.
  using Bodies = std::map<std::string, std::set<std::string>>;
  /// A macro that stands for __has_include.
  struct Query {
    std::string name;
    std::size_t next = 0;  ///< of the texts, the first that was not searched for it
  };

  void add(std::string_view content, std::string folder) {
    if (texts_.size() == most_texts) return trouble("it may include too many headers");
    std::optional<std::string> joined = joined_lines(content);
    if (joined) content = keep(std::make_unique<std::string>(*std::move(joined)));
    texts_.push_back({content, std::move(folder)});
    size_ += content.size();
  }

  /// Whether all texts may be searched once more.
  bool may_search() {
    constexpr std::size_t most_bytes = std::size_t{2} << 30U;
    searched_ += size_;
    if (searched_ > most_bytes) trouble("it has too many macros for headers");
    return trouble_.empty();
  }

  void trouble(std::string why) {
    if (trouble_.empty()) trouble_ = std::move(why);
  }

  void read_texts() {
    for (; next_ < texts_.size() && trouble_.empty(); ++next_) {
      const Text text = texts_[next_];
      take(header_mentions(text.content), text.folder);
    }
  }

  void take(HeaderMentions mentions, const std::string& folder) {
    if (!mentions.trouble.empty()) return trouble("the text " + mentions.trouble);
    for (const HeaderMention& header : mentions.headers) look_for(header, folder);
    for (std::string& macro : mentions.macros) macros_.emplace(std::move(macro), folder);
    for (std::string& query : mentions.queries) {
      const auto is_same = [&](const Query& known) { return known.name == query; };
      if (std::none_of(queries_.begin(), queries_.end(), is_same)) {
        queries_.push_back({std::move(query)});
      }
    }
  }

  /// Looks for what texts ask for with macros that stand for __has_include. More such macros and
  /// texts may appear meanwhile.
  void follow_queries() {
    for (Query& query : queries_) {
      for (; query.next < texts_.size() && trouble_.empty(); ++query.next) {
        const Text text = texts_[query.next];
        searched_ += text.content.size();
        take(mentions_by(query.name, text.content), text.folder);
      }
    }
  }

  /// Looks for what headers are called if words of their names are macros.
  void follow_words() {
    if (expanded_.empty()) return;
    std::set<std::string> words;
    const auto add_words = [&](const std::string& text) {
      const auto found = replaceable_words(text);
      if (found) words.insert(found->begin(), found->end());
      constexpr std::size_t most_letters = 100;
      if (!found) {
        trouble("macros may change the name of a header in " + text.substr(0, most_letters));
      }
    };
    for (const std::string& name : expanded_) add_words(name);
    Bodies bodies;
    constexpr std::size_t most_passes = 32;
    std::size_t passes = 0;
    for (std::size_t known = 0; known != words.size() && trouble_.empty();) {
      known = words.size();
      if (++passes > most_passes) trouble("the names of headers are made by too many macros");
      if (!may_search()) return;
      const std::vector<std::string> wanted(words.begin(), words.end());
      for (const Text& text : texts_) {
        for (const MacroDefinition& macro : definitions_in(wanted, text.content)) {
          if (macro.has_parameters()) continue;
          std::string body = macro.body();
          add_words(body);
          if (!trouble_.empty()) return;
          bodies[std::string(macro.name)].insert(std::move(body));
        }
      }
    }
    for (const std::string& word : words) {
      if (!bodies.contains(word) && may_be_predefined(word)) {
        return trouble("a header's name contains " + word + ", which may be a macro of NVRTC");
      }
    }
    std::set<std::string> within;
    for (const std::string& name : expanded_) {
      for (std::string& replaced : replacements(name, bodies, within)) {
        look_for({std::move(replaced), false}, "");
      }
    }
  }

  /// What a name becomes with each of the macros' bodies, or without.
  /// @param within the macros that are being replaced
  std::vector<std::string> replacements(const std::string& name, const Bodies& bodies,
                                        std::set<std::string>& within) {
    constexpr std::size_t deepest = 32;
    if (within.size() > deepest) trouble("the name of a header is made by too many macros");
    std::vector<std::string> all = {""};
    for (std::size_t i = 0; i < name.size() && trouble_.empty();) {
      std::size_t end = i;
      while (end < name.size() && is_identifier_char(name[end])) ++end;
      if (end == i) ++end;
      const std::string word = name.substr(i, end - i);
      i = end;
      std::vector<std::string> parts = {word};
      const auto macro = bodies.find(word);
      if (macro != bodies.end() && within.insert(word).second) {
        for (const std::string& body : macro->second) {
          for (std::string& part : replacements(body, bodies, within)) {
            parts.push_back(std::move(part));
          }
        }
        within.erase(word);
      }
      if (all.size() * parts.size() > most_names) trouble("a header may have too many names");
      if (!trouble_.empty()) break;
      std::vector<std::string> longer;
      for (const std::string& start : all) {
        for (const std::string& part : parts) longer.push_back(start + part);
      }
      all = std::move(longer);
    }
    return all;
  }

  /// Looks for what the macros that are included may stand for. A word that no text defines is
  /// prose, in a comment.
  void follow_macros() {
    std::set<MacroInclude> done;
    for (std::set<MacroInclude> waiting = macros_; !waiting.empty();) {
      std::set<std::string> names;
      for (const auto& [macro, folder] : waiting) {
        if (macro.starts_with("__FILE") || macro.starts_with("__BASE")) {
          return trouble("the text includes " + macro);
        }
        names.insert(macro);
      }
      const auto meanings = meanings_of({names.begin(), names.end()});
      done.merge(std::exchange(waiting, {}));
      for (const auto& [macro, folder] : done) {
        const auto [first, last] = meanings.equal_range(macro);
        if (first == last && names.contains(macro) && may_be_predefined(macro)) {
          return trouble("the text includes " + macro + ", which no text defines");
        }
        for (auto found = first; found != last; ++found) {
          const MacroMeaning& meaning = found->second;
          if (meaning.header) {
            look_for(*meaning.header, folder);
          } else if (meaning.macro.empty()) {
            return trouble("the text includes what the macro " + macro + " makes");
          } else if (!done.contains({meaning.macro, folder})) {
            waiting.emplace(meaning.macro, folder);
          }
        }
      }
    }
  }

  [[nodiscard]] std::multimap<std::string, MacroMeaning> meanings_of(
      const std::vector<std::string>& names) {
    std::multimap<std::string, MacroMeaning> meanings;
    if (!may_search()) return meanings;
    for (const Text& text : texts_) {
      for (const MacroDefinition& macro : definitions_in(names, text.content)) {
        meanings.emplace(macro.name, meaning_of(macro));
      }
    }
    return meanings;
  }

  void look_for(const HeaderMention& header, const std::string& folder) {
    const std::string& name = header.name;
    if (name.empty() || name.find('\0') != std::string::npos) return;
    if (header.is_expanded && !header.is_quoted) expanded_.insert(name);
    if (looked_for_.size() > most_texts) return trouble("it may include too many headers");
    if (!looked_for_.insert((header.is_quoted ? folder : "<") + '\n' + name).second) return;
    hash_.add(name);
    if (const auto text = provided_header(name); text && provided_.insert(name).second) {
      add(*text, "");
    }
    search(name, header.is_quoted, folder);
    // NVRTC's own suffix, for names without one.
    const bool has_suffix = name.find('.', name.rfind('/') + 1) != std::string::npos;
    if (!has_suffix) search(name + ".stdh", header.is_quoted, folder);
  }

  void search(const std::string& name, bool is_quoted, const std::string& folder) {
    if (name.starts_with('/')) return read("", name);
    if (is_quoted) read(folder, name);
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
    if (!has_first_folder(folder, name)) {
      files_watched_.add_folder(folder);
      return hash_.add_number(nothing);
    }
    const std::string path = in_folder(folder, name);
    const auto [seen, is_new] = paths_.emplace(path, nothing);
    if (is_new) {
      seen->second = open_header(path);
      if (seen->second == nothing) files_watched_.add_folder(folder_of(path));
    }
    hash_.add_number(seen->second);
  }

  /// A number for what is at a path; adds a header's content to the hash the first time.
  std::uint64_t open_header(const std::string& path) {
    enum : std::uint64_t { nothing, folder, refused, first_header };
    const driver::Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
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
    files_watched_.add_folder(folder_of(path));
    files_watched_.add_file(path);
    if (!is_new) return known->second;
    auto content = std::make_unique<std::string>();
    if (!driver::read_all(file.get(), static_cast<std::size_t>(status.st_size), largest_header,
                          *content)) {
      trouble("cannot read " + path);
      return nothing;
    }
    hash_.add(canonical);
    hash_.add(*content);
    // Of several names for a file, #pragma once reads the first.
    hash_.add_number(
        same_files_.emplace(std::pair(status.st_dev, status.st_ino), known->second).first->second);
    add(keep(std::move(content)), folder_of(canonical));
    return known->second;
  }

  std::string_view keep(std::unique_ptr<std::string> content) {
    contents_.push_back(std::move(content));
    return *contents_.back();
  }

  /// A folder without links and dots, so that headers that include each other don't make ever
  /// longer paths.
  const std::string& real_folder(const std::string& folder) {
    const auto [known, is_new] = real_folders_.emplace(folder, "");
    if (is_new) known->second = find_real_folder(folder);
    return known->second;
  }

  std::string find_real_folder(const std::string& folder) {
    // Most differ from their parents, which are known, by a plain name.
    const std::string path = folder.substr(0, folder.size() - (folder.ends_with('/') ? 1 : 0));
    const std::size_t slash = path.rfind('/');
    const std::string name = path.substr(slash + 1);
    const bool is_plain =
        slash != std::string::npos && slash != 0 && !name.empty() && name != "." && name != "..";
    std::array<char, 1> target{};
    if (is_plain && ::readlink(path.c_str(), target.data(), target.size()) < 0 && errno == EINVAL) {
      return real_folder(path.substr(0, slash + 1)) + name + "/";
    }
    const std::unique_ptr<char, decltype(&std::free)> real(
        ::realpath(folder.empty() ? "." : folder.c_str(), nullptr), &std::free);
    if (real == nullptr) trouble("cannot follow the path " + folder);
    return real == nullptr ? folder : std::string(real.get()) + "/";
  }

  FieldHash& hash_;
  WatchedFiles& files_watched_;
  const SourceTexts& given_;
  const FlagEffects& flags_;
  const std::function<std::vector<std::string>()>& cuda_folders_;
  std::string source_folder_;
  std::optional<std::vector<std::string>> cuda_;

  std::deque<Text> texts_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;      ///< of all texts
  std::size_t searched_ = 0;  ///< bytes, in searches of all texts
  std::vector<std::unique_ptr<std::string>> contents_;
  std::set<MacroInclude> macros_;
  std::list<Query> queries_;        // a loop over it may append
  std::set<std::string> expanded_;  ///< names in which macros are replaced
  std::unordered_set<std::string> looked_for_;
  std::unordered_set<std::string> provided_;
  std::unordered_map<std::string, bool> is_there_;
  std::unordered_map<std::string, std::uint64_t> paths_;
  std::unordered_map<std::string, std::uint64_t> files_;
  std::map<std::pair<::dev_t, ::ino_t>, std::uint64_t> same_files_;
  std::unordered_map<std::string, std::string> real_folders_;
  std::string trouble_;
};

}  // namespace

std::string hash_headers(KeyHash& hash, const SourceTexts& texts, const FlagEffects& flags,
                         const std::function<std::vector<std::string>()>& cuda_folders) {
  return HeaderSearch(hash, texts, flags, cuda_folders).run();
}

}  // namespace cudacore::compile
