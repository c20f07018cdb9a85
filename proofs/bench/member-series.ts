/**
 * What the figures of members cost: a real Prometheus is told six hours of 24 members with timestamps of the past, as fast as it looks, by the names and labels
 * that the coordinator gives. Then the question of a job's page is asked over all of it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import type { UseColumn } from "@resontech/contracts/agent-protocol";
import { jobUseQuery } from "@resontech/coordinator/use-queries";
import { deviceHolderFamilies, memberFamilies } from "@resontech/coordinator/use-samples";
import { freePort } from "@resontech/house/free-port";
import { untilFound } from "@resontech/house/until-found";
import type { ProofContext, ProofResult } from "../proof.ts";
import { seededRandom } from "@resontech/house/seeded-random";

const MEMBERS = 24;
const JOB = "job-bxc3wkzp646nq0nk";
const LOOK_S = 15;
const LOOKS = (6 * 3_600) / LOOK_S;
const LOOKS_OF_DAY = 86_400 / LOOK_S;
const POINTS = 500;
const TIMES_ASKED = 5;
const GOAL_BYTES = 200_000;
const GOAL_MS = 1_000;
const MIB_IN_KIB = 1_024;
/** Longer than all that is told: what is older than half of it would be refused. */
const BLOCK = "48h";

type BusyUse = Record<UseColumn, number>;

/** Members as busy trainings are: no figure stands still but the limit. */
class BusyMembers {
  readonly #random = seededRandom(7);
  readonly #members = Array.from(
    { length: MEMBERS },
    (): BusyUse => ({
      ...{ cpuMs: 0, memoryKib: 8_192 * MIB_IN_KIB, memoryPeakKib: 0, memoryLimitMib: 65_536 },
      ...{ diskReadKib: 0, diskWrittenKib: 0, networkReceivedKib: 0, networkSentKib: 0 },
    }),
  );

  /** All their lines at a time, 15 s after the ones before. */
  lines(atMs: number): string {
    const whose = (site: number) => ({
      ...{ job: JOB, attempt: "1", member: `${JOB}-a1-site-${site}`, site: `site-${site}` },
      node: `node-${site % 8}`,
    });
    for (const use of this.#members) this.#goOn(use);
    const families = [
      ...memberFamilies(this.#members.map((use, site) => ({ ...whose(site), use }))),
      ...deviceHolderFamilies(
        this.#members.map((_, site) => ({ ...whose(site), worker: `node-${site % 8}-${site}` })),
      ),
    ];
    return families
      .flatMap(([name, , samples]) =>
        samples.map(({ labels = {}, value }) => {
          const told = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
          return `resontech_${name}{${told.join(",")}} ${value} ${atMs}\n`;
        }),
      )
      .join("");
  }

  #goOn(use: BusyUse): void {
    const upTo = (most: number): number => Math.round(this.#random() * most);
    use.cpuMs += LOOK_S * (500 + upTo(3_000));
    use.memoryKib = Math.max(MIB_IN_KIB, use.memoryKib + upTo(200_000) - 100_000);
    use.memoryPeakKib = Math.max(use.memoryPeakKib, use.memoryKib);
    if (this.#random() < 0.3) use.diskReadKib += upTo(500_000);
    if (this.#random() < 0.1) use.diskWrittenKib += upTo(1_000_000);
    use.networkReceivedKib += 100 + (this.#random() < 0.2 ? upTo(50_000) : 0);
    use.networkSentKib += 100 + (this.#random() < 0.2 ? upTo(50_000) : 0);
  }
}

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const dir = mkdtempSync(join(tmpdir(), "rt-series-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const members = new BusyMembers();
  const fromMs = Date.now() - LOOKS * LOOK_S * 1_000;
  let looks = 0;
  const told = createServer((_request, reply) => {
    if (looks === LOOKS) return reply.writeHead(503).end();
    const text = members.lines(fromMs + looks++ * LOOK_S * 1_000);
    return reply.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text);
  }).listen(0, "127.0.0.1");
  await once(told, "listening");
  stack.defer(() => closeNow(told));
  const port = await freePort();
  const prometheus = await startPrometheus(dir, port, (told.address() as AddressInfo).port);
  stack.defer(() => end(prometheus));
  progress(`${LOOKS} looks at ${MEMBERS} members`);
  await untilFound("all looks", () => looks === LOOKS, 300_000);
  const times: number[] = [];
  let answerBytes = 0;
  for (let time = 0; time < TIMES_ASKED; time += 1) {
    const startedAt = performance.now();
    answerBytes = (await ask(port, fromMs)).length;
    times.push(performance.now() - startedAt);
  }
  // What its head holds reaches the disk whole at its end.
  await end(prometheus);
  const chunks = join(dir, "data", "chunks_head");
  const bytes = readdirSync(chunks).reduce(
    (sum, file) => sum + statSync(join(chunks, file)).size,
    0,
  );
  const dayBytes = Math.round((bytes / MEMBERS / LOOKS) * LOOKS_OF_DAY);
  const slowest = Math.round(Math.max(...times));
  return {
    ok: dayBytes > 0 && dayBytes <= GOAL_BYTES && slowest <= GOAL_MS,
    figures: {
      ...{ members: MEMBERS, looks: LOOKS, chunk_bytes: bytes, member_day_bytes: dayBytes },
      ...{ answer_kb: Math.round(answerBytes / 1_000), answer_slowest_ms: slowest },
    },
  };
}

async function startPrometheus(dir: string, port: number, target: number): Promise<ChildProcess> {
  const configFile = join(dir, "prometheus.json");
  const scrape = {
    job_name: "coordinator",
    static_configs: [{ targets: [`127.0.0.1:${target}`] }],
  };
  writeFileSync(
    configFile,
    JSON.stringify({
      global: { scrape_interval: "50ms", scrape_timeout: "50ms" },
      scrape_configs: [scrape],
    }),
  );
  const child = spawn(
    await ensureEngine("prometheus"),
    [
      ...[`--config.file=${configFile}`, `--web.listen-address=127.0.0.1:${port}`],
      ...[`--storage.tsdb.path=${join(dir, "data")}`, `--storage.tsdb.min-block-duration=${BLOCK}`],
      `--storage.tsdb.max-block-duration=${BLOCK}`,
    ],
    { stdio: "ignore" },
  );
  await untilFound("Prometheus", async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
    return ready?.ok;
  });
  return child;
}

/** As the coordinator asks for a job's page. */
async function ask(port: number, fromMs: number): Promise<string> {
  const spanS = LOOKS * LOOK_S;
  const stepS = Math.ceil(spanS / (POINTS - 1));
  const startS = Math.floor(fromMs / 1_000);
  const range = { start: String(startS), end: String(startS + spanS), step: String(stepS) };
  const body = new URLSearchParams({ query: jobUseQuery(JOB, [], stepS), ...range });
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/query_range`, {
    ...{ method: "POST", body },
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`Prometheus answered ${reply.status}: ${text.slice(0, 300)}`);
  return text;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}
