import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import t, { type Test } from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { exportLog, exportProof } from "@resontech/audit/export";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import { verify } from "@resontech/verifier/verify";
import type { TestLog } from "@resontech/witness/testing/test-log";
import { WitnessFixture } from "@resontech/witness/testing/witness-fixture";
import { until } from "@resontech/audit/testing/until";
import { shippedProgram } from "@resontech/house/shipped-program";
import { OFFICER, PEOPLE } from "@resontech/audit/testing/step-up-people";

const MAIN = shippedProgram("audit-out");
const isRoot = process.getuid?.() === 0;
const notRoot = isRoot ? false : "the configuration must be root's";

class Out {
  readonly root: string;
  readonly auditd: AuditdFixture;
  readonly configFile: string;
  readonly config: Partial<AuditOutConfig>;
  #child: ChildProcess | null = null;
  output = "";

  constructor(root: string) {
    this.root = root;
    const producers = ["coordinator-gate", "audit-out"].map((name) => ({
      ...{ name, family: name, socket: join(root, "run", `${name}.sock`), gid: null },
    }));
    this.auditd = new AuditdFixture(root, { producers });
    for (const folder of ["state", "siem", "search"])
      mkdirSync(join(root, folder), { mode: 0o750 });
    this.configFile = join(root, "audit-out.json");
    this.config = {
      ...{
        auditDir: this.auditd.config.auditDir,
        policyFile: this.auditd.config.policyFile,
        stateDir: join(root, "state"),
      },
      ...{
        auditSocket: join(root, "run/audit-out.sock"),
        searchSocket: join(root, "search/search.sock"),
      },
      sinks: [
        {
          name: "siem",
          format: "leaf",
          target: { kind: "file", folder: join(root, "siem"), rotateBytes: 1_000_000 },
        },
      ],
      ...{ pollMs: 20, retryMs: 50 },
    };
    writeFileSync(this.configFile, JSON.stringify(this.config), { mode: 0o440 });
  }

  async start(): Promise<void> {
    this.#child = spawn(process.execPath, [MAIN, "--config", this.configFile], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.output = "";
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on("data", (chunk: Buffer) => {
        this.output += chunk.toString("utf8");
      });
    await until(() => this.output.includes('"msg":"listening"') || this.#child?.exitCode !== null);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  async get<T>(path: string): Promise<T> {
    const sent = request({ socketPath: this.config.searchSocket!, path });
    sent.end();
    const [response] = await once(sent, "response");
    let body = "";
    for await (const chunk of response) body += String(chunk);
    return JSON.parse(body) as T;
  }

  exportedIds(): string[] {
    const files = readdirSync(join(this.root, "siem")).sort();
    const text = files.map((file) => readFileSync(join(this.root, "siem", file), "utf8")).join("");
    // The last line may be on its way, and what a kill left unconfirmed comes again.
    const ids = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).leaf.id);
    return [...new Set(ids)];
  }
}

async function running(t: Test): Promise<Out> {
  const out = new Out(temporaryFolder(t));
  t.teardown(() => out.auditd.stop("SIGKILL"));
  t.teardown(() => out.stop("SIGKILL"));
  out.auditd.init();
  await out.auditd.start();
  await out.start();
  return out;
}

t.test(
  "what a killed life left of files that it was writing goes when it starts again",
  { skip: notRoot },
  async (t) => {
    const out = await running(t);
    await out.stop("SIGTERM");
    mkdirSync(join(out.root, "state/sheets"), { recursive: true });
    const left = ["sink-siem.cursor", "sheets/2026-2026-01-01.html"].map((file) =>
      join(out.root, "state", `${file}.0123456789abcdef.new`),
    );
    for (const file of left) writeFileSync(file, "half");
    for (const file of left) utimesSync(file, new Date(), new Date(Date.now() - 120_000));
    await out.start();
    t.same(left.filter(existsSync), []);
  },
);

t.test(
  "of two that start at once on what a killed life left one runs, and the other one says why it does not",
  { skip: notRoot },
  async (t) => {
    const out = await running(t);
    await out.stop("SIGKILL");
    // At the same socket chance would say who finds what; at another one the folder alone tells them of each other.
    const elsewhere = join(out.root, "elsewhere.json");
    writeFileSync(
      elsewhere,
      JSON.stringify({ ...out.config, searchSocket: join(out.root, "search/other.sock") }),
      {
        mode: 0o440,
      },
    );
    const said = [out.configFile, elsewhere].map((configFile) => {
      const child = spawn(process.execPath, [MAIN, "--config", configFile], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      t.teardown(() => child.kill("SIGKILL"));
      const chunks: string[] = [];
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString("utf8")));
      return () => chunks.join("");
    });
    const saying = (what: RegExp): number => said.filter((text) => what.test(text())).length;
    await until(() => saying(/"msg":"listening"|AlreadyRunningError/) === 2);
    t.equal(saying(/"msg":"listening"/), 1);
    t.equal(saying(/AlreadyRunningError: another process works on/), 1);
  },
);

