/**
 * Usage beside what the engine counts: calls of which some are left by their callers, while gateway, keeper of usage, auditd and the engine's connections
 * are killed again and again. The gateway and auditd are the real programs, the bridge between gateway and engine is an agent's own, and the keeper is the
 * coordinator's socket, table and database. The engine is played, for it has to count by call; `parts/inference-gateway/test/openai.engines.test.ts` has a real one.
 *
 * `npm run prove -- inference-usage [CALLS [SEED]]` (100,000 unless said)
 */
import { createHash, X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import Database from "better-sqlite3";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { ServerBridge } from "@resontech/agent/server-bridge";
import { TestPki } from "@resontech/house/test-pki";
import {
  type CallBegun,
  type CallEnded,
  readCallLine,
} from "@resontech/inference-gateway/call-line";
import { SILENT_LOG as log } from "@resontech/house/silent-log";
import { CountingEngine } from "./inference-usage/counting-engine.ts";
import { KeptUp } from "./inference-usage/kept-up.ts";
import { type Made, makeCall, type CallSpec } from "./inference-usage/make-call.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";
import { freePort } from "@resontech/house/free-port";

const CALLS = 100_000;
const AT_ONCE = 24;
const LEFT_SHARE = 0.05;
const KILL_EVERY_MS = 2_500;
const HOST = "127.0.0.1";
const KEY = "rpk_key-of-this-proof";
const certificateOf = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [calls = CALLS, seed = 1] = args.map(Number);
  const random = seededRandom(seed);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "rtu-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const parts = await openParts(dir, stack);

  const users = new Map<string, string>();
  const whole: string[] = [];
  let left = 0;
  let made = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  stack.defer(() => agent.destroy());
  const keepCalling = async (): Promise<void> => {
    while (made < calls) {
      const user = `u-${made++}`;
      const leaves = random() < LEFT_SHARE;
      const wish: CallSpec = {
        ...{ user, promptTokens: upTo(40), maxTokens: upTo(leaves ? 60 : 12) },
        ...{ isStream: leaves || random() < 0.5, leavesAfter: leaves ? upTo(5) : null },
      };
      const { isWhole, requestSha256 }: Made = await makeCall(parts.socket, agent, KEY, wish);
      users.set(requestSha256, user);
      if (isWhole) whole.push(requestSha256);
      if (leaves) left += 1;
      if (made % 5_000 === 0) progress(`${made} of ${calls} calls, ${whole.length} whole`);
    }
  };
  const calling = Promise.all(Array.from({ length: AT_ONCE }, keepCalling));
  const over = new AbortController();
  void calling.finally(() => over.abort());
  const cuts = { audit: 0, engine: 0 };
  while (!over.signal.aborted) {
    await sleep(KILL_EVERY_MS);
    if (over.signal.aborted) break;
    switch (upTo(4)) {
      case 1:
        parts.gateway.kill();
        break;
      case 2:
        parts.keeper.kill();
        break;
      case 3:
        parts.engine.cut();
        cuts.engine += 1;
        break;
      default:
        await parts.auditd.stop("SIGKILL");
        cuts.audit += 1;
        await parts.auditd.start();
    }
  }
  await calling;
  // The next life of the gateway ends what the last one left.
  parts.gateway.kill();
  const journal = await settledJournal(join(dir, "calls"), progress);
  const sums = sumsOf(journal);
  const kept = await settledUsage(join(dir, "keeper.db"), sums, progress);

  const faults: string[] = [];
  const endOf = new Map(journal.map(({ begun, end }) => [begun.requestSha256, end]));
  let exact = 0;
  let notTold = 0;
  for (const [digest, end] of endOf) {
    const engine = parts.engine.of.get(users.get(digest) ?? "");
    if (engine === undefined) {
      if (end.usage !== null && end.usage.completionTokens > 0)
        faults.push(`${digest}: no engine had it`);
      continue;
    }
    if (end.usage?.isExact === true) {
      exact += 1;
      if (
        end.usage.promptTokens !== engine.promptTokens ||
        end.usage.completionTokens !== engine.completionTokens
      )
        faults.push(
          `${digest}: ${JSON.stringify(end.usage)}, the engine ${JSON.stringify(engine)}`,
        );
    } else {
      notTold += 1;
      if ((end.usage?.completionTokens ?? 0) > engine.completionTokens)
        faults.push(`${digest}: more tokens were seen than the engine made`);
    }
  }
  for (const digest of whole)
    if (endOf.get(digest)?.usage?.isExact !== true)
      faults.push(`${digest}: whole, and not exact: ${JSON.stringify(endOf.get(digest) ?? null)}`);
  if (JSON.stringify(kept) !== JSON.stringify(sums))
    faults.push(`kept ${JSON.stringify(kept)}, the journal ${JSON.stringify(sums)}`);
  const engineTokens = [...parts.engine.of.values()].reduce(
    (sum, one) => sum + one.promptTokens + one.completionTokens,
    0,
  );
  const used = sums.promptTokens + sums.completionTokens;
  if (used > engineTokens) faults.push(`${used} tokens used, the engine made ${engineTokens}`);
  const kills = parts.gateway.kills + parts.keeper.kills + cuts.audit + cuts.engine;
  return {
    ok: faults.length === 0 && whole.length > calls / 2 && kills >= 4 && notTold > 0,
    figures: {
      ...{ calls, seed, whole: whole.length, left_by_callers: left, exact, lower_bounds: notTold },
      ...{ kills, kills_of_gateway: parts.gateway.kills, kills_of_keeper: parts.keeper.kills },
      ...{ kills_of_auditd: cuts.audit, cuts_of_engine: cuts.engine },
      ...{ tokens_of_engine: engineTokens, tokens_used: used },
      // Of calls that were cut before the engine came to tell, or before they were on record: their callers have no whole answer.
      tokens_of_cut_calls: engineTokens - used,
      faults: faults.slice(0, 20),
      fault_count: faults.length,
    },
  };
}

