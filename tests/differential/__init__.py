# SPDX-License-Identifier: Apache-2.0
"""The differential corpus: every instruction form, run on a GPU and on the simulated device.

`corpus` makes kernels out of the simulator's own table of forms and of the programs in
``programs/``; `record` runs them on a GPU and keeps what came out in ``golden/``; the tests run
them on the device they have and compare; `report` tells how well the two agree.
"""
