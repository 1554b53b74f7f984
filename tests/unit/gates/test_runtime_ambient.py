"""Clocks, identifiers and randomness that a module of the runtime takes by itself."""

import pytest

from gates.checks.runtime_ambient import IDENTITY, TIME, ambient_findings
from tests.unit.gates.sources import parsed

PATH = "src/agent_core/application/loop.py"


def rules(text, path=PATH):
    (file,) = parsed({path: text})
    return sorted(
        {(finding.line, finding.rule) for finding in ambient_findings(file, TIME + IDENTITY)}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import time\ntime.time()", (2, "ambient_time")),
        ("import time as t\nclock = t.monotonic", (2, "ambient_time")),
        ("from time import perf_counter", (1, "ambient_time")),
        ("from time import *", (1, "ambient_time")),
        ("import time\nf(time)", (2, "ambient_time")),
        ("import time\ngetattr(time, 'time')()", (2, "ambient_time")),
        ("from datetime import datetime\ndatetime.now()", (2, "ambient_time")),
        ("import datetime as d\nd.datetime.utcnow()", (2, "ambient_time")),
        ("from datetime import date as day\nday.today()", (2, "ambient_time")),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(1)", (3, "ambient_time")),
        ("from asyncio import wait_for", (1, "ambient_time")),
        ("import threading\nthreading.Timer(1, f)", (2, "ambient_time")),
        ("import uuid\nuuid.uuid4()", (2, "ambient_id")),
        ("import os\nos.getpid()", (2, "ambient_id")),
        ("key = hash('text')", (1, "ambient_id")),
        ("import builtins\nbuiltins.id(f)", (2, "ambient_id")),
        ("from uuid import uuid1 as new", (1, "ambient_id")),
        ("from uuid import uuid4\nfield(default_factory=uuid4)", (2, "ambient_id")),
        ("import random\nrandom.random()", (2, "ambient_random")),
        ("from random import choice", (1, "ambient_random")),
        ("import random\nrandom.Random()", (2, "ambient_random")),
        ("import secrets\nsecrets.token_hex()", (2, "ambient_random")),
        ("import os\nos.urandom(8)", (2, "ambient_random")),
        ("from random import SystemRandom", (1, "ambient_random")),
    ],
)
def test_what_is_ambient_is_found(text, expected):
    assert expected in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import datetime, timedelta\ndatetime(2026, 1, 1) + timedelta(1)",
        "import random\nrandom.Random(7).random()",
        "import uuid\nuuid.UUID('x')\nuuid.uuid5(uuid.NAMESPACE_URL, 'x')",
        "def f(clock):\n    return clock.now()",
        "time = 3\nprint(time)",
        "class A:\n    id: str\n    hash = 1",
        "f(id=1)\na.id",
        "from secrets import compare_digest",
        "import os\nos.path.join('a')",
    ],
)
def test_what_is_not_ambient_is_left_alone(text):
    assert rules(text) == []


@pytest.mark.parametrize(
    "path", ["src/agent_core/adapters/determinism/clocks.py", "src/hardgate/report/run.py"]
)
def test_only_the_runtime_without_its_determinism_adapters_is_bound(path):
    assert rules("import time\ntime.time()", path) == []
