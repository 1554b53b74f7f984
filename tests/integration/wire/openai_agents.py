"""Agents on the openai SDK: Chat Completions and Responses."""

from typing import ClassVar

import openai

from tests.integration.wire.agents import QUESTION, SCHEMA, SYSTEM, TOOL, Agent, Said


class OpenAIAgent(Agent):
    """What both APIs share: the clients."""

    def client(self):
        return openai.OpenAI(base_url=f"{self.url}/v1", **self.options)

    def async_client(self):
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", **self.options)


class ChatAgent(OpenAIAgent):
    """Chat Completions."""

    STREAM: ClassVar = {"stream": True, "stream_options": {"include_usage": True}}

    def endpoint(self, client):
        return client.chat.completions

    def __init__(self, url, **options):
        super().__init__(url, **options)
        self.messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": QUESTION},
        ]

    def fields(self):
        function = {"name": TOOL, "description": "Multiplies.", "parameters": SCHEMA}
        tools = [{"type": "function", "function": function}]
        return {"model": "gpt-x", "messages": self.messages, "tools": tools}

    def read(self, client):
        if not self.stream:
            return self.said_in(client.chat.completions.create(**self.fields()))
        usage = {"include_usage": True}
        with client.chat.completions.stream(**self.fields(), stream_options=usage) as events:
            events.until_done()
            return self.said_in(events.get_final_completion())

    async def read_async(self, client):
        if not self.stream:
            return self.said_in(await client.chat.completions.create(**self.fields()))
        usage = {"include_usage": True}
        async with client.chat.completions.stream(**self.fields(), stream_options=usage) as events:
            await events.until_done()
            return self.said_in(await events.get_final_completion())

    def said_in(self, completion):
        (choice,) = completion.choices
        calls = [
            (call.id, call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or []
        ]
        usage = (completion.usage.prompt_tokens, completion.usage.completion_tokens)
        return Said(choice.message.content or "", calls, choice.finish_reason, usage)

    def answer(self, said, results):
        message = {"role": "assistant", "content": said.text}
        if said.calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}}
                for i, name, arguments in said.calls
            ]
        self.messages.append(message)
        self.messages += [
            {"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in results
        ]


class ResponsesAgent(OpenAIAgent):
    """Responses, with the whole conversation in each request."""

    STREAM: ClassVar = {"stream": True}

    def endpoint(self, client):
        return client.responses

    def __init__(self, url, **options):
        super().__init__(url, **options)
        self.input = [{"role": "user", "content": QUESTION}]
        self.previous = None
        self.output = []

    def fields(self):
        tool = {"type": "function", "name": TOOL, "parameters": SCHEMA, "strict": False}
        return {
            "model": "gpt-x",
            "instructions": SYSTEM,
            "input": self.input,
            "tools": [tool],
        }

    def read(self, client):
        if not self.stream:
            return self.said_in(client.responses.create(**self.fields()))
        with client.responses.stream(**self.fields()) as events:
            events.until_done()
            return self.said_in(events.get_final_response())

    async def read_async(self, client):
        if not self.stream:
            return self.said_in(await client.responses.create(**self.fields()))
        async with client.responses.stream(**self.fields()) as events:
            await events.until_done()
            return self.said_in(await events.get_final_response())

    def said_in(self, response):
        self.previous, self.output = response.id, response.output
        calls = [
            (item.call_id, item.name, item.arguments)
            for item in response.output
            if item.type == "function_call"
        ]
        details = response.incomplete_details
        reason = details.reason if details else response.status
        usage = (response.usage.input_tokens, response.usage.output_tokens)
        return Said(response.output_text, calls, reason, usage)

    def answer(self, said, results):
        self.input += [item.to_dict(mode="json", exclude_unset=True) for item in self.output]
        self.input += self.outputs(results)

    def outputs(self, results):
        return [
            {"type": "function_call_output", "call_id": call_id, "output": text}
            for call_id, text in results
        ]


class StatefulAgent(ResponsesAgent):
    """Responses, where each request names the response before and brings only what is new."""

    def fields(self):
        more = {"previous_response_id": self.previous} if self.previous else {}
        return {**super().fields(), **more}

    def answer(self, said, results):
        self.input = self.outputs(results)
