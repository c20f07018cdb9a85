/**
 * Embeddings with a real model: the unmodified clients, the real front door, the gateway, the bridge of an agent, and the program that embeds. What
 * they are compared with was recorded with the library of the model (fixtures/minilm-vectors.json says which).
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MAX_EMBEDDING_INPUTS } from "@resontech/contracts/openai-surface";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { makeTestCa } from "@resontech/house/test-ca";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { embeddingsPython } from "@resontech/house/embeddings-python";
import { startEmbeddings } from "./helper/embeddings-replica.ts";
import { RunningGateway } from "./helper/running-gateway.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(600_000);
const run = promisify(execFile);
const KEY = "rpk_the-key-of-this-test";
const MODEL = "minilm";
const EQUAL = 1e-4;
const CLIENTS = join(import.meta.dirname, "openai/clients");
const FIXTURE = join(import.meta.dirname, "fixtures/minilm-vectors.json");
const expected = (JSON.parse(readFileSync(FIXTURE, "utf8")) as { vectors: number[][] }).vectors;
// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rte-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));

const { python, model } = await embeddingsPython();
const port = await freePort();
const gateway = await RunningGateway.open(dir, port, [
  {
    ...{ deployment: "job-1", name: MODEL, api: "openai", engine: "embeddings" },
    ...{ maxOngoingRequests: 4, key: KEY },
  },
]);
t.teardown(() => gateway[Symbol.asyncDispose]());
mkdirSync(join(dir, "ca"));
const certificates = await makeTestCa(join(dir, "ca"));
const door = await RunningDoor.start(join(dir, "door"), certificates, {
  ...{ coordinatorSocket: join(dir, "nobody.sock"), servingSocket: gateway.socket },
});
t.teardown(() => door[Symbol.asyncDispose]());

type Told = Record<string, unknown>;
const start = (name: string, folder: string) =>
  startEmbeddings(python, join(dir, name), { name: MODEL, folder, port });

async function client(program: string, script: string): Promise<Told> {
  const { stdout } = await run(program, [join(CLIENTS, script), FIXTURE], {
    env: {
      ...{ PATH: process.env["PATH"] ?? "", API_KEY: KEY, MODEL },
      BASE_URL: `https://localhost:${door.port}/v1`,
      ...{ SSL_CERT_FILE: certificates.caFile, NODE_EXTRA_CA_CERTS: certificates.caFile },
    },
    ...{ timeout: 120_000, maxBuffer: 64 * 1024 ** 2 },
  });
  return JSON.parse(stdout) as Told;
}

function furthest(vectors: unknown): number {
  const all = vectors as number[][];
  if (all.length !== expected.length) return Number.POSITIVE_INFINITY;
  return Math.max(
    ...expected.flatMap((one, at) =>
      one.map((value, place) => Math.abs(value - (all[at]?.[place] ?? Number.NaN))),
    ),
  );
}

t.test("weights that can't be read end it, and its last word says so", async (t) => {
  const broken = join(dir, "model");
  cpSync(model, broken, { recursive: true });
  const weights = readFileSync(join(model, "model.safetensors"));
  for (const [name, bytes, message] of [
    ["cut off", weights.subarray(0, weights.length / 2), /the place of .* is not in the file/],
    ["no safetensors", Buffer.from("this is no model"), /is no safetensors file/],
  ] as const) {
    writeFileSync(join(broken, "model.safetensors"), bytes);
    const program = start(name, broken);
    await untilFound("its last word", () => program.told().some(({ kind }) => kind === "failed"));
    t.match(program.told(), [{ kind: "failed", reason: "user_exception", message }], name);
    program.end();
  }
});

t.test("vectors are the library's own, by both clients and in both forms", async (t) => {
  const program = start("replica", model);
  t.teardown(() => program.end());
  await untilFound("a replica", () => program.told().some(({ kind }) => kind === "ready"));
  const byPython = await client(python, "embed.py");
  const byNode = await client(process.execPath, "embed.ts");
  for (const [name, vectors] of [
    ["Python, base64", byPython["default"]],
    ["Python, float", byPython["float"]],
    ["JavaScript, base64", byNode["default"]],
    ["JavaScript, float", byNode["float"]],
  ] as const)
    t.ok(furthest(vectors) <= EQUAL, `${name}: ${furthest(vectors)}`);
  t.match(byPython, {
    ...{ many: MAX_EMBEDDING_INPUTS, tokens: 3 * MAX_EMBEDDING_INPUTS },
    ...{ too_many: ["too_large", "input"], numbers: ["tokens_not_supported", "input"] },
    ...{ dimensions: ["unsupported_by_model", "dimensions"], own_dimensions: 384 },
    // A text that was cut would be found by its beginning alone.
    long: ["context_length_exceeded", "input"],
  });
});