async function write(out: Out, count: number): Promise<void> {
  await using producer = await connectProducer({
    socketPath: out.auditd.socket("coordinator-gate"),
    boot: crypto.randomUUID(),
  });
  const refs = await Promise.all(Array.from({ length: count }, () => producer.fact(keyList())));
  await producer.covered(refs.at(-1)!.index);
}

const idsOf = async (out: Out): Promise<string[]> =>
  (await readLeaves(out.auditd.logDir)).map(({ id }) => id);

/** All of the log, as far as it is signed now, has arrived in order. */
async function exported(out: Out): Promise<string[]> {
  const ids = await idsOf(out);
  await until(() => ids.every((id, at) => out.exportedIds()[at] === id), 60_000);
  return ids;
}

t.test(
  "what auditd writes is exported and found, also by a life after kill -9, and reading changes nothing",
  { skip: notRoot },
  async (t) => {
    const out = await running(t);
    await write(out, 500);
    await exported(out);
    await out.stop("SIGKILL");
    await write(out, 300);
    await out.start();
    const ids = await exported(out);
    const { events } = await out.get<{ events: { index: number }[] }>(
      "/events?type=key.list&order=oldest&limit=1000",
    );
    t.equal(events.length, 800);
    const { event } = await out.get<{ event: { id: string } }>(`/events/${events[700]!.index}`);
    t.equal(event.id, ids[events[700]!.index]);
    t.equal(statSync(out.config.searchSocket!).mode & 0o777, 0o660);
    t.notMatch(out.output, /"level":(?:50|60)/);
  },
);

t.test(
  "without auditd everything can still be read, and nothing of it is lost on the way out",
  { skip: notRoot },
  async (t) => {
    const out = await running(t);
    await write(out, 50);
    await exported(out);
    await out.stop("SIGTERM");
    await write(out, 50);
    await out.auditd.stop("SIGKILL");
    await out.start();
    await exported(out);
    t.equal(
      (await out.get<{ events: unknown[] }>("/events?type=key.list&limit=1000")).events.length,
      100,
    );
  },
);

t.test(
  "a receiver that failed and one that takes entries again are told of in the log",
  { skip: notRoot },
  async (t) => {
    const out = await running(t);
    await exported(out);
    rmSync(join(out.root, "siem"), { recursive: true });
    await write(out, 10);
    const sinkEvents = async (): Promise<unknown[]> =>
      (await readLeaves(out.auditd.logDir))
        .filter(({ type }) => type === "audit.sink")
        .map(({ prod, detail }) => [prod, detail?.["state"]]);
    await until(async () => (await sinkEvents()).length === 1);
    mkdirSync(join(out.root, "siem"));
    await until(async () => (await sinkEvents()).length === 2);
    t.same(await sinkEvents(), [
      ["audit-out", "failing"],
      ["audit-out", "recovered"],
    ]);
    const { sinks } = await out.get<{ sinks: { name: string; state: string }[] }>("/status");
    t.match(sinks, [{ name: "siem", state: "running", error: null }]);
  },
);

t.test("the index is made anew on demand, by the running process", { skip: notRoot }, async (t) => {
  const out = await running(t);
  await write(out, 20);
  await until(
    async () =>
      (await out.get<{ events: unknown[] }>("/events?type=key.list")).events.length === 20,
  );
  const { status } = spawnSync(process.execPath, [
    MAIN,
    "index",
    "rebuild",
    "--config",
    out.configFile,
  ]);
  t.equal(status, 0);
  await until(() => out.output.includes("made anew"));
  await until(
    async () =>
      (await out.get<{ events: unknown[] }>("/events?type=key.list")).events.length === 20,
  );
});

