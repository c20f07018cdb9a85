/**
 * A researcher before a real terminal of 80 columns, with `resontech` as one executable: submit, watch, logs, get. The coordinator is the real
 * one; its node is scripted.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { cliExecutable } from "@resontech/airgap/testing/cli-executable";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodFiles } from "@resontech/coordinator/testing/workspace";
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import { Terminal } from "@resontech/house/terminal";

t.setTimeout(600_000);
// First: it may be built for minutes, and a node that says nothing meanwhile is taken for dead.
const executable = cliExecutable();
const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-story-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control("add-user", { username: "ada" });
const agent = await joinAgent(running, "node-a", 2);
t.teardown(() => agent.close());
await agent.beat([]);
for (const [path, content] of Object.entries(goodFiles())) {
  const file = join(dir, "study", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
const COLUMNS = 80;
const LARGE_BYTES = 300 * 1024 ** 2;
const LONG_KEY = `data/${"of-the-seventh-ward/".repeat(4)}scans.bin`;
writeFileSync(join(dir, "scans.bin"), Buffer.alloc(LARGE_BYTES, "scan"));

const terminal = new Terminal(["bash", "--norc", "-i"], {
  ...{ PATH: `${executable}:/usr/bin:/bin`, HOME: dir, PS1: "> " },
  ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
  SSL_CERT_FILE: join(dir, "ca.crt"),
});
t.teardown(() => terminal[Symbol.dispose]());
await terminal.until(/^>/);
terminal.enter(`cd ${dir}`);

/** The command, then its exit code on a line of its own: what it said in between. */
let commands = 0;
async function ran(command: string, while_: () => Promise<void> = async () => {}) {
  const mark = `done-${++commands}`;
  terminal.enter(`${command}; echo ${mark}''=$?`);
  await while_();
  const text = await terminal.until(new RegExp(`^${mark}=\\d+$`, "m"));
  const said = text
    .slice(text.lastIndexOf(`; echo ${mark}`))
    .split("\n")
    .slice(1);
  const end = said.findIndex((line) => line.startsWith(`${mark}=`));
  return { said: said.slice(0, end), code: Number(said[end]?.slice(mark.length + 1)) };
}
/** The command until somebody presses Ctrl+C, which ends the whole line in bash. */
async function interrupted(command: string, while_: () => Promise<void>) {
  const mark = `done-${++commands}`;
  terminal.enter(`${command} # ${mark}`);
  await while_();
  terminal.press("C-c");
  await terminal.until(/^>$/, { isLastLine: true });
  terminal.enter(`echo ${mark}''=$?`);
  const text = await terminal.until(new RegExp(`^${mark}=\\d+$`, "m"));
  const said = text
    .slice(text.lastIndexOf(`# ${mark}`))
    .split("\n")
    .slice(1);
  return { said, code: Number(/=(\d+)$/.exec(said.at(-2) ?? "")?.[1]) };
}

/** A line that the terminal broke is longer than the terminal, put together again. */
const broken = (said: readonly string[]) => said.filter((line) => line.length > COLUMNS);

t.test("progress of an upload is redrawn in place, in one line that fits", async (t) => {
  const seen = new Set<string>();
  const { said, code } = await ran(`resontech storage put scans.bin ${LONG_KEY}`, async () => {
    for (const deadline = Date.now() + 120_000; ; ) {
      const lines = terminal.lines();
      const drawn = lines.filter((line) => /^….*scans\.bin +\d+ % {2}/.test(line));
      t.ok(drawn.length <= 1, "never a second line of it");
      if (drawn[0] !== undefined) seen.add(drawn[0]);
      if (lines.some((line) => line.startsWith("done-1="))) break;
      if (Date.now() > deadline) throw new Error(`no end of it:\n${lines.join("\n")}`);
      await sleep(20);
    }
  });
  t.equal(code, 0);
  t.ok(seen.size >= 2, [...seen].join(" | "));
  t.match(said.at(0), /scans\.bin 100 % {2}[\d.]+ s$/);
  t.match(said.slice(1).join(" "), /scans\.bin: +300\.0 MiB/);
});

let id = "";
t.test("a folder becomes a job", async (t) => {
  const { said, code } = await ran("resontech submit study --gpu-models cpu --max-price 100");
  t.equal(code, 0);
  id = said.find((line) => line.startsWith("job-")) ?? "";
  t.match(said.join(" "), new RegExp(`submitted study: resontech jobs watch +${id}`));
  t.same(broken(said), []);
});

