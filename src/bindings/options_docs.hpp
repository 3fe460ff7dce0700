// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each field of ProgramOptions and LinkerOptions means; one constant for each line of the
// tables in <cudacore/program_options.def> and <cudacore/linker_options.def>. The flag is added
// from there.

namespace cudacore::bindings::program_docs {

inline constexpr char name[] =
    "What messages and the object code call the program; ends in .cu where it names a file.";
inline constexpr char arch[] =
    "The architecture to compile for, \"sm_90\"; the current device's where None. Where it is set, "
    "no "
    "driver is needed. NVRTC flag: ``-arch=VALUE``.";
inline constexpr char relocatable_device_code[] =
    "Makes code that a Linker can link with other code.";
inline constexpr char extensible_whole_program[] =
    "Compiles whole programs that may still call into the device runtime.";
inline constexpr char debug[] =
    "Adds debug information, and switches optimisation off unless device_code_optimize is set.";
inline constexpr char lineinfo[] = "Adds line numbers for profilers and sanitizers.";
inline constexpr char device_code_optimize[] = "Optimises also where debug is set.";
inline constexpr char ptxas_options[] = "Passed on to the PTX assembler.";
inline constexpr char max_register_count[] = "Registers that a thread may use.";
inline constexpr char ftz[] = "Flushes denormal floats to zero.";
inline constexpr char prec_sqrt[] = "Rounds square roots of floats correctly, instead of fast.";
inline constexpr char prec_div[] = "Rounds divisions of floats correctly, instead of fast.";
inline constexpr char fma[] = "Contracts a multiplication and an addition into one instruction.";
inline constexpr char use_fast_math[] =
    "Fast mathematics: ftz, no prec_div, no prec_sqrt, fma, and fast functions.";
inline constexpr char extra_device_vectorization[] = "Vectorises more.";
inline constexpr char link_time_optimization[] = "Makes LTO IR for a Linker that optimises.";
inline constexpr char gen_opt_lto[] = "Optimises before writing LTO IR.";
inline constexpr char define_macro[] =
    "Macros: \"NAME\", (\"NAME\", \"VALUE\"), or a list of these. A tuple of two str is one macro.";
inline constexpr char undefine_macro[] = "Macros to forget.";
inline constexpr char include_path[] = "Folders that #include searches, in order.";
inline constexpr char use_bundled_headers[] =
    "Whether #include finds CUDA's own headers (cuda_fp16.h, libcu++); they are looked for beside "
    "NVRTC, in wheels and toolkits.";
inline constexpr char pre_include[] = "Headers included before the program.";
inline constexpr char no_source_include[] = "Keeps the source's own folder out of the search.";
inline constexpr char std[] = "The language: \"c++11\", \"c++14\", \"c++17\", \"c++20\".";
inline constexpr char builtin_move_forward[] = "Provides std::move and std::forward.";
inline constexpr char builtin_initializer_list[] = "Provides std::initializer_list.";
inline constexpr char disable_warnings[] = "Reports no warnings.";
inline constexpr char restrict[] = "Takes all pointer parameters of kernels for __restrict__.";
inline constexpr char device_as_default_execution_space[] =
    "Takes functions without an execution space for __device__.";
inline constexpr char device_int128[] = "Allows __int128.";
inline constexpr char optimization_info[] = "Reports an optimisation: \"inline\".";
inline constexpr char no_display_error_number[] =
    "Leaves the numbers of diagnostics out of the log.";
inline constexpr char diag_error[] = "Numbers of diagnostics to make errors.";
inline constexpr char diag_suppress[] = "Numbers of diagnostics to leave out.";
inline constexpr char diag_warn[] = "Numbers of diagnostics to make warnings.";
inline constexpr char brief_diagnostics[] = "Leaves source line and column out of diagnostics.";
inline constexpr char time[] = "A CSV file to write the time of each phase to; \"-\" for the log.";
inline constexpr char split_compile[] = "Threads that optimise; 0 for one on each processor.";
inline constexpr char fdevice_syntax_only[] = "Stops after the syntax check.";
inline constexpr char minimal[] = "Leaves language features out to compile faster.";
inline constexpr char no_cache[] = "Keeps the compiler from using a cache of its own.";
inline constexpr char fdevice_time_trace[] = "A JSON file to write a trace of the compilation to.";
inline constexpr char device_float128[] = "Allows __float128.";
inline constexpr char frandom_seed[] = "Seed of the names that the compiler makes up.";
inline constexpr char ofast_compile[] =
    "Compiles faster at the cost of speed: \"0\", \"min\", \"mid\", \"max\".";
inline constexpr char pch[] = "Makes and uses a precompiled header by itself.";
inline constexpr char create_pch[] = "The file to write a precompiled header to.";
inline constexpr char use_pch[] = "The precompiled header to use.";
inline constexpr char pch_dir[] = "The folder of precompiled headers.";
inline constexpr char pch_verbose[] = "Says why a precompiled header could not be used.";
inline constexpr char pch_messages[] = "Says when a precompiled header is made or used.";
inline constexpr char instantiate_templates_in_pch[] =
    "Instantiates templates before a precompiled header is written.";
inline constexpr char extra_sources[] = "More NVVM IR modules, by name.";
inline constexpr char use_libdevice[] = "Loads libdevice, for NVVM IR.";
inline constexpr char numba_debug[] = "Writes debug information as Numba expects it.";
inline constexpr char headers[] =
    "Headers in memory, by the name that #include gives them; they are found before files.";

inline constexpr char options[] =
    "Flags for NVRTC as they are, after those of the other fields, for what has no field here.";

}  // namespace cudacore::bindings::program_docs

