/** Prometheus and the notifier as the supervisor starts them: their own users, on what `prepare` writes. Root must run it. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { coordinator } from "@resontech/coordinator/part";
import { PrometheusReader } from "@resontech/coordinator/prometheus-reader";
import { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import { ask } from "@resontech/frame/ask";
import { socketOf } from "@resontech/frame/define-part";
import { processConfigSchema } from "@resontech/frame/process-config";
import { listTargets } from "@resontech/notifier/operations";
import { notifier } from "@resontech/notifier/part";
import { PARTS } from "@resontech/parts";
import { prometheus } from "@resontech/prometheus/part";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import t, { type Test } from "tap";
import { Value } from "typebox/value";
import { shippedProgram } from "@resontech/house/shipped-program";
import { prepare } from "../../src/first-boot/prepare.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { declaredPart } from "../../src/parts/declared-part.ts";
import type { Part } from "../../src/parts/part.ts";

/** Its run folder lies beside its root, and not in the host's. */
class TestLayout extends Layout {
  override run(...path: string[]): string {
    return join(this.root, "run", "main", ...path);
  }
}

// Short: a socket's path may have 107 bytes. Open to all: the parts' users pass through it.
const root = mkdtempSync(join(tmpdir(), "rta-"));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
chmodSync(root, 0o755);
const layout = new TestLayout(root, "main");
const repository = join(import.meta.dirname, "..", "..", "..");
mkdirSync(layout.release("bin"), { recursive: true });
mkdirSync(layout.release("engines"));
mkdirSync(layout.release("app", "policies"), { recursive: true });
// Copies: the cache may lie where the parts' users can't look.
cpSync(await ensureEngine("prometheus"), layout.release("engines", "prometheus"));
cpSync(shippedProgram("notifier"), layout.release("app", "notifier.mjs"));
cpSync(
  join(repository, "policies", "retention.json"),
  layout.release("app", "policies", "retention.json"),
);
cpSync(process.execPath, layout.release("bin", "node"));
const ports = { api: 29_801, s3: 29_802, registry: 29_803, nats: 29_804, keycloak: 29_805 };
const config: ApplianceConfig = {
  ...{ formatVersion: 1, instance: "main", appliance: "site-a", customer: "example" },
  ...{ uidBase: 64_100, address: "127.0.0.1", name: "localhost", keyKind: "dev", agent: null },
  ports: { ...ports, keycloakManagement: 29_806, postgres: 29_807, prometheus: 29_808 },
  ...{ containerEngine: { kind: "podman" }, bucketQuotaBytes: 1_024 },
};
const release = {
  version: "0.0.0",
  images: [],
  engines: {},
  tree: [],
} as unknown as ReleaseManifest;
const context: PartContext = { layout, config, release, parts: PARTS };

async function started(t: Test, part: Part): Promise<void> {
  await part.prepare?.();
  const running = await part.start();
  t.teardown(async () => {
    running.kill();
    await running.exited;
  });
  for (const deadline = Date.now() + 120_000; !(await part.isHealthy()); await sleep(100))
    if (Date.now() > deadline)
      throw new Error(readFileSync(layout.log(`${part.name}.log`), "utf8"));
  const owner = statSync(`/proc/${running.pid}`).uid;
  t.equal(owner, 64_100 + (part.name === "prometheus" ? prometheus : notifier).user);
}

t.test("what is prepared is as the processes want it, and the same a second time", async (t) => {
  await prepare(context);
  const read = (name: string): string => readFileSync(layout.processConfig(name), "utf8");
  t.same([...Value.Errors(CoordinatorConfig, JSON.parse(read("coordinator")))], []);
  t.same([...Value.Errors(processConfigSchema(notifier), JSON.parse(read("notifier")))], []);
  const before = [
    read("notifier"),
    readFileSync(layout.secrets("prometheus", "scrape.token"), "utf8"),
  ];
  await prepare(context);
  t.same(
    [read("notifier"), readFileSync(layout.secrets("prometheus", "scrape.token"), "utf8")],
    before,
  );
});

t.test(
  "an appliance of an older release gets the coordinator's certificate as a reader",
  async (t) => {
    const file = (name: string) => layout.secrets("coordinator", name);
    for (const end of ["crt", "key"]) rmSync(file(`reader.${end}`));
    await prepare(context);
    const ownerOf = ({ uid, gid, mode }: Stats) => [uid, gid, mode];
    for (const end of ["crt", "key"])
      t.same(
        ownerOf(statSync(file(`reader.${end}`))),
        ownerOf(statSync(file(`client.${end}`))),
        end,
      );
  },
);

t.test("Prometheus runs, and the notifier asks it and answers the command", async (t) => {
  await started(t, declaredPart(context, prometheus));
  await started(t, declaredPart(context, notifier));
  const control = socketOf(notifier, layout, "control");
  t.match(await ask(control, listTargets, {}, { timeoutMs: 60_000 }), { targets: [] });
  for (const [socket, gid, folderMode] of [
    ["control", 0, 0o2700],
    ["mail", 64_100 + coordinator.user, 0o2750],
  ] as const) {
    const folder = statSync(dirname(socketOf(notifier, layout, socket)));
    t.same([folder.mode & 0o7777, folder.uid, folder.gid], [folderMode, 64_107, gid], socket);
    const { mode, gid: group } = statSync(socketOf(notifier, layout, socket));
    t.same([mode & 0o777, group], [0o660, gid], socket);
  }
  const log = readFileSync(layout.log("notifier.log"), "utf8");
  t.notMatch(log, /Prometheus does not say/, "the reader's certificate is good");
  const read = readFileSync(layout.processConfig("coordinator"), "utf8");
  const reader = new PrometheusReader((JSON.parse(read) as CoordinatorConfig).prometheus);
  const axis = { fromS: 0, toS: 15, stepS: 15 };
  t.same(
    await reader.range("vector(1)", axis),
    [
      {
        metric: {},
        values: [
          [0, "1"],
          [15, "1"],
        ],
      },
    ],
    "and so is the coordinator's",
  );
  await t.rejects(reader.range("no query(", axis), { code: "figures_away" });
});
