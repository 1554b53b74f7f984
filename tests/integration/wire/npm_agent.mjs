// An agent on the Vercel AI SDK. Usage: node npm_agent.mjs chat|responses|messages whole|stream
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;

const [api, way] = process.argv.slice(2);
const openai = createOpenAI();
const anthropic = createAnthropic({ baseURL: process.env.ANTHROPIC_BASE_URL + "/v1" });
const models = {
  chat: () => openai.chat("gpt-x"),
  responses: () => openai.responses("gpt-x"),
  messages: () => anthropic("claude-x"),
};
const options = {
  model: models[api](),
  system: "You multiply.",
  prompt: "What is 17 * 23?",
  stopWhen: stepCountIs(5),
  tools: {
    math_multiply: tool({
      description: "Multiplies.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: async ({ a, b }) => a * b,
    }),
  },
};
const result = way === "stream" ? streamText(options) : await generateText(options);
console.log(await result.text);
