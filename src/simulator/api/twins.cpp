// SPDX-License-Identifier: Apache-2.0
//
// The functions whose symbols end in _ptds or _ptsz: each calls the function without that suffix
// while the calling thread's default stream is its own.
#include <cstddef>
#include <tuple>

#include "simulator/api/cuda_api.hpp"
#include "simulator/api/stream/stream.hpp"

namespace {

template <class Function>
struct ParametersOf;
template <class... Parameters>
struct ParametersOf<CUresult(Parameters...)> {
  using type = std::tuple<Parameters...>;
};
template <class Function, std::size_t index>
using Parameter = std::tuple_element_t<index, typename ParametersOf<Function>::type>;

}  // namespace

#define PARAMETERS_1(f) Parameter<decltype(f), 0> a0
#define PARAMETERS_2(f) PARAMETERS_1(f), Parameter<decltype(f), 1> a1
#define PARAMETERS_3(f) PARAMETERS_2(f), Parameter<decltype(f), 2> a2
#define PARAMETERS_4(f) PARAMETERS_3(f), Parameter<decltype(f), 3> a3
#define PARAMETERS_5(f) PARAMETERS_4(f), Parameter<decltype(f), 4> a4
#define PARAMETERS_6(f) PARAMETERS_5(f), Parameter<decltype(f), 5> a5
#define PARAMETERS_7(f) PARAMETERS_6(f), Parameter<decltype(f), 6> a6
#define PARAMETERS_8(f) PARAMETERS_7(f), Parameter<decltype(f), 7> a7
#define PARAMETERS_9(f) PARAMETERS_8(f), Parameter<decltype(f), 8> a8
#define PARAMETERS_10(f) PARAMETERS_9(f), Parameter<decltype(f), 9> a9
#define PARAMETERS_11(f) PARAMETERS_10(f), Parameter<decltype(f), 10> a10
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_10 ARGUMENTS_9, a9
#define ARGUMENTS_11 ARGUMENTS_10, a10

#define CUDACORE_SIMULATOR_SYMBOL(name, version, since)
#define CUDACORE_SIMULATOR_TWINS(name, version, since, suffix, arity)            \
  extern "C" CUresult name##version##suffix(PARAMETERS_##arity(name##version)) { \
    const cudacore::simulator::OwnDefaultStream scope;                           \
    return name##version(ARGUMENTS_##arity);                                     \
  }
#include "simulator/api/symbols.def"
