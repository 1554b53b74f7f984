"""The registry of gates: its entries, the specs that declare them, and what compares the two.

Nothing is imported until it is used, since the models need pydantic.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardgate.registry.docs_check import check_docs as check_docs
    from hardgate.registry.loader import Registry as Registry
    from hardgate.registry.loader import load_registry as load_registry
    from hardgate.registry.models import Counterexample as Counterexample
    from hardgate.registry.models import Gate as Gate
    from hardgate.registry.models import Kind as Kind
    from hardgate.registry.models import RetiredGate as RetiredGate

_MODULE_OF = {
    "Counterexample": "models",
    "Gate": "models",
    "Kind": "models",
    "Registry": "loader",
    "RetiredGate": "models",
    "check_docs": "docs_check",
    "load_registry": "loader",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Imports the module of a public name at its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
