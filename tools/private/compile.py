"""Compiles Python sources into one archive for the import path.

Usage: compile.py VERSION ARCHIVE [MODULE_PATH SHOWN_PATH FILE]...; VERSION only takes part in the
action's key. The archive holds, for each source, the source itself (for tracebacks) and its code as
an unchecked-hash .pyc, with constant times: its bytes depend on the sources and the interpreter only.
"""

import pathlib
import py_compile
import sys
import tempfile
import zipfile

LONG_AGO = (1980, 1, 1, 0, 0, 0)


def add(archive, path, data):
    """Stores bytes under a path with a constant time and mode."""
    entry = zipfile.ZipInfo(path, LONG_AGO)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def compiled(file, shown_path, scratch):
    """Returns the unchecked-hash .pyc of a source; a syntax error names the shown path."""
    target = pathlib.Path(scratch) / "module.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(file, str(target), shown_path, doraise=True, invalidation_mode=mode)
    return target.read_bytes()


def main(archive_path, triples):
    """Writes the archive of (module path, path to show in tracebacks, file) triples."""
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(archive_path, "w") as archive:
        # Python finds a folder without __init__.py in an archive only by an entry of its own.
        parents = {parent for path, _, _ in triples for parent in pathlib.PurePath(path).parents}
        for folder in sorted(parent.as_posix() + "/" for parent in parents if parent.name):
            add(archive, folder, b"")
        for module_path, shown_path, file in sorted(triples):
            add(archive, module_path, pathlib.Path(file).read_bytes())
            add(archive, module_path + "c", compiled(file, shown_path, scratch))


if __name__ == "__main__":
    arguments = sys.argv[3:]
    try:
        main(sys.argv[2], list(zip(arguments[::3], arguments[1::3], arguments[2::3], strict=True)))
    except py_compile.PyCompileError as error:
        sys.exit(str(error))
