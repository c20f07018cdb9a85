/** A part that is added by its declaration alone: everything that knows parts knows it, and nothing does without it. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { firstDataBytes, PARTS } from "@resontech/parts";
import { ask } from "@resontech/frame/ask";
import {
  definePart,
  factsFrom,
  type PartDeclaration,
  socketOf,
} from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import { defineOperation } from "@resontech/frame/operation";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { build, stop } from "esbuild";
import { pino } from "pino";
import t from "tap";
import { Type } from "typebox";
import { readTarHeader } from "@resontech/backup/ustar";
import { config as installed } from "@resontech/installer/testing/request";
import { backupParts } from "../../src/backup/backup-parts.ts";
import { prepare } from "../../src/first-boot/prepare.ts";
import type { PartContext } from "../../src/parts/context.ts";
import { declaredPart } from "../../src/parts/declared-part.ts";
import { gatherBundle } from "../../src/support/gather-bundle.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { writeFacts } from "../../src/facts/write-facts.ts";

const SECRET = "the-secret-of-the-toy";
const ROOM = 7 * 1024 ** 2;
const count = defineOperation({
  ...{ name: "count", codes: [] },
  ...{ request: Type.Object({}), reply: Type.Object({ count: Type.Integer() }) },
});
const toy = definePart({
  ...{ name: "toy", user: 900, program: "toy.mjs", after: [], inShortage: "middle" },
  config: {
    schema: Type.Object({ note: Type.String() }),
    from: ({ layout }) => ({ note: readFileSync(layout.secrets("toy", "note"), "utf8") }),
  },
  sockets: { control: { for: "root", serves: [count] } },
  certificates: [{ name: "client", dnsNames: ["toy-client"] }],
  ...{ health: { socket: "control" }, stop: { graceMs: 5_000 }, firstBytes: ROOM },
  settings: [{ file: "toys.json", schema: Type.Object({}) }],
  data: { isBackedUp: true },
  facts: factsFrom("control", count, {}, ({ count: n }) => ({
    targets: [{ target: `toy-${n}`, isFailing: false }],
  })),
});
/** As `parts/toy/src/main.ts` would be. */
const PROGRAM = `
import { runPart } from "@resontech/frame/run-part";
import { writeFileSync } from "node:fs";
const open = (name) => ({ name, codes: [], request: { type: "object" }, reply: { type: "object" } });
const part = { name: "toy", sockets: { control: { for: "root", serves: [open("count")] } }, config: { schema: { type: "object" } }, stop: { graceMs: 5000 } };
runPart(part, async ({ config }) => {
  writeFileSync(config.dataDir + "/kept", "what the toy keeps");
  return {
    answers: { control: [{ operation: open("count"), answer: async () => ({ count: 3 }) }] },
    [Symbol.asyncDispose]: async () => {},
  };
});
`;

// Short: a socket's path may have 107 bytes. Open to all: the part's user passes through it.
const root = mkdtempSync(join(tmpdir(), "rtt-"));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
chmodSync(root, 0o755);
const repository = join(import.meta.dirname, "..", "..", "..");
const layout = new Layout(root, `toy-${process.pid}`);
t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
for (const folder of ["bin", join("app", "policies")])
  mkdirSync(layout.release(folder), { recursive: true });
cpSync(process.execPath, layout.release("bin", "node"));
cpSync(
  join(repository, "policies", "retention.json"),
  layout.release("app", "policies", "retention.json"),
);
writeFileSync(layout.release("app", "installer.mjs"), "process.stdout.write('{}')");
await build({
  ...{ stdin: { contents: PROGRAM, resolveDir: join(repository, "frame") }, bundle: true },
  ...{
    platform: "node",
    format: "esm",
    outfile: layout.release("app", "toy.mjs"),
    logLevel: "error",
  },
  banner: {
    js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);',
  },
});
// Its own process would stay for as long as this one, which other files share.
await stop();
const contextWith = (parts: readonly PartDeclaration[]): PartContext => ({
  ...{ layout, parts },
  config: {
    ...installed,
    instance: layout.instance,
    name: "localhost",
    keyKind: "dev",
    agent: null,
  },
  release: { version: "1", images: [], tree: [], engines: {} } as unknown as ReleaseManifest,
});
const log = pino({ level: "silent" });

