"""An agent of the standard library: it does what the script says, with flaws on demand.

The flaws are words of the variable FLAWS. `python3 tiny_agent.py [PROMPT]`, or the prompt on stdin.
"""

import http.client
import json
import os
import subprocess
import sys
import time
import urllib.parse

FLAWS = os.environ.get("FLAWS", "").split()
TOOLS = ("add", "write_file")


def post(path, body, headers):
    url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(url.hostname, url.port)
    connection.request("POST", f"/v1/{path}", json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer, text


def use(name, arguments):
    """A tool's result."""
    if name == "add":
        return str(arguments["a"] + arguments["b"])
    report({"type": "effect", "call_id": arguments["call_id"], "tool": name})
    with open(arguments["path"], "w", encoding="utf-8") as file:
        file.write(arguments["text"])
    return "written"


def report(line):
    descriptor = os.environ.get("HARDGATE_REPORT_FD")
    if descriptor is not None and "silent" not in FLAWS:
        os.write(int(descriptor), json.dumps(line).encode() + b"\n")


class Chat:
    """Chat Completions."""

    def __init__(self, prompt):
        self.messages = [{"role": "user", "content": prompt}]
        self.tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]

    def ask(self):
        body = {"model": "any", "messages": self.messages, "tools": self.tools}
        key = os.environ["OPENAI_API_KEY"]
        return post("chat/completions", body, {"Authorization": f"Bearer {key}"})

    def take(self, answer):
        message = answer["choices"][0]["message"]
        self.messages.append(message)
        calls = message.get("tool_calls") or []
        return message["content"], [
            (one["id"], one["function"]["name"], one["function"]["arguments"]) for one in calls
        ]

    def give(self, results):
        self.messages += [
            {"role": "tool", "tool_call_id": call_id, "content": text}
            for call_id, text, _ in results
        ]


class Messages:
    """Anthropic's Messages."""

    def __init__(self, prompt):
        self.messages = [{"role": "user", "content": prompt}]
        self.tools = [{"name": name, "input_schema": {"type": "object"}} for name in TOOLS]

    def ask(self):
        body = {"model": "any", "max_tokens": 9, "messages": self.messages, "tools": self.tools}
        key = os.environ["ANTHROPIC_API_KEY"]
        return post("messages", body, {"x-api-key": key, "anthropic-version": "2023-06-01"})

    def take(self, answer):
        self.messages.append({"role": "assistant", "content": answer["content"]})
        text = "".join(one["text"] for one in answer["content"] if one["type"] == "text")
        calls = [one for one in answer["content"] if one["type"] == "tool_use"]
        return text, [(one["id"], one["name"], json.dumps(one["input"])) for one in calls]

    def give(self, results):
        blocks = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
            for call_id, text, failed in results
        ]
        self.messages.append({"role": "user", "content": blocks})


def results_of(calls):
    for call_id, name, arguments in calls:
        if "forgetful" in FLAWS:
            continue
        try:
            text, failed = use(name, {**json.loads(arguments), "call_id": call_id}), False
        except (KeyError, TypeError, ValueError) as error:
            text, failed = f"{type(error).__name__}", True
        report(
            {"type": "label", "item": "tool_result", "trust": "internal_tool", "call_id": call_id}
        )
        yield call_id, text, failed


def main():
    prompt = " ".join(sys.argv[1:]) or sys.stdin.read()
    report({"type": "capabilities", "reports": ["effects", "events", "labels"]})
    report({"type": "event", "event": "agent.prompted", "payload": {"characters": len(prompt)}})
    if "garbage" in FLAWS:
        os.write(int(os.environ["HARDGATE_REPORT_FD"]), b"not json\n")
    if "hangs" in FLAWS:
        time.sleep(600)
    if "floods" in FLAWS:
        while True:
            print("x" * 1000)
    if "child" in FLAWS:
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    if "environment" in FLAWS:
        print(json.dumps(dict(os.environ)))
        return 0
    chat = Messages(prompt) if "anthropic" in FLAWS else Chat(prompt)
    while True:
        answer, text = chat.ask()
        if answer.status == 429:
            patience = 0.1 if "hasty" in FLAWS else 1.0
            time.sleep(patience * float(answer.headers["retry-after"]))
        if answer.status != 200:
            if answer.status in (429, 500) or "stubborn" in FLAWS:
                continue
            print(text.decode(), file=sys.stderr)
            return 3
        said, calls = chat.take(json.loads(text))
        if not calls:
            break
        chat.give(list(results_of(calls)))
        if "crashes" in FLAWS:
            os.kill(os.getpid(), 9)
    if "eager" in FLAWS:
        chat.ask()
    if "file" in FLAWS:
        with open("answer.txt", "w", encoding="utf-8") as file:
            file.write(said)
    report({"type": "answer", "text": said})
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
