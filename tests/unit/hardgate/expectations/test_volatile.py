"""The list of volatile fields, strictly loaded, and the comparison of event logs outside it."""

import pytest

from agent_core.domain.event_catalogue import CATALOGUE
from hardgate.cases.record import ObservedEvent
from hardgate.cases.volatile import VolatileField, load_volatile_fields
from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.expectations.volatile import log_differences

PATH = "evals/volatile_fields.yaml"
GOOD = "- {event: run.ended, field: took.ms, reason: it is measured time}\n"


def load(text, **more):
    return load_volatile_fields(PATH, text.encode(), **more)


def refusals(text, **more):
    with pytest.raises(DefinitionError) as refused:
        load(text, **more)
    return [problem.render().removeprefix(f"{PATH}:") for problem in refused.value.problems]


def test_an_entry():
    assert load(GOOD) == (
        VolatileField(event="run.ended", field="took.ms", reason="it is measured time"),
    )
    assert load('- {event: "*", field: a, reason: nobody can pin it}\n')[0].event == "*"
    assert load("[]") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "1:1: schema.type: found an empty map; allowed: a list"),
        ("- run.ended\n", "1:3: schema.type: found 'run.ended'; allowed: a map"),
        (GOOD.replace("field", "feild"), "1:22: schema.unknown_key: found the unknown key 'feild'"),
        (GOOD.replace("run.ended", "ended"), "1:11: case.dotted_name: found 'ended'"),
        (GOOD.replace("took.ms", "took..ms"), "1:29: volatile.field: found 'took..ms'"),
        (GOOD.replace("took.ms", "$.took"), "1:29: volatile.field: found '$.took'"),
        (GOOD.replace("it is measured time", "because"), "1:46: volatile.reason: found 'because'"),
        (GOOD + GOOD, "2:3: volatile.duplicate: found 'took.ms' of run.ended again (first at 1:3)"),
    ],
)
def test_a_bad_list(text, said):
    assert any(one.startswith(said) for one in refusals(text)), refusals(text)


def test_an_event_that_nobody_writes_is_refused_where_the_types_are_known():
    assert load(GOOD, event_types={"run.ended"})
    assert refusals(GOOD, event_types={"run.queued", "run.ends"}) == [
        "1:11: volatile.unknown_event_type: found 'run.ended'; allowed: *, run.ends or run.queued; "
        "did you mean 'run.ends'?"
    ]


def test_the_list_of_the_suite_is_what_the_catalogue_calls_volatile():
    tree = DirectoryTree(".", ("evals",), outside_links=True)
    listed = load_volatile_fields(PATH, tree.read(PATH), map(str, CATALOGUE))
    volatile = {
        (str(event), name)
        for event, members in CATALOGUE.items()
        for name, member in members.items()
        if member.is_volatile
    }
    assert volatile
    for event, name in volatile:
        assert any(one.event in ("*", event) and one.field == name for one in listed)
    for one in listed:
        assert any(one.event in ("*", event) and one.field == name for event, name in volatile)


def events(*payloads, first=1, kind="run.ended"):
    return [ObservedEvent(number, kind, payload) for number, payload in enumerate(payloads, first)]


TOOK = load(GOOD)
EVERY = load('- {event: "*", field: items.id, reason: nobody can pin it}\n')


@pytest.mark.parametrize(
    ("first", "second", "volatile", "differences"),
    [
        (events({"a": 1}), events({"a": 1}), TOOK, []),
        ([], [], (), []),
        (
            events({"a": 1}),
            events({"a": 2}),
            TOOK,
            ["event 1 (run.ended).a: 1, then 2"],
        ),
        (events({"took": {"ms": 1}}), events({"took": {"ms": 2}}), TOOK, []),
        (events({"took": {"ms": 1}}), events({"took": {}}), TOOK, []),
        (
            events({"took": {"ms": 1}}),
            events({"took": {"ms": 2}}),
            (),
            ["event 1 (run.ended).took.ms: 1, then 2"],
        ),
        (
            events({"took": {"ms": 1}}, kind="run.queued"),
            events({"took": {"ms": 2}}, kind="run.queued"),
            TOOK,
            ["event 1 (run.queued).took.ms: 1, then 2"],
        ),
        (
            events({"items": [{"id": 1, "n": 1}, {"id": 2}]}),
            events({"items": [{"id": 3, "n": 1}, {}]}),
            EVERY,
            [],
        ),
        (
            events({"items": [{"id": 1}]}),
            events({"items": [{"id": 1}, {"id": 2}]}),
            EVERY,
            ["event 1 (run.ended).items: [{}], then [{}, {}]"],
        ),
        (events({"a": 1}), events({"a": 1.0}), (), ["event 1 (run.ended).a: 1, then 1.0"]),
        (events({"a": 1}), events({"a": True}), (), ["event 1 (run.ended).a: 1, then true"]),
        (events({"a": {}}), events({"a": 1}), (), ["event 1 (run.ended).a: {}, then 1"]),
        (events({"a": []}), events({"a": 1}), (), ["event 1 (run.ended).a: [], then 1"]),
        (events({"a": None}), events({}), (), ["event 1 (run.ended).a: null, then nothing"]),
        (
            events({}, {}),
            events({}),
            (),
            ["event 2: run.ended is in the first log only"],
        ),
        (
            events({}),
            events({}, {}),
            (),
            ["event 2: run.ended is in the second log only"],
        ),
        (
            events({}),
            events({}, kind="run.failed"),
            (),
            ["event 1: run.ended with sequence 1, then run.failed with sequence 1"],
        ),
        (
            events({}),
            events({}, first=2),
            (),
            ["event 1: run.ended with sequence 1, then run.ended with sequence 2"],
        ),
    ],
)
def test_what_two_logs_do_not_have_in_common(first, second, volatile, differences):
    assert list(log_differences(first, second, volatile)) == differences
