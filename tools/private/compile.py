"""Compiles Python sources into one archive for the import path, together with other archives.

Usage: compile.py VERSION ARCHIVE [--archive FILE]... [--source MODULE_PATH SHOWN_PATH FILE]...

VERSION only takes part in the action's key. The archive holds, for each source, the source itself
(for tracebacks) and its code as an unchecked-hash .pyc, with constant times: its bytes depend on the
sources and the interpreter only. A package may have its modules in several libraries, and Python
finds a package in one place only: so an archive holds everything that its library needs.
"""

import pathlib
import py_compile
import sys
import tempfile
import zipfile

LONG_AGO = (1980, 1, 1, 0, 0, 0)


def merged(archives):
    """Returns {path: bytes} of some archives; exits when two disagree about a path."""
    entries = {}
    for name in archives:
        with zipfile.ZipFile(name) as archive:
            for path in archive.namelist():
                data = archive.read(path)
                if entries.setdefault(path, data) != data:
                    sys.exit(f"{name}: {path} is also in another library, with another content")
    return entries


def compiled(file, shown_path, scratch):
    """Returns the unchecked-hash .pyc of a source; a syntax error names the shown path."""
    target = pathlib.Path(scratch) / "module.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(file, str(target), shown_path, doraise=True, invalidation_mode=mode)
    return target.read_bytes()


def write(archive_path, entries):
    """Writes entries sorted, with constant times; a folder without __init__.py needs an entry."""
    parents = {parent for path in entries for parent in pathlib.PurePath(path).parents}
    for parent in parents:
        if parent.name:
            entries.setdefault(parent.as_posix() + "/", b"")
    with zipfile.ZipFile(archive_path, "w") as archive:
        for path in sorted(entries):
            info = zipfile.ZipInfo(path, LONG_AGO)
            info.external_attr = 0o644 << 16
            archive.writestr(info, entries[path])


def main(archive_path, arguments):
    """Writes the archive that the arguments after ARCHIVE describe."""
    archives, sources = [], []
    while arguments:
        option = arguments.pop(0)
        if option == "--archive":
            archives.append(arguments.pop(0))
        else:
            sources.append([arguments.pop(0) for _ in range(3)])
    entries = merged(archives)
    with tempfile.TemporaryDirectory() as scratch:
        for module_path, shown_path, file in sources:
            entries[module_path] = pathlib.Path(file).read_bytes()
            entries[module_path + "c"] = compiled(file, shown_path, scratch)
    write(archive_path, entries)


if __name__ == "__main__":
    lines = pathlib.Path(sys.argv[1][1:]).read_text("utf-8").splitlines()
    try:
        main(lines[1], lines[2:])
    except py_compile.PyCompileError as error:
        sys.exit(str(error))
