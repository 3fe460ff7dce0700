# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore``: the command line."""

import os
import sys

from cudacore import _commands, _core


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        The process's own by default.

    Returns
    -------
    int
        The exit status: 0 if all went well, 1 if something failed, 3 if a library or a device is
        missing. Wrong usage exits with 2.
    """
    command, parser, own = _commands.find(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(own)
    try:
        try:
            return command.run(parser, options)
        finally:
            # If a pipe was closed, the error shows up here at the latest.
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed it. Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _commands.FAILED
    except _core.LibraryNotFoundError as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return _commands.MISSING
    except (_core.CUDAError, MemoryError, OSError) as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return _commands.FAILED


if __name__ == "__main__":
    sys.exit(main())
