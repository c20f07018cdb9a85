/** Against the real auditd: what stands in the log of the host's sign-ins, also when the follower is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commitmentsOf } from "@resontech/audit/format/event/event-rules";
import { commitmentOf } from "@resontech/audit/format/event/commitment";
import { wholeLines } from "@resontech/house/whole-lines";
import t, { type Test } from "tap";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "@resontech/auditd/testing/verified";
import { nowSeconds, signIn, signOut } from "./utmp-bytes.ts";

const PROGRAM = join(import.meta.dirname, "follow-process.ts");

async function host(t: Test) {
  const root = temporaryFolder(t);
  const socket = join(root, "run", "supervisor.sock");
  const auditd = new AuditdFixture(root, {
    producers: [{ name: "supervisor", family: "supervisor", socket, gid: null }],
  });
  const [wtmpFile, stateFile] = [join(root, "wtmp"), join(root, "host-sessions.json")];
  writeFileSync(wtmpFile, "");
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  let child: ChildProcess | null = null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    child = null;
  };
  t.teardown(() => end("SIGKILL"));
  const begin = (): void => {
    child = spawn(process.execPath, [PROGRAM, socket, wtmpFile, stateFile], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  };
  /** Bytes of the file that the kept position is past. */
  const isPast = async (bytes: number): Promise<void> => {
    const offset = (): number =>
      existsSync(stateFile)
        ? (JSON.parse(readFileSync(stateFile, "utf8")) as { offset: number }).offset
        : -1;
    while (offset() < bytes) await sleep(5);
  };
  const leaves = async () =>
    (await readLeaves(auditd.logDir)).filter(
      ({ prod, phase }) => prod === "supervisor" && phase === "observed",
    );
  return {
    auditd,
    begin,
    end,
    isPast,
    leaves,
    append: (...records: Buffer[]) => appendFileSync(wtmpFile, Buffer.concat(records)),
  };
}

t.test(
  "a sign-in at the host is an entry without a name, which what was kept apart opens",
  async (t) => {
    const { auditd, begin, end, isPast, leaves, append } = await host(t);
    begin();
    await isPast(0);
    append(
      signIn(4_711, {
        user: "canary-name",
        host: "canary-host",
        address: "10.11.12.13",
        seconds: nowSeconds() - 60,
      }),
    );
    append(signOut(4_711));
    await isPast(768);
    await end("SIGTERM");
    await auditd.settled();
    t.match(await verified(auditd), {
      verdicts: { INTEGRITY: { verdict: "PASS" }, COMPLETENESS: { verdict: "PASS" } },
    });
    await auditd.stop();
    const [login, logout, ...rest] = await leaves();
    t.same(rest, []);
    t.match(login, {
      ...{
        type: "auth.host.login",
        phase: "observed",
        actor: { sub: "supervisor", kind: "system" },
      },
      ...{
        object: { kind: "appliance", id: "appliance" },
        pii: [{ field: "hostname" }, { field: "username" }],
      },
      detail: { source: "wtmp", at: /^\d{4}-.*\.000Z$/, pid: 4_711 },
    });
    t.ok((login!.detail as { lag_ms: number }).lag_ms >= 59_000);
    t.match(logout, {
      type: "auth.host.logout",
      phase: "observed",
      op: login!.op,
      detail: { pid: 4_711 },
    });
    t.notMatch(JSON.stringify([login, logout]), /canary|10\.11\.12\.13/);
    const kept = join(auditd.logDir, "disclosures");
    const lines = readdirSync(kept)
      .flatMap((name) => wholeLines(join(kept, name)))
      .map(
        (line) =>
          JSON.parse(line) as { field: string; salt: string; value: string; commitment: string },
      );
    t.same(
      new Map(lines.map(({ field, value }) => [field, value])),
      new Map([
        ["src.addr", "10.11.12.13"],
        ["pii.hostname", "canary-host"],
        ["pii.username", "canary-name"],
      ]),
    );
    const stated = commitmentsOf(login as Parameters<typeof commitmentsOf>[0]);
    for (const { field, salt, value } of lines)
      t.equal(commitmentOf(field, salt, value), stated.get(field), field);
  },
);

t.test(
  "a follower that is killed again and again, and an auditd that is, miss nothing; a kill repeats one record at most",
  async (t) => {
    const { auditd, begin, end, isPast, leaves, append } = await host(t);
    const KILLS = 6;
    const EACH = 20;
    begin();
    await isPast(0);
    for (let kill = 0; kill < KILLS; kill += 1) {
      append(...Array.from({ length: EACH }, (_, at) => signIn(kill * EACH + at + 1)));
      // In the midst of them, at another place each time.
      await isPast(384 * (kill * EACH + 3 * kill + 1));
      if (kill % 3 === 2) {
        await auditd.stop("SIGKILL");
        await auditd.start();
      }
      await end("SIGKILL");
      begin();
    }
    await isPast(384 * KILLS * EACH);
    await end("SIGTERM");
    await auditd.stop();
    const pids = (await leaves()).map(({ detail }) => (detail as { pid: number }).pid);
    t.same(
      [...new Set(pids)],
      Array.from({ length: KILLS * EACH }, (_, at) => at + 1),
      "all of them, in order",
    );
    t.ok(pids.length <= KILLS * EACH + KILLS, `${pids.length - KILLS * EACH} repeated`);
  },
);
