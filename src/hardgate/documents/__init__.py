"""The files of a workspace: reading them strictly and saying what is wrong with them.

Nothing is imported until it is used: `validation` and `schema_files` need pydantic, the other
modules need the standard library and PyYAML only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardgate.documents.problems import DefinitionError as DefinitionError
    from hardgate.documents.problems import Problem as Problem
    from hardgate.documents.safe_path import UnsafePath as UnsafePath
    from hardgate.documents.safe_path import relative_inside as relative_inside
    from hardgate.documents.strict_yaml import Document as Document
    from hardgate.documents.strict_yaml import load as load
    from hardgate.documents.tree import DirectoryTree as DirectoryTree
    from hardgate.documents.tree import ManifestTree as ManifestTree
    from hardgate.documents.tree import MissingFile as MissingFile
    from hardgate.documents.tree import OverlayTree as OverlayTree
    from hardgate.documents.tree import Tree as Tree
    from hardgate.documents.validation import validate as validate
    from hardgate.documents.validation import validate_list as validate_list

_MODULE_OF = {
    "DefinitionError": "problems",
    "DirectoryTree": "tree",
    "Document": "strict_yaml",
    "ManifestTree": "tree",
    "MissingFile": "tree",
    "OverlayTree": "tree",
    "Problem": "problems",
    "Tree": "tree",
    "UnsafePath": "safe_path",
    "load": "strict_yaml",
    "relative_inside": "safe_path",
    "validate": "validation",
    "validate_list": "validation",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Imports the module of a public name at its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
