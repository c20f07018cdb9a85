/**
 * Deployments that sleep on an installed appliance. First calls that come at the very moment at which a replica is closed: none may fail. Beside them
 * how long a sleeping model takes to answer, and whether it says the same as before. Then deployments that have no replica: how long until a first
 * answer of llama.cpp, and of a predictor with torch.
 *
 *     npm run prove -- wake-times [CYCLES] [CALLS AT EACH EDGE]
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { runChild } from "@resontech/house/run-child";
import type { BundleSummary, LocalAppliance } from "@resontech/house/local-appliance";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import { type CallOutcome, Http2Calls } from "./wake-times/http2-calls.ts";
import { quantile } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

/** Each deployment whose edges are met has one; several share a processor. */
const EDGE_WORKERS = 4;
/** Where times are taken: one for each processor, as an install without the option has them. */
const WORKERS = Math.max(2, availableParallelism());
const SLEEPERS = 2;
/** The shortest that a replica stays, and with it the delay that is asked for. */
const IDLE_MS = 60_000;
const SCALING = `, autoscaling: {min_replicas: 0, max_replicas: 1, downscale_delay_s: ${IDLE_MS / 1_000}}`;
const EDGE_MS = 50;
const LOOK_MS = 10;
/** Far below what the door waits for on a connection. */
const CONNECTED_MS = 5_000;
const STATE_LIMIT_MS = 150_000;
/** Of the time that it took, in nine of ten. */
const ANNOUNCED_WITHIN = 0.25;
const ANNOUNCED_SHARE = 0.9;
const MOST_ASLEEP_MS = 1_500;
const MOST_COLD_LLAMA_MS = 4_000;
const MOST_COLD_TORCH_MS = 8_000;

type Wake = Pick<CallOutcome, "status" | "wasRefused"> & {
  announcedMs: number | null;
  ms: number;
  isSame: boolean;
};
type Edge = { kind: "before" | "after"; outcomes: CallOutcome[]; at: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const cycles = Number(args[0] ?? 11);
  // The gateway lets 256 calls wait.
  const calls = Number(args[1] ?? 250);
  const { met, bundle } = await meetEdges(cycles, calls, progress);
  const { wakes, cold } = await takeTimes(bundle, cycles, progress);
  const all = met.flatMap(({ outcomes, at }) =>
    outcomes.map((outcome) => ({ ...outcome, isNear: Math.abs(outcome.sentAt - at) <= EDGE_MS })),
  );
  const failed = [...all, ...wakes].filter(({ status }) => status !== 200);
  const p95 = {
    asleep_ms: quantile(
      wakes.map(({ ms }) => ms),
      0.95,
    ),
    cold_llama_ms: quantile(cold.llama, 0.95),
    cold_torch_ms: quantile(cold.torch, 0.95),
  };
  const announced = wakes.flatMap(({ announcedMs, ms }) =>
    announcedMs === null ? [] : [Math.abs(ms - announcedMs) / ms],
  );
  const different = wakes.filter(({ isSame }) => !isSame).length;
  return {
    ok:
      failed.length === 0 &&
      different === 0 &&
      quantile(announced, ANNOUNCED_SHARE) <= ANNOUNCED_WITHIN &&
      p95.asleep_ms <= MOST_ASLEEP_MS &&
      p95.cold_llama_ms <= MOST_COLD_LLAMA_MS &&
      p95.cold_torch_ms <= MOST_COLD_TORCH_MS,
    figures: {
      edges: met.length,
      calls: all.length,
      within_50_ms: all.filter(({ isNear }) => isNear).length,
      failed: failed.length,
      refused_and_sent_again: [...all, ...wakes].filter(({ wasRefused }) => wasRefused).length,
      why: failed.slice(0, 5),
      wakes: wakes.length,
      different,
      announced: announced.length,
      announced_right: announced.filter((off) => off <= ANNOUNCED_WITHIN).length,
      p95,
      asleep_ms: wakes.map(({ ms }) => ms),
      announced_and_waited_ms: wakes.map(({ announcedMs, ms }) => [announcedMs, ms]),
      cold_ms: cold,
    },
  };
}

