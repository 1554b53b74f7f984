"""A greeting, and the check of the gate `gate.hello.named`."""

from hypothesis import strategies

from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext


def greeting(name: str) -> str:
    return f"Hello, {name}!"


def named(context: PropertyContext) -> None:
    """Greets generated people."""

    def holds(name: str) -> None:
        said = greeting(name)
        require(name in said, "name_missing", f"{said!r} does not hold {name!r}")

    context.for_all(holds, name=strategies.text(min_size=1))
