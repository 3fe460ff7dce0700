// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace cudacore::compile {

namespace fs = std::filesystem;

namespace {

constexpr const char* switch_name = "CUDACORE_CACHE";
constexpr const char* folder_name = "CUDACORE_CACHE_DIR";
constexpr const char* size_name = "CUDACORE_CACHE_MAX_SIZE";

/// Empty if it isn't set, and in a program that runs with more rights than its user.
std::string variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

bool is_one_of(std::string text, std::initializer_list<std::string_view> words) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The folder that the environment names. No shell may have replaced its "~".
fs::path named_folder(const std::string& name) {
  const std::string home = variable("HOME");
  const bool is_in_home = name.starts_with("~/") && home.starts_with('/');
  return cache_folder_at(is_in_home ? home + name.substr(1) : name);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  unsigned shift = 0;
  constexpr std::string_view units = "KMGT";
  if (!unit.empty() && unit != "B") {
    const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
    const std::size_t place = units.find(upper);
    if (place == std::string_view::npos) return std::nullopt;
    shift = 10 * (static_cast<unsigned>(place) + 1);
    unit.remove_prefix(1);
  }
  if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

DefaultFolder default_cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME");
  const std::string home = variable("HOME");
  const bool has_cache = cache.starts_with('/');
  if (!has_cache && !home.starts_with('/')) {
    return {{}, "no folder for the cache: neither XDG_CACHE_HOME nor HOME is set"};
  }
  const fs::path base = has_cache ? fs::path(cache) : fs::path(home) / ".cache";
  const std::string owned = has_cache ? cache : home;
  struct stat status {};
  // After sudo, root would otherwise leave files there that their owner cannot use.
  if (::stat(owned.c_str(), &status) == 0 && status.st_uid != ::geteuid()) {
    return {{}, owned + " belongs to another user (" + std::to_string(status.st_uid) + ")"};
  }
  return {base / "cudacore", {}};
}

fs::path cache_folder_at(const fs::path& path) {
  std::error_code error;
  std::string folder = fs::absolute(path, error).string();
  // A slash at its end would follow a link.
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

CacheSettings settings_of_environment() {
  CacheSettings settings;
  if (const std::string text = variable(switch_name); !text.empty()) {
    settings.is_enabled = !is_one_of(text, {"0", "off", "false", "no"});
    if (settings.is_enabled && !is_one_of(text, {"1", "on", "true", "yes"})) {
      settings.problem =
          std::string(switch_name) + "=" + text + " is neither on nor off; the cache is on";
    }
  }
  if (const std::string folder = variable(folder_name); !folder.empty()) {
    settings.folder = named_folder(folder);
  } else {
    const auto [path, problem] = default_cache_folder();
    settings.folder = path;
    if (!problem.empty()) settings.folder_problem = problem + "; set " + folder_name;
  }
  if (const std::string text = variable(size_name); !text.empty()) {
    if (const auto size = parse_size(text)) {
      settings.max_size = *size;
    } else {
      if (!settings.problem.empty()) settings.problem += "; ";
      settings.problem += std::string(size_name) + "=" + text +
                          " is not a size such as 500M or 4G; the default is used";
    }
  }
  return settings;
}

}  // namespace cudacore::compile
