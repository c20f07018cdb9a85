/**
 * A node brings another release: by itself, back where the appliance does not answer it, and on from any cut. On small releases in the real format; the
 * lease that the appliance renews is a file that a process of the release touches.
 */
import { spawn } from "node:child_process";
import { createPublicKey, hash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openRelease } from "@resontech/airgap/verify-bundle";
import { openNode } from "@resontech/appliance/node-context";
import { readNodeUpgrade } from "@resontech/appliance/node-upgrade-file";
import { AgentConfig } from "@resontech/contracts/agent-config";
import type { NodeConfig } from "@resontech/contracts/node-config";
import { releaseName } from "@resontech/contracts/release-name";
import { wholeLines } from "@resontech/house/whole-lines";
import t from "tap";
import { Value } from "typebox/value";
import { prepareNode } from "@resontech/appliance/prepare-node";
import { makeTestCa } from "@resontech/house/test-ca";
import { openSource } from "../../src/node/node-source.ts";
import { stageRelease } from "../../src/node/stage-release.ts";
import { switchTo } from "../../src/steps/current-release.ts";
import { type Ended, run } from "../helper/cut-installs.ts";
import { makeSmallRelease } from "../helper/small-release.ts";

/** Every so many of the points at which something has just become durable. */
const STRIDE = 3;
const WAIT_S = "2";
const base = mkdtempSync(join(tmpdir(), "rt-node-upgrade-"));
t.setTimeout(600_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

/** `start` and `stop` of a node's release, each told in a file; `isAnswered`: the appliance renews its lease while it runs. */
function applianceNode(version: string, start: "answered" | "not answered" | "broken"): string {
  return `import fs from "node:fs";
import { spawn } from "node:child_process";
const [, , , root, verb] = process.argv;
const { instance } = JSON.parse(fs.readFileSync(root + "/etc/node.json", "utf8"));
const run = "/run/resontech/" + instance;
const pidFile = run + "/pid";
fs.appendFileSync(root + "/../told", ${JSON.stringify(version)} + " " + verb + "\\n");
const pid = fs.existsSync(pidFile) ? Number(fs.readFileSync(pidFile, "utf8")) : null;
if (verb === "stop" && pid !== null) {
  try { process.kill(-pid, "SIGKILL"); } catch {}
  fs.rmSync(pidFile);
}
if (verb === "start" && ${start === "broken"}) process.exit(1);
if (verb === "start" && ${start === "answered"} && pid === null) {
  fs.mkdirSync(run + "/lease", { recursive: true });
  const child = spawn("/bin/sh", ["-c", "while :; do : >" + run + "/lease/lease; sleep 0.1; done"], { detached: true, stdio: "ignore" });
  child.unref();
  fs.writeFileSync(pidFile, String(child.pid));
}
`;
}

type Release = { bundle: string; name: string; keyPem: string };
function release(
  version: string,
  start: Parameters<typeof applianceNode>[1] = "answered",
  key = "key.pem",
): Release {
  const dir = join(base, `${version}-${key}`);
  mkdirSync(dir);
  const keyFile = join(base, key);
  const { bundle } = makeSmallRelease(dir, {
    ...{ version, keyFile },
    applianceNode: applianceNode(version, start),
  });
  const statement = readFileSync(join(bundle, "release.json"));
  const keyPem = createPublicKey(readFileSync(keyFile)).export({ type: "spki", format: "pem" });
  return { bundle, keyPem, name: releaseName(version, hash("sha256", statement)) };
}
const older = release("1.0.0");
const newer = release("1.1.0");
const unanswered = release("1.2.0", "not answered");
const broken = release("1.3.0", "broken");
const foreign = release("1.4.0", "answered", "other-key.pem");

let count = 0;
/** A host that joined with the older release, which runs. */
class Host implements AsyncDisposable {
  readonly instance = `node-upgrade-${process.pid}-${++count}`;
  readonly dir = join(base, this.instance);
  readonly root = join(this.dir, "root");

  static async joined(rootCertPem = "", port = 1): Promise<Host> {
    const host = new Host();
    const { root, instance } = host;
    for (const folder of ["etc/ca", "data/agent", "journal"])
      mkdirSync(join(root, folder), { recursive: true });
    const config: NodeConfig = {
      ...{ formatVersion: 1, node: "gpu-2", instance, address: "127.0.0.1", cpuWorkers: null },
      appliance: { name: "localhost", ports: { api: port, s3: 1, registry: 1, nats: 1 } },
      ...{ jobPorts: { from: 1, to: 2 }, jobUids: { from: 1_900_000_000, to: 1_900_000_001 } },
      ...{ containerEngine: { kind: "podman" }, hostTools: "host" },
    };
    writeFileSync(join(root, "etc", "node.json"), JSON.stringify(config));
    writeFileSync(join(root, "etc", "ca", "root.crt"), rootCertPem);
    writeFileSync(join(root, "etc", "release-key.pem"), older.keyPem);
    writeFileSync(join(root, "data", "agent", "registered.json"), '{"workers":[]}');
    using source = openSource(older.bundle, "");
    const statement = await source.read("release.json");
    const manifest = openRelease(statement, older.keyPem);
    switchTo(root, (await stageRelease(root, manifest, statement, source)).folder);
    await host.#node(["appliance-node.mjs", "--root", root, "start"]);
    rmSync(join(host.dir, "told"));
    return host;
  }

  #node([program = "", ...args]: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const folder = join(this.root, "current");
    return run(join(folder, "bin", "node"), [join(folder, "app", program), ...args], env);
  }

  bring(
    { name, bundle }: Release,
    { order = "order-1", source = ["--source", bundle] as string[], env = {} } = {},
  ): Promise<Ended> {
    const args = ["--root", this.root, "--order", order, "--release", name, "--wait", WAIT_S];
    return this.#node(["installer.mjs", "upgrade-node", ...args, ...source], env);
  }

  settle(): Promise<Ended> {
    return this.#node([
      ...["installer.mjs", "upgrade-node", "--root", this.root, "--settle", "--wait", WAIT_S],
    ]);
  }

  get current(): string {
    return basename(readlinkSync(join(this.root, "current")));
  }

  get kept() {
    return readNodeUpgrade(this.root);
  }

  /** What its releases were asked to do since the join. */
  get told(): string[] {
    return wholeLines(join(this.dir, "told"));
  }

  get isAnswered(): boolean {
    return existsSync(join("/run/resontech", this.instance, "pid"));
  }

  get releases(): string[] {
    return readdirSync(join(this.root, "releases")).sort();
  }

  files(name: string): string[] {
    return readdirSync(join(this.root, "releases", name), {
      recursive: true,
      encoding: "utf8",
    }).sort();
  }

  /** Whoever watches over a switch ends by itself. */
  async settled(): Promise<void> {
    for (let waited = 0; waited < 200; waited++) {
      const { state } = this.kept ?? {};
      if (state === "done" || state === "failed") return;
      await sleep(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled();
    await this.#node(["appliance-node.mjs", "--root", this.root, "stop"]);
    rmSync(join("/run/resontech", this.instance), { recursive: true, force: true });
  }
}

t.test("it stops the older release only once the newer one lies there whole", async (t) => {
  await using host = await Host.joined();
  const { status, stderr } = await host.bring(newer);
  t.equal(status, 0, stderr);
  t.same(host.told, ["1.0.0 stop", "1.1.0 start"]);
  t.match(host.kept, { order: "order-1", from: older.name, to: newer.name, state: "done" });
  t.equal(host.current, newer.name);
  t.ok(host.isAnswered);
  await host.bring(newer);
  t.same(host.told.length, 2, "an order is carried out once");

  prepareNode(openNode(host.root));
  const agentConfig: unknown = JSON.parse(
    readFileSync(join(host.root, "etc", "agent.json"), "utf8"),
  );
  t.ok(Value.Check(AgentConfig, agentConfig));
  t.match(
    agentConfig,
    { upgrade: { root: host.root, release: newer.name } },
    "its agent tells what runs",
  );

  t.equal((await host.bring(older, { order: "order-2" })).status, 0, "and in the other direction");
  t.equal(host.current, older.name);
});

t.test("the release before stays, an older one goes once nothing runs from it", async (t) => {
  await using host = await Host.joined();
  const [second, third] = [release("1.6.0"), release("1.7.0")];
  t.equal((await host.bring(newer)).status, 0);
  // The pinned Node of a small release is a script: what runs is a copy of a real program beside it.
  const program = join(host.root, "releases", older.name, "bin", "sleep");
  copyFileSync("/bin/sleep", program);
  const running = spawn(program, ["600"]);
  t.teardown(() => running.kill("SIGKILL"));
  await once(running, "spawn");
  t.equal((await host.bring(second, { order: "order-2" })).status, 0);
  t.same(host.releases, [older.name, newer.name, second.name], "something runs from the oldest");
  running.kill("SIGKILL");
  await once(running, "exit");
  t.equal((await host.bring(third, { order: "order-3" })).status, 0);
  t.same(host.releases, [second.name, third.name]);
});

t.test("a release that can't be had whole changes nothing, and the node says why", async (t) => {
  const partial = release("1.5.0");
  const blobs = join(partial.bundle, "blobs", "sha256");
  const wanted = hash("sha256", applianceNode("1.5.0", "answered"));
  const cases: { what: string; code: string; release: Release; before?: (host: Host) => void }[] = [
    {
      ...{ what: "a file is missing", code: "source_failed", release: partial },
      before: () => rmSync(join(blobs, wanted)),
    },
    {
      ...{ what: "a file was changed", code: "source_failed", release: partial },
      before: () => writeFileSync(join(blobs, wanted), "changed"),
    },
    { what: "another key signed it", code: "bundle_refused", release: foreign },
    {
      ...{ what: "another release is given out", code: "release_changed" },
      release: { ...newer, name: older.name.replace("1.0.0", "9.9.9") },
    },
    {
      ...{ what: "the host kept no key", code: "release_key_missing", release: newer },
      before: ({ root }) => rmSync(join(root, "etc", "release-key.pem")),
    },
  ];
  for (const { what, code, release: brought, before } of cases) {
    await using host = await Host.joined();
    before?.(host);
    t.equal((await host.bring(brought)).status === 0, false, what);
    t.match(host.kept, { state: "failed", to: brought.name, failure: { code } }, what);
    t.same([host.told, host.current, host.isAnswered], [[], older.name, true], what);
  }
});

t.test(
  "a release that the appliance does not answer goes, and the older one is back",
  async (t) => {
    for (const [brought, code] of [
      [unanswered, "node_not_ready"],
      [broken, "node_command_failed"],
    ] as const) {
      await using host = await Host.joined();
      const { status, stderr } = await host.bring(brought);
      t.equal(status, 1);
      t.match(stderr, /upgrade_returned/);
      const version = brought.name.slice(0, 5);
      t.same(host.told, ["1.0.0 stop", `${version} start`, `${version} stop`, "1.0.0 start"]);
      t.match(host.kept, { order: "order-1", state: "failed", failure: { code } });
      t.notMatch(host.kept?.failure?.message, /\n/);
      t.same([host.current, host.isAnswered], [older.name, true]);
    }
  },
);

t.test("a cut anywhere: whoever watches, the same order or the next start ends it", async (t) => {
  const countFile = join(base, "count");
  await using whole = await Host.joined();
  await whole.bring(newer, { env: { RT_TEST_COUNT_FILE: countFile } });
  const points = Number(readFileSync(countFile, "utf8"));
  t.ok(points > 10, `${points} points`);
  for (let point = 1; point <= points; point += STRIDE) {
    await using host = await Host.joined();
    await host.bring(newer, { env: { RT_TEST_CRASH_AT: String(point) } });
    await host.bring(newer);
    await host.settled();
    t.match(host.kept, { state: "done", to: newer.name }, `point ${point}`);
    t.same([host.current, host.isAnswered], [newer.name, true], `point ${point}`);
    t.same(host.files(newer.name), whole.files(newer.name), `point ${point}`);
  }
});

t.test("an upgrader that is killed in a switch is followed by the one that watches", async (t) => {
  const countFile = join(base, "count-killed");
  await using whole = await Host.joined();
  await whole.bring(newer, { env: { RT_TEST_COUNT_FILE: countFile } });
  // The last three: the link and its folder, then that it is done.
  const point = Number(readFileSync(countFile, "utf8")) - 3;
  await using host = await Host.joined();
  await host.bring(newer, { env: { RT_TEST_CRASH_AT: String(point) } });
  t.match(host.kept, { state: "switching" });
  await host.settled();
  t.match(host.kept, { state: "done" });
  t.same([host.current, host.isAnswered], [newer.name, true]);
});

t.test("a cut in a return: the older release comes back all the same", async (t) => {
  const countFile = join(base, "count-return");
  await using whole = await Host.joined();
  await whole.bring(broken, { env: { RT_TEST_COUNT_FILE: countFile } });
  const points = Number(readFileSync(countFile, "utf8"));
  // The last ones are those after the release was laid down.
  for (let point = points - 7; point <= points; point += 1) {
    await using host = await Host.joined();
    await host.bring(broken, { env: { RT_TEST_CRASH_AT: String(point) } });
    await host.settle();
    await host.settled();
    t.match(
      host.kept,
      { state: "failed", failure: { code: "node_command_failed" } },
      `point ${point}`,
    );
    t.same([host.current, host.isAnswered], [older.name, true], `point ${point}`);
  }
});

t.test("from the node's own appliance, by whom the coordinator says to trust", async (t) => {
  const [own, customers] = [join(base, "own"), join(base, "customers")];
  for (const folder of [own, customers]) mkdirSync(folder);
  const root = readFileSync((await makeTestCa(own)).caFile, "utf8");
  const doors = await makeTestCa(customers);
  const server = createServer(
    { cert: readFileSync(doors.certFile), key: readFileSync(doors.keyFile) },
    ({ url = "" }, response) => {
      const file = join(newer.bundle, url.replace("/node/v1/", ""));
      response.end(existsSync(file) ? readFileSync(file) : undefined);
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  await using host = await Host.joined(root, port);
  t.equal((await host.bring(newer, { source: [] })).status, 1);
  t.match(host.kept, { state: "failed", failure: { code: "source_failed" } });
  writeFileSync(
    join(host.root, "data", "agent", "door-ca.crt"),
    readFileSync(doors.caFile, "utf8"),
  );
  const { status, stderr } = await host.bring(newer, { order: "order-2", source: [] });
  t.equal(status, 0, stderr);
  t.equal(host.current, newer.name);
});