t.test(
  "a configuration that somebody else could write, or that names what is unknown, starts nothing",
  { skip: notRoot },
  async (t) => {
    const out = new Out(temporaryFolder(t));
    const run = () =>
      spawnSync(process.execPath, [MAIN, "--config", out.configFile], { encoding: "utf8" });
    chmodSync(out.configFile, 0o464);
    t.match(run(), { status: 1, stderr: /ConfigError: .*must be root's/ });
    chmodSync(out.configFile, 0o640);
    for (const [changes, message] of [
      [{ sinks: [{ ...out.config.sinks![0], format: "xml" }] }, /\/sinks\/0\/format/],
      [{ sinks: [out.config.sinks![0], out.config.sinks![0]] }, /two have one name/],
      [{ webhook: "http://example" }, /webhook/],
    ] as const) {
      writeFileSync(out.configFile, JSON.stringify({ ...out.config, ...changes }));
      t.match(run(), { status: 1, stderr: message });
    }
  },
);

t.test(
  "a real witness countersigns, and what it has seen stops a log that was put back to an older state",
  { skip: notRoot },
  async (t) => {
    const out = new Out(temporaryFolder(t));
    const { auditd } = out;
    t.teardown(async () => {
      await out.stop("SIGKILL");
      await auditd.stop("SIGKILL");
    });
    auditd.init();
    const witness = new WitnessFixture(t);
    const keys = witness.init({ policyFile: auditd.config.policyFile } as TestLog);
    await witness.serve();
    // The officer's policy: the log's lines stay, the witness and its quorum come.
    const log = readFileSync(auditd.config.policyFile, "utf8")
      .match(/^log .*\n/gm)!
      .join("");
    const lines = keys
      .match(/[^\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+/g)!
      .map((key, at) => `witness w${at} ${key} ${witness.url}\n`);
    const group = `group site all ${lines.map((_, at) => `w${at}`).join(" ")}\n`;
    const policy = `${log}${lines.join("")}${group}quorum site\n`;
    await auditd.start();
    await out.start();
    const set = (text: string, approval = PEOPLE.policyProof(text)) =>
      auditd.control({ verb: "set-policy", policy: text, approval });
    t.match(await set(policy, PEOPLE.policyProof(`${policy}\n`)), {
      error: { code: "step_up_nonce" },
    });
    t.match(await set(policy.replace("quorum site", "quorum nobody")), {
      error: { code: "policy_invalid" },
    });
    t.match(await set(policy.slice(policy.indexOf("\n") + 1)), {
      error: { code: "policy_of_other_log" },
    });
    t.match(await set(policy), { rolledBack: null });
    t.equal(readFileSync(auditd.config.policyFile, "utf8"), policy);
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    const { index } = await gate.fact(keyList());
    // audit-out looks for new witnesses every ten seconds.
    await until(async () => (await gate.witnessed(index)).witnessed, 60_000);
    const file = join(out.root, "export.tar");
    await exportLog({ logDir: auditd.logDir, file, witnessedFor: index });
    const { verdicts } = await verify({
      bundle: createReadStream(file),
      policy: Buffer.from(policy),
      platform: nodePlatform,
    });
    t.match(verdicts, {
      SIGNATURE: { verdict: "PASS" },
      INTEGRITY: { verdict: "PASS" },
      WITNESSED: { verdict: "PASS" },
    });

    t.match(
      (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.policy"),
      [
        { phase: "requested", detail: { approvers: [OFFICER.by], witnesses: lines.length } },
        { phase: "completed" },
      ],
    );

    const backup = join(out.root, "backup");
    // A socket is no file that a copy could hold.
    const filter = (path: string): boolean => !statSync(path).isSocket();
    for (const folder of ["audit", "state"])
      cpSync(join(out.root, folder), join(backup, folder), { recursive: true, filter });
    const later = await gate.fact(keyList());
    t.match(await gate.witnessed(later.index), { witnessed: true });
    await gate.close();
    await out.stop("SIGTERM");
    await auditd.stop();
    // Everything on this host is put back, also what audit-out has seen: only the witness knows.
    for (const folder of ["audit", "state"]) {
      rmSync(join(out.root, folder), { recursive: true });
      cpSync(join(backup, folder), join(out.root, folder), { recursive: true });
    }
    // However long audit-out takes to start on a busy machine.
    writeFileSync(auditd.configFile, JSON.stringify({ ...auditd.config, learnMs: 60_000 }));
    const starting = auditd.start();
    await until(() => existsSync(auditd.socket("audit-out")), 60_000);
    await out.start();
    await starting;
    t.match(await auditd.control({ verb: "status" }), { rolledBack: { by: "witness" } });

    t.match(await auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] }), {
      rolledBack: null,
    });
    const proof = join(out.root, "first.tlog-proof");
    writeFileSync(proof, await exportProof(auditd.shardDir(auditd.currentSlug), 0));
    await witness.stop();
    t.match(witness.run("admit", "--after-restore", auditd.config.policyFile, proof), {
      status: 0,
      stderr: "",
    });
    await witness.serve("--listen", new URL(witness.url).host);
    await using after = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-2",
    });
    const next = await after.fact(keyList());
    await until(async () => (await after.witnessed(next.index)).witnessed, 60_000);
    t.match(
      witness.logs(),
      [{ followedBy: witness.logs()[1]!.origin }, { size: Number }],
      "the old one has ended here",
    );
  },
);
