"""What every id factory promises."""

import re
import uuid

import pytest

from agent_core.adapters.determinism.ids import PinnedIdFactory, SystemIdFactory

IMPLEMENTATIONS = [
    pytest.param(SystemIdFactory, id="SystemIdFactory"),
    pytest.param(lambda: PinnedIdFactory("a seed"), id="PinnedIdFactory"),
]

each = pytest.mark.parametrize("make", IMPLEMENTATIONS)


@each
def test_an_id_is_a_uuid_of_version_7_in_lower_case(make):
    factory = make()
    for _ in range(100):
        made = factory.new_id()
        assert re.fullmatch(
            r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made
        )
        assert uuid.UUID(made).variant == uuid.RFC_4122


@each
def test_ids_sort_by_their_creation_and_never_repeat(make):
    factory = make()
    made = [factory.new_id() for _ in range(2000)]
    assert made == sorted(set(made))