/** Calls at the very moments at which replicas close. */
async function meetEdges(
  cycles: number,
  calls: number,
  progress: (line: string) => void,
): Promise<{ met: Edge[]; bundle: BundleSummary }> {
  await using installed = await ProofAppliance.install(progress, undefined, {
    cpuWorkers: EDGE_WORKERS,
  });
  const api = new ApplianceApi(installed.appliance);
  progress(`${EDGE_WORKERS} models are deployed`);
  const edges: SleepingChat[] = [];
  for (let at = 0; at < EDGE_WORKERS; at++)
    edges.push(await SleepingChat.deploy(installed, api, `edge ${at}`));
  const met: Edge[] = [];
  await Promise.all(
    edges.map(async (one, at) => {
      // Their edges are apart, so that each burst has the processors.
      await sleep(at * 12_000);
      for (let cycle = 0; cycle < cycles; cycle++) {
        met.push(await one.meetEdge(cycle % 2 === 0 ? "after" : "before", calls));
        progress(`${one.name}, edge ${cycle + 1}: ${describe(met.at(-1)!)}`);
      }
    }),
  );
  for (const one of edges) await one.remove();
  api.close();
  return { met, bundle: installed.bundle };
}

/** How long deployments take to answer that sleep, and others that have no replica. */
async function takeTimes(
  bundle: BundleSummary,
  cycles: number,
  progress: (line: string) => void,
): Promise<{ wakes: Wake[]; cold: { llama: number[]; torch: number[] } }> {
  await using installed = await ProofAppliance.install(progress, bundle, { cpuWorkers: WORKERS });
  const api = new ApplianceApi(installed.appliance);
  progress(`${SLEEPERS} models sleep and are woken`);
  const sleepers: SleepingChat[] = [];
  for (let at = 0; at < SLEEPERS; at++)
    sleepers.push(await SleepingChat.deploy(installed, api, `sleeper ${at}`));
  const wakes: Wake[] = [];
  await Promise.all(
    sleepers.map(async (one, at) => {
      await sleep(at * 18_000);
      for (let cycle = 0; cycle < cycles; cycle++) wakes.push(await one.wake());
    }),
  );
  for (const one of sleepers) await one.remove();
  progress("deployments without a replica");
  const cold = await coldTimes(installed, api, Math.max(1, Math.ceil(cycles / 2)), progress);
  api.close();
  return { wakes, cold };
}

const describe = ({ kind, outcomes, at }: Edge) => {
  const sent = outcomes.map(({ sentAt }) => sentAt - at);
  const [refused] = outcomes.filter(({ status }) => status !== 200);
  const why = refused === undefined ? "" : `; ${refused.status} ${refused.said.slice(0, 200)}`;
  return `${kind}, ${outcomes.filter(({ status }) => status === 200).length} of ${outcomes.length} answered, sent ${Math.min(...sent)} to ${Math.max(...sent)} ms from it${why}`;
};

class SleepingChat {
  readonly name: string;
  readonly #chat: ChatDeployment;
  readonly #id: string;
  readonly #api: ApplianceApi;
  #said: string | null = null;
  /** The coordinator looks at so many milliseconds past each quarter second. */
  #phase: number | null = null;
  #lastEndAt = Date.now();

  private constructor(chat: ChatDeployment, id: string, api: ApplianceApi) {
    this.name = chat.name;
    this.#chat = chat;
    this.#id = id;
    this.#api = api;
  }

  static async deploy(
    installed: ProofAppliance,
    api: ApplianceApi,
    name: string,
    slots = 8,
  ): Promise<SleepingChat> {
    const folder = installed.folder(name.replace(" ", "-"));
    const chat = await ChatDeployment.make(installed.appliance, folder, {
      ...{ name, slots, cluster: SCALING },
    });
    return new SleepingChat(chat, await chat.deploy(), api);
  }

  async remove(): Promise<void> {
    await this.#chat.remove(this.#id);
  }

