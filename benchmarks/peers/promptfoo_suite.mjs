// The works for promptfoo: a provider of our own, and assertions without a model.
//
// It has no scripted model and no agent loop: a provider takes a prompt and gives an answer. So the tool round trip is a plain
// function in the provider, and the figures of promptfoo are those of its checking alone. Started like works.py says.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const WORKS = JSON.parse(readFileSync(new URL("works.json", import.meta.url), "utf8"));
const WARM_UP_CASES = 20;
const WRONG = "no answer has this";
const OPTIONS = { cache: false, showProgressBar: false };

const calculate = (expression) => {
  const [left, right] = expression.split("*");
  return String(Number(left) * Number(right));
};

const provider = (work) => ({
  id: () => "scripted",
  callApi: async () => {
    if (work.expression === null) return { output: work.answer };
    const call = { name: "calculate", arguments: { expression: work.expression } };
    call.result = calculate(call.arguments.expression);
    return { output: work.answer, metadata: { toolCalls: [call] } };
  },
});

const calledCalculator = (expression) => (_, context) => {
  const [call, ...others] = context.providerResponse.metadata.toolCalls;
  return others.length === 0 && call.name === "calculate" && call.arguments.expression === expression;
};

export const prepare = (work, count) => {
  const assert = [{ type: "icontains", value: work.expected_text }];
  if (work.expected_expression !== null) {
    assert.push({ type: "javascript", value: calledCalculator(work.expected_expression) });
  }
  return {
    prompts: ["{{question}}"],
    providers: [provider(work)],
    tests: Array.from({ length: count }, (_, number) => ({
      description: `case_${number}`,
      vars: { question: work.question },
      assert,
    })),
    writeLatestResults: false,
  };
};

const run = async (promptfoo, suite) => {
  const evaluation = await promptfoo.evaluate(suite, OPTIONS);
  const summary = await evaluation.toEvaluateSummary();
  if (summary.results.length !== suite.tests.length) throw new Error(`${summary.results.length} results`);
  return summary.stats.successes;
};

const wrongWorks = (work) => {
  const wrong = [{ ...work, expected_text: WRONG }];
  if (work.expected_expression !== null) wrong.push({ ...work, expected_expression: WRONG });
  return wrong;
};

const measure = async (work, count) => {
  const { default: promptfoo } = await import("promptfoo");
  for (const wrong of wrongWorks(work)) {
    const passed = await run(promptfoo, prepare(wrong, WARM_UP_CASES));
    if (passed !== 0) throw new Error(`${passed} of ${WARM_UP_CASES} cases passed with a wrong expectation`);
  }
  await run(promptfoo, prepare(work, WARM_UP_CASES));
  const start = [performance.now(), process.cpuUsage()];
  const suite = prepare(work, count);
  const prepared = [performance.now(), process.cpuUsage()];
  const passed = await run(promptfoo, suite);
  const done = [performance.now(), process.cpuUsage()];
  if (passed !== count) throw new Error(`${passed} of ${count} cases passed`);
  const wall = (from, to) => (to[0] - from[0]) / 1e3;
  const cpu = (from, to) => (to[1].user + to[1].system - from[1].user - from[1].system) / 1e6;
  return {
    prepare_wall: wall(start, prepared),
    prepare_cpu: cpu(start, prepared),
    run_wall: wall(prepared, done),
    run_cpu: cpu(prepared, done),
  };
};

// What promptfoo's command reads: one case of the work with a tool.
export default prepare(WORKS.tool, 1);

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [name, count] = process.argv.slice(2);
  console.log(JSON.stringify(await measure(WORKS[name], Number(count))));
}
