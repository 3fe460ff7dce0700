// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "rows.hpp"

namespace {

constexpr std::string_view kUsage =
    "usage: cudacore_bench_c [--rows=NAME[:BATCH:BATCHES],...] [--nvrtc=PATH] [--arch=90]\n"
    "                        [--list | --info | --cold | --cubin=PATH]\n"
    "Times the driver API and NVRTC; prints JSON: {row: {median_ns, min_ns, n, batch}}.\n"
    "--list names the rows, --info describes the machine, --cold runs one saxpy and prints it,\n"
    "--cubin runs the kernel sum(int*) of a file and prints what it wrote.\n";

struct Options {
  std::string rows;
  std::string nvrtc;
  std::optional<int> arch;
  std::string mode;
  std::string cubin;
};

std::size_t to_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
    throw std::invalid_argument("not a positive number: '" + std::string(text) + "'");
  }
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string_view key = argument.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : argument.substr(equals + 1);
    if (key == "--rows") {
      options.rows = value;
    } else if (key == "--nvrtc") {
      options.nvrtc = value;
    } else if (key == "--arch") {
      options.arch = static_cast<int>(to_number(value));
    } else if (key == "--list" || key == "--info" || key == "--cold") {
      options.mode = key.substr(2);
    } else if (key == "--cubin") {
      options.cubin = value;
    } else {
      throw std::invalid_argument("unknown argument '" + std::string(argument) + "'\n" +
                                  std::string(kUsage));
    }
  }
  return options;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<bench::Row> chosen_rows(std::string_view choice) {
  std::vector<bench::Row> all = bench::all_rows();
  if (choice.empty()) {
    return all;
  }
  std::vector<bench::Row> rows;
  for (const std::string_view item : split(choice, ',')) {
    const std::vector<std::string_view> fields = split(item, ':');
    const auto row = std::find_if(all.begin(), all.end(), [&](const bench::Row& candidate) {
      return candidate.name == fields.front();
    });
    if (row == all.end() || (fields.size() != 1 && fields.size() != 3)) {
      throw std::invalid_argument("no row '" + std::string(item) + "'; --list names them");
    }
    rows.push_back(*row);
    if (fields.size() == 3) {
      rows.back().counts = {to_number(fields[1]), to_number(fields[2])};
    }
  }
  return rows;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out + "\"";
}

std::string measure(const bench::Row& row, bench::Session& session) {
  using Clock = std::chrono::steady_clock;
  const bench::Case work = row.prepare(session);
  const std::size_t warm_up = std::max<std::size_t>(2, row.counts.batches / 20);
  std::vector<double> samples;
  samples.reserve(row.counts.batches);
  for (std::size_t i = 0; i < warm_up + row.counts.batches; ++i) {
    const auto start = Clock::now();
    work.run(row.counts.batch);
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    work.settle();
    if (i >= warm_up) {
      samples.push_back(elapsed.count() / static_cast<double>(row.counts.batch));
    }
  }
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                R"({"median_ns": %.1f, "min_ns": %.1f, "n": %zu, "batch": %zu})", median,
                samples.front(), samples.size(), row.counts.batch);
  return text.data();
}

void print_info(bench::Session& session) {
  const bench::Driver& driver = session.driver();
  std::array<char, 256> name{};
  driver.check(driver.device_name(name.data(), static_cast<int>(name.size()), session.device()),
               "cuDeviceGetName");
  int version = 0;
  driver.check(driver.driver_version(&version), "cuDriverGetVersion");
  std::printf("{\"gpu\": %s, \"arch\": \"sm_%d\", \"driver_api\": \"%d.%d\", \"nvrtc\": %s}\n",
              json_text(name.data()).c_str(), session.arch(), version / 1000, version % 1000 / 10,
              json_text(session.nvrtc().description()).c_str());
}

// If a row fails, the others still run, and its entry says why.
int print_rows(const std::vector<bench::Row>& rows, bench::Session& session) {
  int failures = 0;
  const char* separator = "{\n";
  for (const bench::Row& row : rows) {
    std::string result;
    try {
      result = measure(row, session);
    } catch (const std::exception& error) {
      ++failures;
      result = "{\"error\": " + json_text(std::string("Error: ") + error.what()) + "}";
    }
    std::printf("%s  %s: %s", separator, json_text(row.name).c_str(), result.c_str());
    std::fflush(stdout);
    separator = ",\n";
  }
  std::printf("\n}\n");
  return failures == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  bench::Session session(options.nvrtc, options.arch);
  if (options.mode == "info") {
    print_info(session);
    return 0;
  }
  if (options.mode == "cold") {
    bench::print_saxpy(session);
    return 0;
  }
  if (!options.cubin.empty()) {
    bench::print_sum(session, options.cubin);
    return 0;
  }
  const std::vector<bench::Row> rows = chosen_rows(options.rows);
  if (options.mode == "list") {
    for (const bench::Row& row : rows) {
      std::printf("%s:%zu:%zu\n", row.name.c_str(), row.counts.batch, row.counts.batches);
    }
    return 0;
  }
  return print_rows(rows, session);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "cudacore_bench_c: " << error.what() << '\n';
    return 2;
  }
}
