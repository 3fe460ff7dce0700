# SPDX-License-Identifier: Apache-2.0
#
# Writes a C++ file with the texts of the device headers of tile kernels.
#
# Usage: cmake -Dheaders=PATH|PATH... -Doutput=FILE -P EmbedHeaders.cmake

string(REPLACE "|" ";" headers "${headers}")
set(text "// Written by EmbedHeaders.cmake.\n#include \"tile/generate.hpp\"\n\n")
string(APPEND text "namespace cudacore::tile {\n\n")
string(APPEND text "const std::vector<std::pair<std::string, std::string>>& headers() {\n")
string(APPEND text "  static const std::vector<std::pair<std::string, std::string>> all = {\n")
foreach(header IN LISTS headers)
  get_filename_component(name "${header}" NAME)
  file(READ "${header}" content)
  # Compilers refuse string literals of more than 64 KiB; pieces are joined.
  string(LENGTH "${content}" length)
  string(APPEND text "    {\"cudacore/tile/${name}\",\n")
  set(from 0)
  while(from LESS length)
    string(SUBSTRING "${content}" ${from} 8000 piece)
    string(APPEND text "     R\"header(${piece})header\"\n")
    math(EXPR from "${from} + 8000")
  endwhile()
  string(APPEND text "    },\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n}  // namespace cudacore::tile\n")
file(WRITE "${output}" "${text}")
