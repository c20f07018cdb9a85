/** Against the real auditd. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ACKNOWLEDGEMENT_TIMEOUT_MS } from "@resontech/audit/producer";
import { MAX_MEASURED_FILES } from "@resontech/contracts/audit-catalogue";
import { pino } from "pino";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { SupervisorRecord } from "../../src/audit/supervisor-record.ts";
import { FileDigests } from "../../src/measure/file-digests.ts";
import { Layout } from "@resontech/frame/layout";
import { notePutBack, tellPutBack } from "../../src/backup/tell-put-back.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { shellPart } from "../supervisor/shell-part.ts";
import { auditdWithSocket } from "./auditd-with-socket.ts";

const log = pino({ level: "silent" });
const file = (name: number | string) => ({ path: `app/${name}`, sha256: "ab".repeat(32) });

function made(t: Test) {
  const root = temporaryFolder(t);
  const socket = join(root, "supervisor", "sock");
  const auditd = auditdWithSocket(t, root, { name: "supervisor", socket });
  const measured = async () =>
    (await readLeaves(auditd.logDir)).filter(
      ({ prod, type }) => prod === "supervisor" && type === "admin.measured",
    );
  /** Once auditd has so many of them. */
  const until = async (count: number) => {
    for (let tries = 0; (await measured()).length < count; tries += 1) {
      if (tries === 200) throw new Error("not within 20 s");
      await sleep(100);
    }
    await auditd.stop();
    return await measured();
  };
  return { root, socket, auditd, measured, until };
}

t.test(
  "what was started before auditd, and while it is away, is on record once it is there",
  async (t) => {
    const { socket, auditd, until } = made(t);
    await using record = new SupervisorRecord(socket, log);
    record.measured("auditd", { files: [file("auditd.mjs")], image: null });
    await auditd.start();
    record.measured("keycloak", { files: [], image: "cd".repeat(32) });
    await until(2);
    record.measured("vault", { files: [file("vault.mjs")], image: null });
    await auditd.start();
    t.match(
      (await until(3)).map(({ object, detail, digests }) => [object.id, detail, digests?.image]),
      [
        ["auditd", { files: [file("auditd.mjs")] }, undefined],
        ["keycloak", { files: [] }, "cd".repeat(32)],
        ["vault", { files: [file("vault.mjs")] }, undefined],
      ],
    );
  },
);

t.test("what an auditd that hangs was sent stands in the log once", async (t) => {
  const { socket, auditd, measured, until } = made(t);
  await auditd.start();
  await using record = new SupervisorRecord(socket, log);
  record.measured("nats", { files: [file("nats")], image: null });
  while ((await measured()).length === 0) await sleep(20);
  process.kill(auditd.pid, "SIGSTOP");
  record.measured("s3", { files: [file("s3")], image: null });
  await sleep(ACKNOWLEDGEMENT_TIMEOUT_MS + 1_500);
  process.kill(auditd.pid, "SIGCONT");
  record.measured("vault", { files: [file("vault")], image: null });
  t.same(
    (await until(3)).map(({ object }) => object.id),
    ["nats", "s3", "vault"],
  );
});

t.test("a part of more files than an entry holds is told in several", async (t) => {
  const { socket, auditd, until } = made(t);
  await auditd.start();
  await using record = new SupervisorRecord(socket, log);
  const files = Array.from({ length: MAX_MEASURED_FILES + 1 }, (_, at) => file(100 + at));
  record.measured("agent", { files, image: null });
  const told = await until(2);
  t.same(
    told.flatMap(({ detail }) => (detail as { files: object[] }).files),
    files,
  );
});

t.test(
  "each start of a part tells anew what it runs; one whose files can't be read is started all the same, and names none",
  async (t) => {
    const { root, socket, auditd, until } = made(t);
    await auditd.start();
    const folder = t.testdir({ app: { one: "program" } });
    await using record = new SupervisorRecord(socket, log);
    const digests = new FileDigests(folder);
    const parts = [
      { ...shellPart(root, "one", "exec sleep 60"), runs: ["app/one"] },
      { ...shellPart(root, "two", "exec sleep 60"), runs: ["app/two"] },
    ];
    const supervisor = new Supervisor(parts, root, log, {
      digests: (paths) => digests.of(paths),
      started: (part, runs) => record.measured(part, runs),
    });
    const ended = supervisor.run();
    t.teardown(async () => {
      supervisor.stop();
      await ended;
    });
    const pidOf = (name: string) =>
      supervisor.status().find((part) => part.name === name)?.pid ?? null;
    while (pidOf("one") === null || pidOf("two") === null) await sleep(20);
    process.kill(pidOf("one")!, "SIGKILL");
    const told = Map.groupBy(await until(3), ({ object }) => object.id);
    t.match(
      told.get("one")?.map(({ detail }) => detail),
      [{ files: [{ path: "app/one" }] }, { files: [{ path: "app/one" }] }],
    );
    t.match(
      told.get("two")?.map(({ detail }) => detail),
      [{ files: [] }],
      "it names none",
    );
    t.not(pidOf("two"), null);
  },
);

t.test("that a backup was put back is told once, as soon as the log goes on", async (t) => {
  const { root, socket, auditd } = made(t);
  const layout = new Layout(t.testdir({ data: {} }), "t1");
  notePutBack(layout, "20261127T101500Z");
  await using record = new SupervisorRecord(socket, log);
  const telling = tellPutBack(layout, (backup) => record.putBack(backup), {
    ...{ log, signal: AbortSignal.timeout(120_000), againMs: 50 },
  });
  await auditd.start();
  await telling;
  await tellPutBack(layout, (backup) => record.putBack(backup), {
    ...{ log, signal: AbortSignal.timeout(120_000) },
  });
  await record[Symbol.asyncDispose]();
  await auditd.stop();
  const said = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "admin.backup");
  t.match(
    said.map(({ detail }) => detail),
    [{ change: "put-back", backup: "20261127T101500Z" }],
    root,
  );
});
