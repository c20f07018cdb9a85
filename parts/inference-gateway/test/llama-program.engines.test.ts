/** The program around llama.cpp by itself: how it ends, and why. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LlamaSpec } from "@resontech/contracts/llama-spec";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { llamaPython } from "@resontech/house/llama-python";
import type { EngineReplica } from "./helper/engine-replica.ts";
import { startLlama } from "./helper/llama-replica.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(600_000);
const dir = mkdtempSync(join(tmpdir(), "rtl-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const { python, weights } = await llamaPython();
let started = 0;
async function start(modelPath: string, more: Partial<LlamaSpec> = {}): Promise<EngineReplica> {
  const spec = { ...more, modelPath, port: await freePort() };
  return startLlama(python, join(dir, String(++started)), spec);
}

t.test("weights that can't be read end it, and its last word says so", async (t) => {
  const file = (name: string, bytes: Uint8Array): string => {
    writeFileSync(join(dir, name), bytes);
    return join(dir, name);
  };
  const whole = readFileSync(weights);
  for (const [name, path] of [
    ["no GGUF", file("text.gguf", Buffer.from("this is no model"))],
    ["cut off", file("half.gguf", whole.subarray(0, whole.length / 2))],
    ["header alone", file("head.gguf", whole.subarray(0, 1_000))],
  ] as const) {
    await using replica = await start(path);
    t.equal(await replica.ended(), 1, name);
    t.match(
      replica.told(),
      [{ kind: "failed", reason: "user_exception", message: /^the weights could not be loaded: / }],
      name,
    );
  }
  await using none = await start(join(dir, "none.gguf"));
  t.equal(await none.ended(), 1);
  t.match(none.told(), [{ kind: "failed", message: /No such file/ }]);
});

t.test("texts are embedded where that is the task", async (t) => {
  await using replica = await start(weights, { task: "embed", pooling: "mean" });
  await replica.ready();
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${replica.port}${path}`, {
      ...{ method: "POST", body: JSON.stringify(body) },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const { status, body } = await ask("/v1/embeddings", { input: ["a cat", "a kitten", "17 + 4"] });
  t.equal(status, 200);
  const vectors = (body["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding);
  const dot = (a: number, b: number) =>
    (vectors[a] ?? []).reduce((sum, value, at) => sum + value * (vectors[b]?.[at] ?? 0), 0);
  t.ok(Math.abs(dot(0, 0) - 1) < 1e-3, "of length one");
  t.ok(dot(0, 1) > dot(0, 2), "what means the same is nearer");
  t.match(body["usage"], { prompt_tokens: Number });
  t.match(await ask("/v1/embeddings", { input: "a", encoding_format: "base64" }), {
    body: { data: [{ embedding: /^[A-Za-z0-9+/]+=*$/ }] },
  });
  // llama.cpp calls it a fault of its own.
  t.match(await ask("/v1/embeddings", { input: ["a", "word ".repeat(600)] }), {
    body: { error: { type: "exceed_context_size_error", param: "input" } },
  });
});

async function complete(replica: EngineReplica, prompt: string, tokens: number): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${replica.port}/v1/completions`, {
    method: "POST",
    body: JSON.stringify({ prompt, max_tokens: tokens, temperature: 0, seed: 1 }),
  });
  const { choices } = (await answer.json()) as { choices: { text: string }[] };
  return choices[0]?.text;
}

t.test("an engine that hangs while its socket takes calls is ended", async (t) => {
  for (const isAsked of [false, true]) {
    await using replica = await start(weights);
    await replica.ready();
    process.kill(replica.enginePid, "SIGSTOP");
    if (isAsked) complete(replica, "Once upon a time", 20).catch(() => {});
    t.equal(await replica.ended(), 1);
    t.match(replica.told().slice(-2), [
      { kind: "standing", standing: "stalled" },
      { kind: "failed", reason: "no_progress", message: /next to nothing of it runs$/ },
    ]);
  }
});

t.test("a saturated engine that reads long prompts is ended by nobody", async (t) => {
  await using replica = await start(weights, { contextTokens: 4_096 });
  await replica.ready();
  const prompt = "The quick brown fox jumps over the lazy dog. ".repeat(30);
  const closesAt = performance.now() + 20_000;
  let answers = 0;
  const caller = async (name: number): Promise<void> => {
    while (performance.now() < closesAt) {
      await complete(replica, `${name} ${answers} ${prompt}`, 1);
      answers += 1;
    }
  };
  await Promise.all([caller(1), caller(2)]);
  t.ok(answers > 0, `${answers} answers`);
  t.notOk(replica.told().some(({ kind }) => kind === "failed"));
});

t.test("a sleeper wakes each time, and answers as before", async (t) => {
  await using replica = await start(weights);
  await replica.ready();
  const before = await complete(replica, "The capital of France is", 16);
  const stat = () => readFileSync(`/proc/${replica.enginePid}/stat`, "utf8");
  for (let turn = 0; turn < 20; turn++) {
    replica.wish(2 * turn + 1, true);
    await replica.stands("asleep", 2 * turn + 1, 20_000);
    await untilFound("it stops", () => /\) T /.test(stat()));
    // Longer than a hang would take to be seen, once.
    await sleep(turn === 0 ? 15_000 : 50);
    replica.wish(2 * turn + 2, false);
    // How soon is measured by the proof wake-times.
    await replica.stands("well", 2 * turn + 2, 10_000);
  }
  t.equal(await complete(replica, "The capital of France is", 16), before);
  t.notOk(replica.told().some(({ kind }) => kind === "failed"));
});

t.test("a stop ends it and its engine, while it loads and later", async (t) => {
  for (const isReady of [false, true]) {
    await using replica = await start(weights);
    if (isReady) await replica.ready();
    else await untilFound("an engine", () => replica.enginePid > 0);
    replica.stop();
    t.equal(await replica.ended(), 143);
    t.notOk(replica.told().some(({ kind }) => kind === "failed"));
  }
});
