"""The two labels of content: a total order of trust, and whether it is private."""

from itertools import product

import pytest

from agent_core.domain.trust import Labels, TrustLevel, join, least_trusted

# docs/specs/policy.md, from the most trusted.
ORDER = [
    "platform",
    "trusted_configuration",
    "user",
    "internal_tool",
    "memory",
    "knowledge",
    "external_untrusted",
]
PAIRS = list(product(range(len(ORDER)), repeat=2))


def level(rank):
    return TrustLevel(ORDER[rank])


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_order_is_total(first, second):
    assert level(first).is_at_or_below(level(second)) is (first >= second)
    assert least_trusted([level(first), level(second)]) is level(max(first, second))


@pytest.mark.parametrize("rank", range(len(ORDER)))
def test_a_label_alone_stays_what_it_is(rank):
    assert least_trusted([level(rank)]) is level(rank)
    assert join([Labels(level(rank), True)]) == Labels(level(rank), True)


@pytest.mark.parametrize("combine", [least_trusted, join])
def test_nothing_has_no_label(combine):
    with pytest.raises(ValueError):
        combine([])


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("private", list(product([False, True], repeat=2)))
def test_the_labels_are_joined_apart_from_each_other(first, second, private):
    joined = join([Labels(level(first), private[0]), Labels(level(second), private[1])])
    assert joined == Labels(level(max(first, second)), any(private))


def test_content_is_not_private_unless_somebody_says_so():
    assert Labels(TrustLevel.USER) == Labels(TrustLevel.USER, is_private=False)


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("name", ORDER)
def test_what_may_have_been_written_outside_is_untrusted(name, private):
    labels = Labels(TrustLevel(name), private)
    assert labels.is_untrusted is (name in ("knowledge", "external_untrusted"))
