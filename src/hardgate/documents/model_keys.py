"""Which keys a model knows at a place of a document, for suggestions in messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

Location = tuple[str | int, ...]


def known_keys(model: Any, location: Location) -> tuple[str, ...]:
    """The keys of the model or models that stand at a pydantic location below `model`, sorted.

    The second names of a model's keys, see `hardgate.documents.aliases`, are among them.
    """
    reached = list(_leaves(model))
    for element in location:
        reached = _step(reached, element)
    models = [leaf for leaf in reached if _is_model(leaf)]
    names = {field.alias or name for leaf in models for name, field in leaf.model_fields.items()}
    aliases = {alias for leaf in models for alias in getattr(leaf, "aliases", ())}
    return tuple(sorted(names | aliases))


def _step(leaves: list[Any], element: str | int) -> list[Any]:
    """The types below `leaves` at one element, which is a key, an index or a branch's label."""
    below = [
        leaf
        for annotation in leaves
        for part in _below(annotation, element)
        for leaf in _leaves(part)
    ]
    labelled = [leaf for leaf in leaves if _is_model(leaf) and element in _labels(leaf)]
    return below or labelled or leaves


def _below(annotation: Any, element: str | int) -> Iterator[Any]:
    if _is_model(annotation):
        for name, field in annotation.model_fields.items():
            if element in (field.alias or name,):
                yield field.annotation
        return
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, dict):
        yield arguments[1]
    elif isinstance(element, int):
        yield from (argument for argument in arguments if argument is not Ellipsis)


def _leaves(annotation: Any) -> Iterator[Any]:
    """The types an annotation stands for, without Annotated, aliases and unions around them."""
    if hasattr(annotation, "__value__"):  # a `type` alias
        yield from _leaves(annotation.__value__)
    elif get_origin(annotation) is Annotated:
        yield from _leaves(get_args(annotation)[0])
    elif _is_union(annotation):
        for argument in get_args(annotation):
            yield from _leaves(argument)
    else:
        yield annotation


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) is Union or type(annotation).__name__ == "UnionType"


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _labels(model: type[BaseModel]) -> set[Any]:
    """What pydantic may call this model in a location: its name, or a literal that tags it."""
    labels: set[Any] = {model.__name__}
    for field in model.model_fields.values():
        if get_origin(field.annotation) is Literal:
            labels.update(get_args(field.annotation))
    return labels
