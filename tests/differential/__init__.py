# SPDX-License-Identifier: Apache-2.0
"""The differential corpus: every instruction form, run on a GPU and on the simulated device.

`corpus` makes kernels from the simulator's own table of forms and from the programs in
``programs/``; `record` runs them on a GPU and stores the results in ``golden/``; the tests run
them on the current device and compare; `report` shows how well the two agree.
"""
