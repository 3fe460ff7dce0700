// SPDX-License-Identifier: Apache-2.0
#include "bindings/suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cudacore::bindings {
namespace {

/// No one mistypes longer names.
constexpr std::size_t longest = 64;

/// Length of the longest common subsequence.
std::size_t common_length(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const char c : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = c == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

/// 1 for equal names, 0 for names with no letter in common.
double similarity(std::string_view a, std::string_view b) {
  return 2.0 * static_cast<double>(common_length(a, b)) / static_cast<double>(a.size() + b.size());
}

/// A flag spelled as a field: "--maxrregcount" is "maxrregcount".
std::string spelled_as_field(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

double best_similarity(std::string_view name, const Candidate& candidate) {
  constexpr std::size_t least_prefix = 4;
  const bool is_shortened = name.size() >= least_prefix && candidate.name.starts_with(name);
  double best = std::max(similarity(name, candidate.name), is_shortened ? 0.75 : 0.0);
  std::string_view aliases = candidate.aliases;
  while (!aliases.empty()) {
    const std::size_t space = std::min(aliases.find(' '), aliases.size());
    best = std::max(best, similarity(name, spelled_as_field(aliases.substr(0, space))));
    aliases.remove_prefix(std::min(space + 1, aliases.size()));
  }
  return best;
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const Candidate> names) {
  if (name.empty() || name.size() > longest) return {};
  const std::string wanted = spelled_as_field(name);
  std::string_view best;
  double best_score = 0.7;  // below this a suggestion is noise
  for (const Candidate& candidate : names) {
    const double score = best_similarity(wanted, candidate);
    if (score > best_score) {
      best = candidate.name;
      best_score = score;
    }
  }
  return best.empty() ? std::string{} : "; did you mean '" + std::string(best) + "'?";
}

std::string did_you_mean(std::string_view name, std::span<const char* const> names) {
  std::vector<Candidate> candidates;
  candidates.reserve(names.size());
  for (const char* candidate : names) candidates.push_back({candidate});
  return did_you_mean(name, candidates);
}

}  // namespace cudacore::bindings
