"""The same small agent over each SDK: sync and async, whole answers and streams.

An agent asks, runs the tools that the model calls, and asks again until the model calls none. The
SDKs are used as their documentation shows; nothing here knows the scripted provider but its URL.
"""

import asyncio
import json
from typing import Any, NamedTuple

SYSTEM = "You multiply."
QUESTION = "What is 17 * 23?"
TOOL = "math_multiply"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}


class Said(NamedTuple):
    """One answer of the model; calls are (id, name, arguments as a text or a value)."""

    text: str
    calls: list[tuple[str, str, Any]]
    stop_reason: str | None
    usage: tuple[int, int]


def multiply(arguments):
    """The tool: its result, or what is wrong with its arguments."""
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else arguments
        return str(values["a"] * values["b"])
    except (ValueError, TypeError, KeyError) as error:
        return f"error: {type(error).__name__}"


class Agent:
    """An agent of one SDK; `options` go to its client, as max_retries and timeout do."""

    def __init__(self, url, *, asynchronous=False, stream=False, **options):
        self.url = url
        self.asynchronous = asynchronous
        self.stream = stream
        self.options = {"api_key": "not-a-key", "max_retries": 0, **options}
        self.said = []

    def run(self):
        """The final text. Raises what the SDK raises."""
        if self.asynchronous:
            return asyncio.run(self._run_async())
        with self.client() as client:
            while True:
                said = self.read(client)
                if self._done(said):
                    return said.text

    async def _run_async(self):
        async with self.async_client() as client:
            while True:
                said = await self.read_async(client)
                if self._done(said):
                    return said.text

    def streamed(self):
        """What one answer is streamed as; `events` has it even if the stream breaks."""
        self.events = []
        if self.asynchronous:
            asyncio.run(self._streamed_async())
        else:
            with self.client() as client:
                for event in self.endpoint(client).create(**self.fields(), **self.STREAM):
                    self.events.append(event)
        return self.events

    async def _streamed_async(self):
        async with self.async_client() as client:
            stream = await self.endpoint(client).create(**self.fields(), **self.STREAM)
            async for event in stream:
                self.events.append(event)

    def _done(self, said):
        self.said.append(said)
        self.answer(said, [(call_id, multiply(arguments)) for call_id, _, arguments in said.calls])
        return not said.calls
