"""docs/reference/starlark.md names what tools/defs.bzl and tools/extensions.bzl offer, and nothing else."""

import ast
import re
from pathlib import Path

PUBLIC = (Path("tools/defs.bzl"), Path("tools/extensions.bzl"))
REFERENCE = Path("docs/reference/starlark.md")
REQUIRED = "required"
# The defaults of Bazel's attribute types where a rule names none.
TYPE_DEFAULTS = {"label_list": "[]", "string_list": "[]", "string_dict": "{}", "string": '""'}
Attributes = dict[str, str]  # name -> default


def assignments(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }


def loads(tree: ast.Module, folder: Path) -> dict[str, tuple[Path, str]]:
    """What a file loads from files of this project: {local name: (file, name there)}."""
    found: dict[str, tuple[Path, str]] = {}
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "load":
            continue
        label, *names = [ast.literal_eval(argument) for argument in call.args]
        if label.startswith("@"):
            continue
        package, name = label.removeprefix("//").split(":")
        file = (Path(package) if package else folder) / name
        found |= {name: (file, name) for name in names}
        found |= {one.arg: (file, ast.literal_eval(one.value)) for one in call.keywords if one.arg}
    return found


def resolve(file: Path, name: str) -> tuple[Path, ast.stmt | ast.expr]:
    """The definition behind a name: a function, or the value that is assigned to it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return file, statement
    value = assignments(tree).get(name)
    if isinstance(value, ast.Name):
        return resolve(file, value.id)
    if value is not None:
        return file, value
    return resolve(*loads(tree, file.parent)[name])


def attribute_dict(file: Path, value: ast.expr) -> dict[str, ast.Call]:
    """The attributes of a rule, whose dict may be joined of several."""
    if isinstance(value, ast.Name):
        defined_in, definition = resolve(file, value.id)
        assert isinstance(definition, ast.expr)
        return attribute_dict(defined_in, definition)
    if isinstance(value, ast.BinOp):
        return attribute_dict(file, value.left) | attribute_dict(file, value.right)
    assert isinstance(value, ast.Dict)
    return {
        ast.literal_eval(key): attribute
        for key, attribute in zip(value.keys, value.values, strict=True)
        if key is not None and isinstance(attribute, ast.Call)
    }


def attributes_of(file: Path, value: ast.expr) -> Attributes:
    found = {}
    for name, call in attribute_dict(file, value).items():
        if name.startswith("_"):
            continue
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        if "mandatory" in options:
            found[name] = REQUIRED
        elif "default" in options:
            found[name] = starlark(options["default"])
        else:
            found[name] = TYPE_DEFAULTS[ast.unparse(call.func).removeprefix("attr.")]
    return found


def starlark(value: ast.expr) -> str:
    return ast.unparse(value).replace("'", '"')


def signature(file: Path, definition: ast.stmt | ast.expr) -> Attributes:
    """The attributes of a function, a rule, or an extension's only tag."""
    if isinstance(definition, ast.FunctionDef):
        arguments = definition.args.args
        defaults = [starlark(default) for default in definition.args.defaults]
        padded = [REQUIRED] * (len(arguments) - len(defaults)) + defaults
        return {argument.arg: default for argument, default in zip(arguments, padded, strict=True)}
    assert isinstance(definition, ast.Call)
    options = {keyword.arg: keyword.value for keyword in definition.keywords}
    if "tag_classes" in options:
        tags = attribute_dict(file, options["tag_classes"])
        (tag,) = tags.values()
        return attributes_of(file, next(one.value for one in tag.keywords if one.arg == "attrs"))
    return {"name": REQUIRED} | attributes_of(file, options["attrs"])


def offered() -> dict[str, Attributes]:
    names = {}
    for file in PUBLIC:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
        for name in sorted({*assignments(tree), *defined}):
            if not name.startswith("_"):
                names[name] = signature(*resolve(file, name))
    return names


def documented() -> dict[str, Attributes]:
    """The sections with a table of attributes: {name: {attribute: default}}."""
    found = {}
    for section in re.split(r"^## ", REFERENCE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|[^|]*\|$", section, re.MULTILINE)
        if rows:
            title = section.partition("\n")[0].strip()
            found[title] = {name: default.strip("`") for name, default in rows}
            assert len(found[title]) == len(rows), f"{title} documents an attribute twice"
    return found


def test_the_code_offers_something() -> None:
    assert {"gates", "gates_index", "hardgate_gates", "python_program"} <= offered().keys()
    assert all(offered().values())


def test_every_public_name_is_documented_and_no_other() -> None:
    assert documented().keys() == offered().keys()


def test_attributes_and_defaults_are_those_of_the_code() -> None:
    assert documented() == offered()
