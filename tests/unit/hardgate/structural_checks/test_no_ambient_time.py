"""Clocks, identifiers, randomness and settings that a module takes by itself."""

import pytest

from tests.unit.hardgate.structural_checks.examining import PLACE, examine, said

PATH = "src/app/loop.py"
OPTIONS = {"roots": ["src"]}


def rules(text):
    found = examine("no_ambient_time", {PATH: text}, OPTIONS)
    assert found.examined == 1
    return sorted({(finding.line, finding.rule) for finding in found.findings})


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
        ("import os\nos.environ['HOME']", (2, "ambient_environment")),
        ("from os import getenv as read\nread('A')", (1, "ambient_environment")),
        ("import os as system\nf(system.environ)", (2, "ambient_environment")),
        ("from pathlib import Path\nPath.home()", (2, "ambient_environment")),
        ("__import__('time').time()", (1, "ambient_time")),
        ("import importlib\nimportlib.import_module('os').environ", (2, "ambient_environment")),
        ("import sys\nsys.modules['time'].time()", (2, "ambient_time")),
        ("import sys\nf(sys.modules['time'])", (2, "ambient_time")),
        ("import sys\nclock = sys.modules.get('time')\nclock.time()", (3, "ambient_time")),
        ("import importlib\nimportlib.import_module(name='time').time()", (2, "ambient_time")),
        ("import pkgutil\npkgutil.resolve_name('time:time')()", (2, "ambient_time")),
        ("__import__('os.path').environ", (1, "ambient_environment")),
        ("import random\nrandom.Random(None)", (2, "ambient_random")),
        ("import random\nrandom.Random(x=None)", (2, "ambient_random")),
        ("def f():\n    import time\n    return time.time()", (3, "ambient_time")),
        ("import time\ndef f(time=time):\n    return time.time()", (2, "ambient_time")),
        ("import time\ndef f(time):\n    import time\n    time.time()", (4, "ambient_time")),
    ],
)
def test_what_is_ambient_is_found(text, expected):
    assert expected in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import datetime, timedelta\ndatetime(2026, 1, 1) + timedelta(1)",
        "import random\nrandom.Random(7).random()",
        "import random\nrandom.Random(seed)",
        "import sys\nsys.modules['json'].dumps(sys.modules[name])",
        "import uuid\nuuid.UUID('x')\nuuid.uuid5(uuid.NAMESPACE_URL, 'x')",
        "def f(clock):\n    return clock.now()",
        "time = 3\nprint(time)",
        "class A:\n    id: str\n    hash = 1",
        "f(id=1)\na.id",
        "from secrets import compare_digest",
        "def f(id, hash):\n    return id, hash",
        "def f():\n    id = 3\n    return id",
        "def hash(text):\n    return text\nhash('a')",
        "import time\ndef f(time):\n    return time.time()",
        "import os\nos.path.join('a')",
    ],
)
def test_what_is_not_ambient_is_left_alone(text):
    assert rules(text) == []


CLOCKS = {"src/app/clocks.py": "import time\ndef now():\n    return time.time()", PATH: "x = 1"}


@pytest.mark.parametrize(
    ("options", "expected", "examined"),
    [
        ({}, ["src/app/clocks.py:3: ambient_time"], 2),
        ({"allowed_in": ["app.clocks"]}, [], 1),
        ({"of": ["identity"]}, [], 2),
        ({"modules": ["app.loop"]}, [], 1),
        ({"modules": ["app.lop"]}, [f"{PLACE}: unknown_module"], 0),
        ({"allowed_in": ["app.clocks", "app.loop"]}, [f"{PLACE}: unused_exception"], 0),
        ({"allowed_in": ["app"], "of": ["randomness"]}, [f"{PLACE}: unused_exception"], 0),
    ],
)
def test_who_is_bound_and_by_what(options, expected, examined):
    found = examine("no_ambient_time", CLOCKS, {**OPTIONS, **options})
    assert (said(found), found.examined) == (expected, examined)


def test_an_ambient_name_is_followed_through_a_module_that_may_have_it():
    files = {
        "src/app/clocks.py": "from time import time as now",
        PATH: "from app.clocks import now as moment\nmoment()",
    }
    found = examine("no_ambient_time", files, {**OPTIONS, "allowed_in": ["app.clocks"]})
    assert said(found) == [f"{PATH}:1: ambient_time", f"{PATH}:2: ambient_time"]
