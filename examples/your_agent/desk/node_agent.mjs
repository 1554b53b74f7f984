#!/usr/bin/env node
// The order desk without Python and without an SDK: Node's own fetch, Chat Completions.
// The prompt comes on standard input.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const INSTRUCTIONS = "You work at an order desk. Use your tools; answer in one sentence.";
const MOST_TURNS = 10;
const MOST_RETRIES = 3;

const TOOLS = {
  files_read: {
    description: "Reads a file.",
    parameters: { path: "string" },
    run: async ({ path }) => await readFile(path, "utf8"),
  },
  files_write: {
    description: "Writes a file.",
    parameters: { path: "string", text: "string" },
    run: async ({ path, text }) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return `wrote ${path}`;
    },
  },
  math_multiply: {
    description: "Multiplies two numbers.",
    parameters: { a: "integer", b: "integer" },
    run: async ({ a, b }) => String(a * b),
  },
};

const offered = Object.entries(TOOLS).map(([name, { description, parameters }]) => ({
  type: "function",
  function: {
    name,
    description,
    parameters: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(parameters).map(([key, type]) => [key, { type }]),
      ),
      required: Object.keys(parameters),
    },
  },
}));

async function ask(messages) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model: "gpt-4.1-mini", messages, tools: offered }),
    });
    if (response.ok) return (await response.json()).choices[0].message;
    if (response.status !== 429 || attempt === MOST_RETRIES) {
      throw new Error(`${response.status}: ${await response.text()}`);
    }
    await response.text();
    await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
  }
}

async function run({ name, arguments: written }) {
  if (!Object.hasOwn(TOOLS, name)) return `refused: the desk has no tool ${name}`;
  try {
    return await TOOLS[name].run(JSON.parse(written));
  } catch (error) {
    return `failed: ${error.message}`;
  }
}

async function answer(prompt) {
  const messages = [
    { role: "system", content: INSTRUCTIONS },
    { role: "user", content: prompt },
  ];
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const message = await ask(messages);
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: await run(call.function) });
    }
  }
  throw new Error(`no answer after ${MOST_TURNS} turns`);
}

console.log(await answer(await text(process.stdin)));