t.test("it is watched to its end, and its log is followed", async (t) => {
  const members = await agent.desiredOf(id, 3);
  const [server, ...clients] = members as [(typeof members)[0], ...typeof members];
  const text = "epoch one of a line that is a little longer, as those of programs are\n";
  const print = { offset: 0, bytes: Buffer.byteLength(text), text };
  const watched = await interrupted(`resontech jobs watch ${id}`, async () => {
    await terminal.until(/^(?:\S+Z {2})?starting/m);
    await agent.bringUp(members);
    await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
    await agent.report(
      server,
      { kind: "round-started", round: 0, numRounds: 3 },
      { kind: "metric", site: "site-1", value: '{"accuracy": 0.5}' },
      { kind: "round-ended", round: 0, sites: ["site-1", "site-2"], modelSha256: "a".repeat(64) },
    );
    await terminal.until(/round 0 ended$/m);
  });
  t.equal(watched.code, 130);
  t.match(watched.said.join("\n"), /^\d\d:\d\d:\d\dZ {2}running$/m);
  t.match(watched.said.join("\n"), /^\d\d:\d\d:\d\dZ {2}site-1 \{"accuracy": 0\.5\}$/m);

  // Whoever stops watching stops nothing else.
  const followed = await interrupted(`resontech jobs logs -f ${id} --of site-1`, async () => {
    await agent.tail({ job: id, member: clients[0]!.member, ...print });
    await terminal.until(/^epoch one of a line that is/m);
  });
  t.equal(followed.code, 130);
  t.ok(followed.said.includes(text.trimEnd()));

  const toTheEnd = await ran(`resontech jobs watch ${id}`, async () => {
    await terminal.until(/^running$/m);
    await agent.report(server, { kind: "finished" });
    await agent.upload(server, "model_out/checkpoint.pt", "the model");
    await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
    for (const client of clients)
      await agent.report(
        client,
        { kind: "finished" },
        { kind: "outputs-uploaded", keys: [] },
        CLEAN,
      );
    await agent.report(server, CLEAN);
  });
  t.equal(toTheEnd.code, 0);
  t.match(toTheEnd.said.at(-1), /Z {2}finished$/);
  t.same(broken([...watched.said, ...followed.said, ...toTheEnd.said]), []);
});

t.test("lists fit, and the model comes back", async (t) => {
  const listed = await ran("resontech jobs ls");
  t.equal(listed.code, 0);
  t.match(listed.said[0], /^JOB +NAME +STATE +ROUND +AGE +WHY$/);
  t.match(listed.said[1], new RegExp(`^${id} +study +finished +1/3 `));
  const shown = await ran(`resontech jobs show ${id}`);
  t.match(shown.said.join("\n"), /^state +finished since /m);
  t.match(shown.said.join("\n"), /^rounds +1 of 3 done$/m);
  t.match(shown.said.join("\n"), /^model +of round 0, the final one$/m);
  const late = await ran(`resontech jobs cancel ${id}`);
  t.match(late.said.join(" "), new RegExp(`${id} had ended before: finished`));
  const bogus = await ran("resontech jobs ls --state BOGUS");
  t.equal(bogus.code, 2);
  t.match(bogus.said.join(" "), /there is no state "BOGUS": say waiting, starting/);
  const files = await ran(`resontech jobs files ${id.slice(0, 10)}`);
  t.match(files.said.join("\n"), /model_out\/checkpoint\.pt/);
  t.same(broken([...listed.said, ...shown.said, ...files.said]), []);
  const got = await ran("resontech storage get jobs/study/model_out/checkpoint.pt model.pt");
  t.equal(got.code, 0);
  t.match(got.said.at(-1), /^model\.pt: 9 bytes$/);
  t.equal(readFileSync(join(dir, "model.pt"), "utf8"), "the model");
  const folder = await ran("resontech storage get jobs/study/model_out/ left");
  t.match(folder.said.join("\n"), /^left\/checkpoint\.pt: 9 bytes$/m);
  t.equal(readFileSync(join(dir, "left", "checkpoint.pt"), "utf8"), "the model");
  for (const command of ["", "jobs ", "queue ", "storage put "]) {
    const help = await ran(`resontech ${command}--help`);
    t.equal(help.code, 0);
    t.same(broken(help.said), [], command);
  }
});

t.test("exit codes say how it ended", async (t) => {
  const again = await ran(`resontech jobs resubmit ${id}`);
  t.equal(again.code, 0);
  const second = again.said.find((line) => line.startsWith("job-")) ?? "";
  const watched = await ran(`resontech jobs watch ${second}`, async () => {
    await terminal.until(new RegExp(`watch ${second}[^]*^(waiting|starting)`, "m"));
    await running.request("POST", `/api/tasks/${second}/cancel`, user.platformKey);
    for (const member of await agent.desired()) await agent.report(member, CLEAN);
  });
  t.equal(watched.code, 3, "a job that did not succeed");
  const none = await ran("resontech jobs show job-none");
  t.equal(none.code, 1);
  const wrong = await ran("resontech jobs ls --limit many");
  t.equal(wrong.code, 2);
  t.same(broken([...watched.said, ...none.said]), []);
});