/** Names of all files in the folders of a backup. */
async function backedUp(parts: readonly PartDeclaration[]): Promise<string[]> {
  const all = await backupParts({
    ...{ layout, declared: parts, postgresPort: 1, passwordFile: "", workDir: root },
    postgres: () => Promise.reject(new Error("no PostgreSQL is here")),
  });
  const names: string[] = [];
  for (const part of all.filter(({ name }) =>
    parts.some((part) => part.name === name && part.data?.isBackedUp === true),
  ))
    for await (const block of part.open() as AsyncIterable<Buffer>)
      if (block.length === 512 && block[0] !== 0) {
        const entry = readTarHeader(block);
        if (entry !== null) names.push(`${part.path}/${entry.path}`);
      }
  return names;
}

t.test(
  "one that is declared is prepared, started, shown, asked, backed up, told and ended",
  async (t) => {
    const context = contextWith([...PARTS, toy]);
    mkdirSync(layout.secrets("toy"), { recursive: true });
    writeFileSync(layout.secrets("toy", "note"), SECRET, { mode: 0o400 });
    await prepare(context);
    const uid = context.config.uidBase + 900;
    t.match(statSync(layout.data("toy")), { uid, gid: uid });
    t.equal(statSync(layout.processConfig("toy")).gid, uid);
    t.ok(existsSync(layout.secrets("toy", "client.crt")));

    const supervisor = new Supervisor([declaredPart(context, toy)], layout.log(""), log);
    const ended = supervisor.run();
    t.teardown(async () => {
      supervisor.stop();
      await ended;
    });
    const shown = () => supervisor.status().find(({ name }) => name === "toy");
    for (const end = Date.now() + 120_000; shown()?.phase !== "healthy"; await sleep(20))
      if (Date.now() > end) throw new Error(readFileSync(layout.log("toy.log"), "utf8"));
    t.match(shown(), { version: "1", isHeld: false });
    t.equal(statSync(`/proc/${shown()?.pid}`).uid, uid);
    t.same(await ask(socketOf(toy, layout, "control"), count, {}, { timeoutMs: 60_000 }), {
      count: 3,
    });

    const over = new AbortController();
    const writing = writeFacts(context, () => supervisor.status(), { log, signal: over.signal });
    while (!existsSync(layout.factsFile)) await sleep(10);
    over.abort();
    await writing;
    t.match(JSON.parse(readFileSync(layout.factsFile, "utf8")), {
      parts: [{ part: "toy", isHealthy: true }],
      targets: [{ target: "toy-3" }],
    });

    t.ok((await backedUp(context.parts)).includes("data/toy/kept"));
    t.equal(firstDataBytes(context.parts) - firstDataBytes(), ROOM);

    writeFileSync(layout.setting("toys.json"), "{}");
    const silent = () => Promise.reject(new Error("no coordinator is here"));
    const { files } = await gatherBundle(context, silent, 16 * 1024 ** 2);
    const text = (path: string) => files.find((file) => file.path === path)?.bytes.toString() ?? "";
    t.equal(new Set(files.map(({ path }) => path)).size, files.length, "each file once");
    t.match(text("config/toy.json"), /"note"/);
    t.equal(text("config/toys.json"), "{}\n");
    t.notMatch(files.map(({ bytes }) => bytes.toString()).join(""), SECRET);

    supervisor.stop();
    await ended;
    t.same(readdirSync(dirname(socketOf(toy, layout, "control"))), []);
  },
);

t.test("without its line nothing knows it, and what it kept stays", async (t) => {
  const context = contextWith(PARTS);
  await prepare(context);
  t.notOk((await backedUp(PARTS)).some((name) => name.startsWith("data/toy")));
  t.equal(readFileSync(layout.data("toy", "kept"), "utf8"), "what the toy keeps");
});
