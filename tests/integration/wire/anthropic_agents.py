"""Agents on the anthropic SDK."""

from typing import ClassVar

import anthropic

from tests.integration.wire.agents import QUESTION, SCHEMA, SYSTEM, TOOL, Agent, Said


class MessagesAgent(Agent):
    """Messages."""

    STREAM: ClassVar = {"stream": True}

    def __init__(self, url, **options):
        super().__init__(url, **options)
        self.messages = [{"role": "user", "content": QUESTION}]
        self.content = []

    def client(self):
        return anthropic.Anthropic(base_url=self.url, **self.options)

    def async_client(self):
        return anthropic.AsyncAnthropic(base_url=self.url, **self.options)

    def endpoint(self, client):
        return client.messages

    def fields(self):
        return {
            "model": "claude-x",
            "max_tokens": 1000,
            "system": SYSTEM,
            "messages": self.messages,
            "tools": [{"name": TOOL, "description": "Multiplies.", "input_schema": SCHEMA}],
        }

    def read(self, client):
        if not self.stream:
            return self.said_in(client.messages.create(**self.fields()))
        with client.messages.stream(**self.fields()) as events:
            events.until_done()
            return self.said_in(events.get_final_message())

    async def read_async(self, client):
        if not self.stream:
            return self.said_in(await client.messages.create(**self.fields()))
        async with client.messages.stream(**self.fields()) as events:
            await events.until_done()
            return self.said_in(await events.get_final_message())

    def said_in(self, message):
        self.content = message.content
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [
            (block.id, block.name, block.input)
            for block in message.content
            if block.type == "tool_use"
        ]
        usage = (message.usage.input_tokens, message.usage.output_tokens)
        return Said(text, calls, message.stop_reason, usage)

    def answer(self, said, results):
        content = [block.to_dict(mode="json") for block in self.content]
        for block in content:
            # Arguments that are no object can't be sent back: the API takes nothing else.
            if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                block["input"] = {}
        self.messages.append({"role": "assistant", "content": content})
        if results:
            blocks = [
                {"type": "tool_result", "tool_use_id": call_id, "content": text}
                for call_id, text in results
            ]
            self.messages.append({"role": "user", "content": blocks})
