/**
 * `npm run try [-- --json]`: from this tree to a finished, verified federated job on an appliance of this machine.
 * Set-up was done by setup.mjs. The appliance is left running; the last lines say where it is and how to stop it.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  buildOwnBundle,
  describeBundle,
  isRunning,
  LocalAppliance,
  reachableRoot,
  repository,
} from "@resontech/house/local-appliance";
import { Phases } from "./phases.ts";
import { isVerified, verifyAudit } from "@resontech/house/verify-audit";
import { Workstation } from "@resontech/house/workstation";

const json = process.argv.includes("--json");
const phases = new Phases("try", Number(process.env["RT_SETUP_MS"] ?? 0));

const root = reachableRoot(join(repository, ".appliance"), "/var/lib/resontech-try");
const warm = isRunning(root);
const bundle = await phases.run(
  "build",
  warm ? "checking that the bundle is of this tree" : "building the bundle",
  buildOwnBundle,
);
describeBundle((line) => phases.say(line), bundle);

const appliance = await phases.run("install", `installing below ${root}`, () =>
  LocalAppliance.install(bundle.bundle, { instance: "try", root, portOffset: 0, cpuWorkers: 2 }),
);
if (!json) process.stderr.write(await appliance.command(["status"]));

mkdirSync(join(repository, ".cache"), { recursive: true });
const work = mkdtempSync(join(repository, ".cache", "try-"));
chmodSync(work, 0o755);
try {
  const workstation = await phases.run(
    "workstation",
    "a researcher's workstation with the public client 0.3.0",
    () => Workstation.open(appliance, work),
  );
  await phases.run("data", "two shards of scikit-learn's digits and a held-out set", () =>
    workstation.python(["/example/make_shards.py", "--out", "/work"]),
  );

  const job = await phases.run(
    "job",
    "submitting with the unmodified client, then following the job",
    () => workstation.submit((line) => phases.say(`  ${line}`)),
  );
  const heldOut = await phases.run("evaluate", "the downloaded checkpoint on held-out digits", () =>
    workstation.evaluate(),
  );
  const audit = await phases.run("audit", "exporting the audit log and verifying it offline", () =>
    verifyAudit(appliance, work, bundle.bundle),
  );

  const rounds = job.accuracyByRound;
  const rose = rounds.length > 1 && (rounds.at(-1) ?? 0) > (rounds[0] ?? 1);
  const ok = job.state === "FINISHED" && rose && isVerified(audit);
  const quickstart = appliance.quickstart();
  const endpoints = {
    api: quickstart["RESON_BASE_URL"],
    s3: quickstart["RESON_S3_ENDPOINT"],
    credentials: join(root, "data", "credentials.txt"),
  };

  if (!json) {
    process.stdout.write(
      [
        "",
        `job        ${job.id}  ${job.state}  ${job.seconds.toFixed(1)} s`,
        `accuracy   ${rounds.map((value, round) => `round ${round}: ${value.toFixed(3)}`).join("   ")}   (incoming global model, ${rose ? "it rose" : "it did NOT rise"})`,
        `held out   ${heldOut.toFixed(3)} with the downloaded checkpoint`,
        `audit      ${Object.entries(audit)
          .map(([verdict, value]) => `${verdict} ${value}`)
          .join(" · ")}`,
        `time       ${Object.entries(phases.seconds)
          .map(([phase, seconds]) => `${phase} ${seconds} s`)
          .join(" · ")} · in all ${phases.totalSeconds} s (download ${bundle.downloadSeconds} s)`,
        "",
        `sign in    ${endpoints.api}/   (name and first password: [sign-in] in the file of keys)`,
        `API        ${endpoints.api}`,
        `S3         ${endpoints.s3}`,
        `keys       ${endpoints.credentials}`,
        `look       ${join(root, "current/bin/appliance")} --root ${root} status`,
        `stop       ${join(root, "current/bin/appliance")} --root ${root} stop`,
        `remove     ${join(root, "current/bin/appliance")} --root ${root} uninstall`,
        "",
      ].join("\n"),
    );
  } else {
    const line = {
      ok,
      job: {
        id: job.id,
        state: job.state,
        seconds: job.seconds,
        accuracyByRound: rounds,
        heldOutAccuracy: heldOut,
      },
      audit,
      endpoints,
      seconds: { ...phases.seconds, download: bundle.downloadSeconds, total: phases.totalSeconds },
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  process.exitCode = ok ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
