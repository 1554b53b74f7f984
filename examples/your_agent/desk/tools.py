"""What the order desk can do, and what it may do. Paths are below the folder the agent runs in."""

import json
from pathlib import Path

INSTRUCTIONS = "You work at an order desk. Use your tools; answer in one sentence."
MOST_TURNS = 10


def files_read(path: str) -> str:
    """Reads a file."""
    return Path(path).read_text(encoding="utf-8")


def files_write(path: str, text: str) -> str:
    """Writes a file."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return f"wrote {path}"


def files_delete(path: str) -> str:
    """Deletes a file."""
    Path(path).unlink()
    return f"deleted {path}"


def math_multiply(a: int, b: int) -> int:
    """Multiplies two numbers."""
    return a * b


# Orders are deleted by people: the desk does not offer files_delete, and refuses to run it.
KNOWN = {tool.__name__: tool for tool in (files_read, files_write, files_delete, math_multiply)}
ALLOWED = {"files_read", "files_write", "math_multiply"}


def run(name, arguments):
    """The result of one call as a text; `arguments` is what the model wrote, a JSON text or a map."""
    if name not in ALLOWED:
        return f"refused: the desk has no tool {name}"
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else arguments
        return str(KNOWN[name](**values))
    except (OSError, TypeError, ValueError) as error:
        return f"failed: {error}"


def schemas():
    """(name, description, JSON Schema of the arguments) of each tool on offer."""
    for name in sorted(ALLOWED):
        tool = KNOWN[name]
        arguments = {key: kind for key, kind in tool.__annotations__.items() if key != "return"}
        properties = {
            key: {"type": "integer" if kind is int else "string"} for key, kind in arguments.items()
        }
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(arguments),
        }
        yield name, tool.__doc__, schema
