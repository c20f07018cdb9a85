/**
 * Clients of the OpenAI API as their makers publish them, through chat, streams, tools, a JSON schema, responses and embeddings: against the real front
 * door, the gateway, the bridge of an agent, llama.cpp with a real model, and the program that embeds with another. The coordinator is scripted.
 *
 *     npm run prove -- openai-clients
 *
 * The model is small, so what it says is no sense: each step looks at what a program would rely on. A stream's parts are the whole answer, arguments of a
 * call and an object have the schema's form, vectors of equal texts are equal.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { untilFound } from "@resontech/house/until-found";
import { makeTestCa } from "@resontech/house/test-ca";
import { freePort } from "@resontech/house/free-port";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { embeddingsPython } from "@resontech/house/embeddings-python";
import { startEmbeddings } from "@resontech/inference-gateway/testing/embeddings-replica";
import { llamaPython } from "@resontech/house/llama-python";
import { startLlama } from "@resontech/inference-gateway/testing/llama-replica";
import {
  RunningGateway,
  type TestRoute,
} from "@resontech/inference-gateway/testing/running-gateway";
import { type Client, installClients } from "./openai-clients/clients.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const run = promisify(execFile);
const KEY = "rpk_the-key-of-this-proof";
const CHAT = "small-chat";
const EMBEDDINGS = "minilm";
const CLIENT_MS = 300_000;

type Site = { url: string; port: number };
/** Step → true, or why not. */
type Told = Record<string, true | string>;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const clients = await installClients(progress);
  await using stack = new AsyncDisposableStack();
  // Short: a socket's path may have 107 bytes.
  const dir = mkdtempSync(join(tmpdir(), "rto-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "ca"));
  const certificates = await makeTestCa(join(dir, "ca"));

  /** A door with a gateway behind it, and the port where its engine is to listen. */
  const open = async (name: string, route: Pick<TestRoute, "name" | "engine">): Promise<Site> => {
    const port = await freePort();
    const folder = join(dir, name);
    mkdirSync(folder);
    const gateway = stack.use(
      await RunningGateway.open(folder, port, [
        { ...route, deployment: "job-1", api: "openai", maxOngoingRequests: 2, key: KEY },
      ]),
    );
    const door = stack.use(
      await RunningDoor.start(join(folder, "door"), certificates, {
        ...{ coordinatorSocket: join(folder, "nobody.sock"), servingSocket: gateway.socket },
      }),
    );
    return { url: `https://localhost:${door.port}/v1`, port };
  };
  progress("the engines");
  const chat = await open("c", { name: CHAT, engine: "llama.cpp" });
  const vectors = await open("e", { name: EMBEDDINGS, engine: "embeddings" });
  const llama = await llamaPython();
  const replica = stack.use(
    startLlama(llama.python, join(dir, "llama"), {
      ...{ modelPath: llama.weights, port: chat.port, name: CHAT, contextTokens: 4_096 },
    }),
  );
  await replica.ready();
  const { python, model } = await embeddingsPython();
  const embeddings = startEmbeddings(python, join(dir, "minilm"), {
    ...{ name: EMBEDDINGS, folder: model, port: vectors.port },
  });
  stack.defer(() => embeddings.end());
  await untilFound("the vectors", () => embeddings.told().some(({ kind }) => kind === "ready"));

  const held: Record<string, string[]> = {};
  const failures: string[] = [];
  for (const client of clients) {
    progress(client.name);
    const told = await ask(client, {
      ...{ CHAT_URL: chat.url, EMBEDDINGS_URL: vectors.url, API_KEY: KEY, CHAT, EMBEDDINGS },
      ...{ SSL_CERT_FILE: certificates.caFile, NODE_EXTRA_CA_CERTS: certificates.caFile },
    });
    held[client.name] = Object.keys(told).filter((step) => told[step] === true);
    for (const step of client.steps)
      if (told[step] !== true)
        failures.push(`${client.name}, ${step}: ${told[step] ?? "it was not tried"}`);
  }
  for (const failure of failures) progress(failure);
  const steps = Object.values(held).reduce((sum, { length }) => sum + length, 0);
  return { ok: failures.length === 0, figures: { clients: clients.length, steps, held, failures } };
}

async function ask({ program, script, env }: Client, site: Record<string, string>): Promise<Told> {
  try {
    const { stdout } = await run(program, [script], {
      env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...env, ...site },
      ...{ timeout: CLIENT_MS, maxBuffer: 64 * 1024 ** 2 },
    });
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "{}") as Told;
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return { chat: `the program ended: ${said.slice(-600)}` };
  }
}