  /** Calls that are sent just after the replica was closed, or about when it would be. */
  async meetEdge(asked: Edge["kind"], count: number): Promise<Edge> {
    const kind = this.#phase === null ? "after" : asked;
    if (this.#said === null) await this.#ask(1);
    const from = this.#lastEndAt + IDLE_MS;
    await sleep(Math.max(0, from - Date.now() - 1_500));
    if (kind === "after") return await this.#meetClosed(count);
    using calls = await this.#open(count);
    const at = from + ((this.#phase! - (from % 250) + 250) % 250);
    await sleep(Math.max(0, at - EDGE_MS - Date.now()));
    const sent: Promise<CallOutcome>[] = [];
    // Evenly over the time around the edge.
    for (let step = 0; step < 10; step++) {
      sent.push(...this.#burst(calls, Math.floor(count / 10)));
      await sleep(Math.max(0, at - EDGE_MS + (step + 1) * (EDGE_MS / 5) - Date.now()));
    }
    const outcomes = await Promise.all(sent);
    this.#lastEndAt = Date.now();
    return { kind, outcomes, at };
  }

  /** A replica that took long to come stays for longer, and the door closes connections that are idle: they are opened anew until it goes. */
  async #meetClosed(count: number): Promise<Edge> {
    for (const end = Date.now() + STATE_LIMIT_MS; Date.now() < end; ) {
      using calls = await this.#open(count);
      const closedAt = await this.#closedWithin(CONNECTED_MS);
      if (closedAt === null) continue;
      this.#phase = closedAt % 250;
      const outcomes = await Promise.all(this.#burst(calls, count));
      this.#lastEndAt = Date.now();
      return { kind: "after", outcomes, at: closedAt };
    }
    throw new Error(`${this.name} never slept`);
  }

  async #closedWithin(ms: number): Promise<number | null> {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(LOOK_MS)) {
      const since = await sinceWhen(this.#api, this.#id, (state) => state !== "HOT");
      if (since !== null) return since;
    }
    return null;
  }

  /** One call of one that sleeps. */
  async wake(): Promise<Wake> {
    const before = (this.#said ??= (await this.#ask(24)).said);
    await this.until((state) => state === "SLEEPING", 100);
    const announcedMs = await this.#announced();
    const { sentAt, beganAt, status, said, wasRefused } = await this.#ask(24);
    const ms = beganAt - sentAt;
    return { announcedMs, ms, isSame: isSame(said, before), status, wasRefused };
  }

  /** What people are told that a call would wait now. */
  async #announced(): Promise<number | null> {
    const { body } = await this.#api.call("GET", `/api/inference/jobs/${this.#id}`);
    return (body as DeploymentReply).serving?.wakeMs ?? null;
  }

  /** One call of one that has no replica. */
  async wakeCold(): Promise<number> {
    await this.until((state) => state === "COLD", 100);
    const { sentAt, beganAt, status, said } = await this.#ask(8);
    if (status !== 200) throw new Error(`${this.name}: ${status} ${said}`);
    return beganAt - sentAt;
  }

  /** Resolves with when its state began. */
  async until(isIt: (state: string) => boolean, everyMs: number): Promise<number> {
    return await untilState(this.#api, this.#id, isIt, everyMs);
  }

  #open(count: number): Promise<Http2Calls> {
    const { base, ca } = door(this.#chat.appliance);
    return Http2Calls.open(base, ca, this.#chat.key, count);
  }

  #burst(calls: Http2Calls, count: number): Promise<CallOutcome>[] {
    return Array.from({ length: count }, () => calls.post(...this.#call(1, false)));
  }

  async #ask(tokens: number): Promise<CallOutcome> {
    using calls = await this.#open(1);
    const outcome = await calls.post(...this.#call(tokens, true));
    this.#lastEndAt = Date.now();
    this.#said ??= outcome.said;
    return outcome;
  }

  /** A stream's answer begins with its first token. */
  #call(tokens: number, stream: boolean): [path: string, body: object] {
    const messages = [{ role: "user", content: "Tell me of the sea." }];
    return [
      "/v1/chat/completions",
      { model: this.name, max_tokens: tokens, temperature: 0, stream, messages },
    ];
  }
}

const isSame = (said: string, before: string): boolean =>
  contentOf(said) !== "" && contentOf(said) === contentOf(before);

/** Of the events of a stream the text that they make together. */
function contentOf(said: string): string {
  const events = said
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] });
  return events.map(({ choices }) => choices[0]?.delta?.content ?? "").join("");
}

function door(appliance: LocalAppliance): { base: string; ca: Buffer } {
  const { RESON_BASE_URL: base = "", SSL_CERT_FILE: root = "" } = appliance.quickstart();
  return { base, ca: readFileSync(root) };
}

async function untilState(
  api: ApplianceApi,
  id: string,
  isIt: (state: string) => boolean,
  everyMs: number,
): Promise<number> {
  for (const end = Date.now() + STATE_LIMIT_MS; Date.now() < end; await sleep(everyMs)) {
    const since = await sinceWhen(api, id, isIt);
    if (since !== null) return since;
  }
  throw new Error(`${id} never got to that state`);
}

/** Null where its state is another one. */
async function sinceWhen(
  api: ApplianceApi,
  id: string,
  isIt: (state: string) => boolean,
): Promise<number | null> {
  const { status, body } = await api.call("GET", `/api/inference/jobs/${id}`);
  const { serving } = body as DeploymentReply;
  return status === 200 && serving !== null && isIt(serving.state)
    ? Date.parse(serving.since)
    : null;
}

const TORCH = `import torch


class Sum:
    def __init__(self):
        self.layer = torch.nn.Linear(64, 1)

    def warmup(self):
        self.layer(torch.zeros(1, 64))

    def predict(self, data):
        return {"sum": float(torch.frombuffer(bytearray(data), dtype=torch.uint8).sum())}
`;

/** A chat and a predictor with torch lose their replicas to others who want the workers, and are called again. */
async function coldTimes(
  installed: ProofAppliance,
  api: ApplianceApi,
  cycles: number,
  progress: (line: string) => void,
): Promise<{ llama: number[]; torch: number[] }> {
  const { appliance } = installed;
  const folder = installed.folder("cold");
  const resontech = (...words: string[]) =>
    runChild(join(appliance.root, "current", "bin", "resontech"), words, {
      env: { PATH: process.env["PATH"], ...appliance.quickstart() },
      quiet: true,
    });
  const keyFile = (name: string) => join(folder, `${name}.key`);
  const deploy = async (name: string, cluster: string) => {
    const source = join(folder, name);
    mkdirSync(join(source, "scripts"), { recursive: true });
    writeFileSync(join(source, "scripts", "torch_sum.py"), TORCH);
    writeFileSync(
      join(source, "inference.yaml"),
      `model: {module: torch_sum, class_name: Sum}\ncluster: {device: cpu, ${cluster}}\n`,
    );
    const said = await resontech(
      ...["infer", "deploy", source, "--gpu-models", "cpu", "--wait", "--json"],
      ...["--key-file", keyFile(name)],
    );
    return (JSON.parse(said) as { jobId: string }).jobId;
  };
  if (WORKERS > 2) await deploy("others", `num_workers: ${WORKERS - 2}`);
  const sum = await deploy("sum", SCALING.slice(2));
  const chat = await SleepingChat.deploy(installed, api, "cold chat", 2);
  const { base, ca } = door(appliance);
  const times = { llama: [] as number[], torch: [] as number[] };
  for (let cycle = 0; cycle < cycles; cycle++) {
    await chat.until((state) => state === "SLEEPING", 250);
    await untilState(api, sum, (state) => state === "SLEEPING", 250);
    const more = await deploy(`more-${cycle}`, "num_workers: 2");
    await resontech("infer", "rm", more);
    times.llama.push(await chat.wakeCold());
    await untilState(api, sum, (state) => state === "COLD", 100);
    using calls = await Http2Calls.open(base, ca, readFileSync(keyFile("sum"), "utf8").trim(), 1);
    const { sentAt, beganAt, status, said } = await calls.post(`/inference/${sum}/predict`, {
      data_b64: "AQI=",
    });
    if (status !== 200) throw new Error(`the predictor: ${status} ${said}`);
    times.torch.push(beganAt - sentAt);
    progress(`cold ${cycle + 1}: llama ${times.llama.at(-1)} ms, torch ${times.torch.at(-1)} ms`);
  }
  return times;
}
