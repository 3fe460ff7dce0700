# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore doctor``: what is installed, what is used and why, and what is wrong.

`gather` finds out the facts, once; what may crash or hang runs in processes of its own. Each check
is a function of the facts that yields findings. The report writes both.
"""