async function openParts(dir: string, stack: AsyncDisposableStack) {
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content, { mode: 0o600 });
    return join(dir, name);
  };
  const pki = await TestPki.make(join(dir, "pki"), HOST);
  const [node, identity] = [await pki.identity("node-a"), await pki.identity("gateway")];
  const engine = stack.use(await CountingEngine.listen(HOST));
  const port = await freePort();
  const peers = [{ node: "gateway", certificateSha256: certificateOf(identity.certPem) }];
  const bridge = await ServerBridge.listen({
    ...{ attempt: "a", listen: { host: HOST, port }, target: { host: HOST, port: engine.port } },
    ...{ gateway: HOST, peers, identity: { ...node, rootCertPem: pki.rootPem }, log },
  });
  stack.defer(() => bridge.close());
  const replica = {
    ...{ member: "r-1", node: "node-a", host: HOST, port, isOpen: true },
    certificateSha256: certificateOf(node.certPem),
  };
  const route: Route = {
    ...{ deployment: "job-1", name: "m", createdAt: 0, api: "openai", project: "p_1", aliases: [] },
    ...{ visibility: "PRIVATE", keySha256: createHash("sha256").update(KEY).digest("hex") },
    ...{ maxOngoingRequests: 64, contextTokens: 4_096, generation: 1, state: "HOT", wakeMs: 0 },
    replicas: [replica],
  };
  mkdirSync(join(dir, "routes"), { mode: 0o750 });
  const auditSocket = join(dir, "audit", "run", "serving.sock");
  const auditd = new AuditdFixture(join(dir, "audit"), {
    producers: [{ name: "serving", family: "serving", socket: auditSocket, gid: null }],
  });
  auditd.init();
  await auditd.start();
  stack.defer(async () => void (await auditd.stop("SIGKILL")));
  const routes = file("routes.json", JSON.stringify({ routes: [route] }));
  const routesSocket = join(dir, "routes", "sock");
  const keeper = stack.use(
    new KeptUp([
      fileURLToPath(import.meta.resolve("@resontech/coordinator/testing/usage-keeper")),
      ...[join(dir, "keeper.db"), routesSocket, routes],
    ]),
  );
  const socket = join(dir, "s.sock");
  const config = file(
    "serving.json",
    JSON.stringify({
      ...{ logLevel: "silent", sockets: { calls: socket }, dataDir: dir },
      own: {
        ...{ routesSocket, auditSocket },
        certFile: file("gateway.pem", identity.certPem),
        keyFile: file("gateway.key", identity.keyPem),
        rootCertFile: pki.rootFile,
        outbound: {
          hostsFile: join(dir, "outbound.json"),
          s3: { names: ["s3.invalid"], address: "127.0.0.1", port: 1 },
        },
      },
    }),
  );
  const main = join(import.meta.dirname, "../../parts/inference-gateway/src/main.ts");
  const gateway = stack.use(new KeptUp([main, "--config", config]));
  return { engine, auditd, keeper, gateway, socket };
}

type Recorded = { begun: CallBegun; end: CallEnded };

/** Of each call that the journal has, once all of them have an end. */
async function settledJournal(
  folder: string,
  progress: (line: string) => void,
): Promise<Recorded[]> {
  for (let tries = 0; ; tries++) {
    const begun = new Map<string, CallBegun>();
    const ends = new Map<string, CallEnded>();
    const names = readdirSync(folder).filter((name) => /^\d.*\.ndjson$/.test(name));
    for (const name of names.sort())
      for (const text of readFileSync(join(folder, name), "utf8").split("\n")) {
        const line = text === "" ? null : readCallLine(text);
        if (line?.kind === "call") begun.set(line.id, line);
        if (line?.kind === "end" && !ends.has(line.id)) ends.set(line.id, line);
      }
    const open = [...begun.keys()].filter((id) => !ends.has(id));
    if (open.length === 0)
      return [...begun].map(([id, one]) => ({ begun: one, end: ends.get(id)! }));
    if (tries > 60) throw new Error(`${open.length} calls never got an end`);
    progress(`${open.length} calls have no end yet`);
    await sleep(1_000);
  }
}

type Sums = { calls: number; promptTokens: number; completionTokens: number };

function sumsOf(journal: readonly Recorded[]): Sums {
  const sums: Sums = { calls: 0, promptTokens: 0, completionTokens: 0 };
  for (const { end } of journal) {
    sums.calls += 1;
    sums.promptTokens += end.usage?.promptTokens ?? 0;
    sums.completionTokens += end.usage?.completionTokens ?? 0;
  }
  return sums;
}

/** What the table of usage has, once it is no longer behind, or after a minute. */
async function settledUsage(
  file: string,
  wanted: Sums,
  progress: (line: string) => void,
): Promise<Sums> {
  for (let tries = 0; ; tries++) {
    const database = new Database(file, { readonly: true });
    const kept = database
      .prepare<[], Sums>(
        "SELECT sum(calls) AS calls, sum(prompt_tokens) AS promptTokens, sum(completion_tokens) AS completionTokens FROM call_usage",
      )
      .get()!;
    database.close();
    if (JSON.stringify(kept) === JSON.stringify(wanted) || tries > 60) return kept;
    progress(`${wanted.calls - kept.calls} calls are not kept yet`);
    await sleep(1_000);
  }
}
