"""Reads the options of the processes that publish a verdict.

These run once per test target. `argparse` alone would be a quarter of such a process's time, and
the runners are started by generated targets with options of one shape: `--name value`.
"""

import sys
from collections.abc import Mapping, Sequence

EXIT_USAGE = 2


def read_options(
    argv: Sequence[str], program: str, options: Mapping[str, str], positional: str = ""
) -> dict[str, str]:
    """The values by name; `options` maps each option's name to what its value is.

    Every option is required and given once, as `--name value` or `--name=value`; `positional`, when
    not empty, names the one required argument. Exits with code 2 and the usage otherwise; `--help`
    prints the usage and exits with 0.
    """
    usage = _usage(program, options, positional)
    if "--help" in argv or "-h" in argv:
        print(usage)
        raise SystemExit(0)
    values: dict[str, str] = {}
    problems: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word[2:].partition("=")
        if not word.startswith("--"):
            name, value = positional, word
            if not positional:
                problems.append(f"unexpected argument {word!r}")
                continue
        elif name not in options:
            import difflib  # only a mistake pays for it

            near = difflib.get_close_matches(name, options, n=1)
            hint = f"; did you mean --{near[0]}?" if near else ""
            problems.append(f"unknown option --{name}{hint}")
            continue
        elif not equals:
            if not rest:
                problems.append(f"--{name} needs a value: {options[name]}")
                continue
            value = rest.pop(0)
        if name in values:
            problems.append(f"{name} is given twice")
        values[name] = value
    missing = [name for name in ([positional] if positional else []) if name not in values]
    missing += [f"--{name}" for name in options if name not in values]
    problems += [f"missing {name}" for name in missing]
    if problems:
        for problem in problems:
            print(f"{program}: {problem}", file=sys.stderr)
        print(usage, file=sys.stderr)
        raise SystemExit(EXIT_USAGE)
    return values


def _usage(program: str, options: Mapping[str, str], positional: str) -> str:
    words = [f"usage: {program}"] + ([positional] if positional else [])
    words += [f"--{name} {name.upper().replace('-', '_')}" for name in options]
    lines = [" ".join(words)] + [f"  --{name}: {meaning}" for name, meaning in options.items()]
    return "\n".join(lines)
