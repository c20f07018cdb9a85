import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import t from "tap";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { auditReport } from "@resontech/house/verify-audit";
import { Workstation } from "@resontech/house/workstation";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
const bundle = process.env["RT_TEST_BUNDLE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

type Status = { healthy: boolean; parts: { name: string; phase: string }[] };

t.test("every part of the installed appliance is healthy", async (t) => {
  const status = JSON.parse(await appliance.command(["status", "--json"])) as Status;
  t.ok(status.healthy, JSON.stringify(status.parts));
  t.same(status.parts.map((part) => part.name).sort(), [
    "agent",
    "audit-out",
    "auditd",
    "coordinator",
    "door",
    "keycloak",
    "nats",
    "notifier",
    "podman",
    "postgres",
    "prometheus",
    "registry",
    "s3",
    "s3-front",
    "serving",
    "vault",
  ]);
});

t.test(
  "the unmodified client trains the digits on two sites, the model rises, nothing is left, and the log verifies",
  async (t) => {
    const work = join(t.testdir(), "work");
    mkdirSync(work);
    const workstation = await Workstation.open(appliance, work);
    await workstation.python(["/example/make_shards.py", "--out", "/work"]);
    const job = await workstation.submit(() => undefined);
    t.equal(job.state, "FINISHED");
    t.equal(job.accuracyByRound.length, 3);
    t.ok(
      (job.accuracyByRound[2] ?? 0) > (job.accuracyByRound[0] ?? 1),
      job.accuracyByRound.join(" → "),
    );
    t.ok((await workstation.evaluate()) > 0.85);
    t.same(await untilNothingIsLeft(appliance, job.id), []);
    // Another test may have upgraded the appliance, and rolled it back.
    const statement = join(bundle, "release.json");
    const others = readdirSync(join(root, "releases"))
      .map((name) => join(root, "releases", name, "signed", "release.json"))
      .filter((file) => !readFileSync(file).equals(readFileSync(statement)));
    const { verdicts, binaries } = await auditReport(appliance, work, [statement, ...others]);
    t.ok(binaries.compared > 0, "the log says of the parts what they run");
    for (const name of ["SIGNATURE", "INTEGRITY", "COMPLETENESS"])
      t.equal(verdicts[name]?.verdict, "PASS", `${name}: ${verdicts[name]?.reason}`);
    t.equal(verdicts["WITNESSED"]?.verdict, "NOT CHECKED");
  },
);

/** Of the one job that both tests below are about. */
let hostile: Record<string, unknown> | undefined;

t.test(
  "a job that tries to get out of its container is kept in it, and what honest jobs need works",
  async (t) => {
    const work = join(t.testdir(), "work");
    mkdirSync(work);
    const workstation = await Workstation.open(appliance, work, join(import.meta.dirname, "jobs"));
    const found = ["--file", `root.txt=${root}`, "--file", `host.txt=${hostname()}`];
    const shape = ["--name", `hostile-${process.pid}`, "--sites", "2", "--rounds", "2"];
    const script = ["/example/run.py", "HostileModel", ...shape, ...found];
    hostile = (await workstation.events(script)).at(-1);
    const metrics = (hostile?.["metrics"] ?? []) as { tried: number; uid: number }[];
    t.equal(metrics.length, 2, JSON.stringify(hostile));
    for (const { tried } of metrics) t.ok(tried >= 38, `${tried} things were tried`);
    t.equal(new Set(metrics.map(({ uid }) => uid)).size, 2, "each site is a user of its own");
    // What got out, or what was lacking, would be the error in its place.
    t.match(hostile, { detail: { error: { message: /the label column is missing/ } } });
    t.same(await untilNothingIsLeft(appliance, String(hostile?.["id"])), []);
  },
);

t.test(
  "an exception in the user's training ends the job as FAILED with the traceback's last lines and a hint",
  (t) => {
    t.equal(hostile?.["state"], "FAILED");
    const lastLines = /model_def\.py[^]*ValueError: the label column is missing\s*$/;
    t.match(hostile, { detail: { error: { code: "user_exception", detail: lastLines } } });
    t.end();
  },
);

t.test("a running job that is cancelled ends and leaves nothing", async (t) => {
  const work = join(t.testdir(), "work");
  mkdirSync(work);
  const workstation = await Workstation.open(appliance, work, join(import.meta.dirname, "jobs"));
  const events = await workstation.events([
    "/example/run.py",
    "SlowModel",
    "--name",
    `slow-${process.pid}`,
    "--cancel",
  ]);
  t.ok(
    events.some((event) => event["cancel"] === 200 || event["cancel"] === 202),
    JSON.stringify(events),
  );
  t.equal(events.at(-1)?.["state"], "FAILED");
  t.match(JSON.stringify(events.at(-1)), /CANCELLED/);
  t.same(await untilNothingIsLeft(appliance, String(events.at(-1)?.["id"])), []);
});

t.test("credentials and the private parts of the configuration are closed to others", async (t) => {
  for (const path of [
    "data/credentials.txt",
    "etc/coordinator.json",
    "etc/secrets/coordinator",
    "etc/ca/root.key",
    "data/coordinator",
    "data/s3",
  ]) {
    const mode = Number.parseInt(
      execFileSync("stat", ["-c", "%a", join(root, path)], { encoding: "utf8" }),
      8,
    );
    t.equal(mode & 0o007, 0, path);
  }
});
