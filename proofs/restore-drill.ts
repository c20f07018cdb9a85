/**
 * A host that is lost while it works: a backup is taken beneath a federated job, more is done after it, then every process is killed and the root is
 * taken away. An empty root gets the same release, and the backup is put back there.
 *
 *     npm run prove -- restore-drill
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import { launchBrowser } from "../acceptance/test/helper/launch-browser.ts";
import { Person } from "../acceptance/test/helper/person.ts";
import { ApplianceApi } from "../dev/appliance-api.ts";
import { runChild } from "../dev/child.ts";
import type { LocalAppliance, Quickstart } from "../dev/local-appliance.ts";
import { auditReport } from "../dev/verify-audit.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import { emptyFolder } from "../dev/joined-node.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const ROUNDS = 40;
const JOB_MS = 400_000;
const AFTER_S = 10;
const MAX_RESTORE_S = 60;
const MAX_LOST_S = 1;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const first = await ProofAppliance.install(progress);
  const outside = emptyFolder(`${first.appliance.root}-backups`);
  try {
    const before = await workAndLose(first, outside, progress);
    const second = await ProofAppliance.install(progress, first.bundle);
    const figures = await (async () => {
      await using _ = second;
      return await restore(second, outside, before, progress);
    })();
    const lostS = before.lost_s;
    return {
      ok:
        figures.restore_s <= MAX_RESTORE_S &&
        lostS <= MAX_LOST_S &&
        figures.user &&
        figures.key &&
        figures.object &&
        figures.signs_in &&
        figures.job === "FINISHED" &&
        figures.admits,
      figures: { backup_s: before.backup_s, lost_s: lostS, ...figures },
    };
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

type Before = { job: string; quickstart: Quickstart; backup_s: number; lost_s: number };

async function workAndLose(
  installed: ProofAppliance,
  outside: string,
  progress: (line: string) => void,
): Promise<Before> {
  await using _ = installed;
  const { appliance } = installed;
  const quickstart = appliance.quickstart();
  progress("a person, an object, and a federated job");
  await appliance.command(["add-user", "of-before"]);
  const file = join(installed.folder("kept"), "kept.txt");
  writeFileSync(file, "of before");
  await shell(appliance, quickstart, "storage", "put", file, "kept/kept.txt");
  const digits = await installed.workstation("digits");
  const { id } = await digits.submit(
    (line) => progress(`  ${line}`),
    ["--rounds", String(ROUNDS), "--name", "through", "--detach"],
  );
  const api = new ApplianceApi(appliance);
  for (;;) {
    const { body } = await api.call("GET", `/api/tasks/${id}`);
    if ((body as TaskReply).status === "RUNNING") break;
    await sleep(500);
  }
  await sleep(5_000);
  const key = await appliance.command(["backup", "key"]);
  writeFileSync(join(outside, "sheet.txt"), key, { mode: 0o600 });
  const from = Date.now();
  progress("the backup");
  await appliance.command(["backup", "take", emptyFolder(join(outside, "target"))]);
  const backupS = (Date.now() - from) / 1_000;
  await appliance.command(["add-user", "of-after"]);
  await sleep(AFTER_S * 1_000);
  api.close();
  progress("the host is lost");
  // Whatever was done since the backup began is on no other disk.
  return {
    job: id,
    quickstart,
    backup_s: tenths(backupS),
    lost_s: tenths((Date.now() - from) / 1_000),
  };
}

async function restore(
  installed: ProofAppliance,
  outside: string,
  { job, quickstart }: Before,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  const from = Date.now();
  progress("put back on an empty root");
  await appliance.command([
    "restore",
    join(outside, "target"),
    "--recovery-key",
    join(outside, "sheet.txt"),
    "--yes",
  ]);
  await appliance.command(["audit", "open-shard", "--approver", "ann", "--approver", "bob"]);
  await appliance.command(["start"]);
  const restoreS = (Date.now() - from) / 1_000;
  progress(`healthy after ${restoreS.toFixed(1)} s`);
  const users = JSON.parse(await appliance.command(["user", "ls", "--json"])) as {
    username: string;
  }[];
  const names = users.map(({ username }) => username);
  const listed = await shell(appliance, quickstart, "storage", "ls", "kept/", "--json");
  const api = new ApplianceApi(appliance);
  const bearer = `Bearer ${quickstart["RESON_API_KEY"] ?? ""}`;
  const byOldKey = await api.call("GET", `/api/tasks/${job}`, undefined, bearer);
  const ended = await api.untilEnded(job, JOB_MS).finally(() => api.close());
  const browser = await launchBrowser(appliance);
  let signsIn = false;
  try {
    const person = await Person.signIn(browser, appliance, "of-before");
    signsIn = await person.page.getByRole("navigation", { name: "Pages" }).isVisible();
  } finally {
    await browser.close();
  }
  const { verdicts } = await auditReport(appliance, installed.folder("audit"), []);
  return {
    restore_s: tenths(restoreS),
    user: names.includes("of-before"),
    user_of_after: names.includes("of-after"),
    key: byOldKey.status === 200,
    object: listed.includes("kept/kept.txt"),
    signs_in: signsIn,
    ...{ job: ended.status, attempt: ended.detail.attempt },
    admits: (verdicts["COMPLETENESS"]?.reason ?? "").includes("RECOVERED"),
  };
}

/** With the key pair and the address that people have from before. */
function shell(appliance: LocalAppliance, quickstart: Quickstart, ...words: string[]) {
  return runChild(join(appliance.root, "current", "bin", "resontech"), words, {
    ...{ env: { PATH: process.env["PATH"], ...quickstart }, quiet: true },
  });
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}
