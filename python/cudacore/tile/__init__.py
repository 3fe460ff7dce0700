# SPDX-License-Identifier: Apache-2.0
"""Kernels on tiles, written in Python."""
