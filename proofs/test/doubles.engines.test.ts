/** Processes that look as an engine's monitor and a container's first process do, and the rows that the coordinator would have of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import t, { type Test } from "tap";
import { doublesOf } from "../faults/judge/doubles.ts";
import { LivingContainers } from "../faults/watch/living-containers.ts";

const JOB = "job-1";
const TICK_S = 0.01;
const uptime = (): number => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);

async function start(t: Test) {
  const living = new LivingContainers();
  await living.seen();
  t.teardown(() => living[Symbol.asyncDispose]());
  const init = join(t.testdir(), "init");
  copyFileSync("/bin/sleep", init);
  const file = join(t.testdirName, "rows.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  db.exec(
    "CREATE TABLE members (id TEXT, job_id TEXT, role TEXT, site TEXT); CREATE TABLE job_events (member_id TEXT, event TEXT)",
  );
  return {
    addRow(member: string, site: string | null) {
      db.prepare("INSERT INTO members VALUES (?, ?, ?, ?)").run(
        member,
        JOB,
        site === null ? "server" : "client",
        site,
      );
      db.prepare("INSERT INTO job_events VALUES (?, 'run')").run(member);
    },
    /** Lives for a while. */
    async run(member: string, seconds: number): Promise<{ ended: Promise<unknown> }> {
      const script = '"$0" "$1" & wait';
      const monitor = spawn(
        "sh",
        ["-c", script, init, String(seconds), "-n", `rt-test-${member}-1.1`],
        { argv0: "conmon" },
      );
      const ended = once(monitor, "exit");
      await once(monitor, "spawn");
      return { ended };
    },
    async doubles() {
      await sleep(500);
      return doublesOf(
        { open: () => new Database(file, { readonly: true }) },
        JOB,
        await living.seen(),
      );
    },
  };
}

t.test(
  "two members of one place that live at the same time are told, in whatever attempts they are",
  async (t) => {
    const host = await start(t);
    host.addRow("job-1-a1-server", null);
    host.addRow("job-1-a2-server", null);
    const first = await host.run("job-1-a1-server", 3);
    const second = await host.run("job-1-a2-server", 3);
    const doubles = await host.doubles();
    t.equal(doubles.length, 1);
    // Which of the two a busy machine shows first is its own affair.
    t.match(
      doubles[0],
      /^server: rt-test-job-1-a([12])-server-1\.1 began .* before rt-test-job-1-a(?!\1)[12]-server-1\.1 was last seen$/,
    );
    await Promise.all([first.ended, second.ended]);
  },
);

t.test(
  "members that follow each other in a place, or live in two places, are no doubles",
  async (t) => {
    const host = await start(t);
    host.addRow("job-1-a1-site-1", "site-1");
    host.addRow("job-1-a1-site-2", "site-2");
    host.addRow("job-1-a1-site-1-2", "site-1");
    const other = await host.run("job-1-a1-site-2", 5);
    const first = await host.run("job-1-a1-site-1", 1);
    await first.ended;
    // The kernel counts starts in hundredths of a second: one that begins in the same is no later.
    for (const since = uptime(); uptime() <= since + 2 * TICK_S; ) await sleep(5);
    const last = await host.run("job-1-a1-site-1-2", 1);
    t.same(await host.doubles(), []);
    await Promise.all([other.ended, last.ended]);
  },
);

t.test("a member that ran and was not seen is told", async (t) => {
  const host = await start(t);
  host.addRow("job-1-a1-site-1", "site-1");
  t.same(await host.doubles(), ["job-1-a1-site-1 ran and was not seen"]);
});