namespace cudacore::bindings::linker_docs {

inline constexpr char name[] = "What messages and the object code call the result.";
inline constexpr char arch[] =
    "The architecture to link for, \"sm_90\"; the current device's where None. Where it is set, no "
    "driver is needed. nvJitLink flag: ``-arch=VALUE``.";
inline constexpr char max_register_count[] = "Registers that a thread may use.";
inline constexpr char time[] = "Writes the time of each phase to the info log.";
inline constexpr char verbose[] = "Writes more to the info log.";
inline constexpr char link_time_optimization[] = "Optimises across LTO IR inputs.";
inline constexpr char ptx[] = "Makes PTX instead of a cubin; needs link_time_optimization.";
inline constexpr char optimization_level[] = "0 to 3.";
inline constexpr char debug[] = "Adds debug information.";
inline constexpr char lineinfo[] = "Adds line numbers for profilers and sanitizers.";
inline constexpr char ftz[] = "Flushes denormal floats to zero.";
inline constexpr char prec_div[] = "Rounds divisions of floats correctly, instead of fast.";
inline constexpr char prec_sqrt[] = "Rounds square roots of floats correctly, instead of fast.";
inline constexpr char fma[] = "Contracts a multiplication and an addition into one instruction.";
inline constexpr char kernels_used[] = "Kernels to keep, by symbol; others may be removed.";
inline constexpr char variables_used[] = "Variables to keep, by symbol; others may be removed.";
inline constexpr char optimize_unused_variables[] =
    "Removes variables that no device code refers to.";
inline constexpr char ptxas_options[] = "Passed on to the PTX assembler.";
inline constexpr char split_compile[] = "Threads that optimise; 0 for one on each processor.";
inline constexpr char split_compile_extended[] =
    "Threads that optimise and split more, with link_time_optimization; 0 for one on each "
    "processor.";
inline constexpr char no_cache[] = "Keeps nvJitLink from using a cache of its own.";
inline constexpr char numba_debug[] = "Writes debug information as Numba expects it.";

}  // namespace cudacore::bindings::linker_docs
