# SPDX-License-Identifier: Apache-2.0
"""Dataclasses that are made quickly.

The standard ones compile some five functions for each class, which takes half of the time in which
the modules that compile kernels are imported, and milliseconds of those that each launch needs.
These do the same as far as those modules need it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from cudacore.tile._made_dataclass import dataclass, field, replace

__all__ = ["dataclass", "field", "replace"]
