"""The command lines of the processes that publish a verdict. Imports the standard library only."""

import argparse
from functools import partial

_WIDTH = 100


def argument_parser(program: str) -> argparse.ArgumentParser:
    """A parser without abbreviations, whose help is of a fixed width.

    To ask for the terminal's width costs every process an import, and a test has no terminal.
    """
    width = partial(argparse.HelpFormatter, width=_WIDTH)
    return argparse.ArgumentParser(prog=program, allow_abbrev=False, formatter_class=width)
