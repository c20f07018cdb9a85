/**
 * Who makes way for whom on an installed appliance, seen in Chromium: a training gives back what it borrowed, then makes way for a higher class, and ends
 * each time with the weights of a run that nobody disturbed. Then a reservation and maintenance: only what ends in time starts before them.
 *
 *     npm run prove -- preemption
 */
import { join } from "node:path";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { ApplianceLog } from "@resontech/house/appliance-log";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { isVerified } from "@resontech/house/verify-audit";
import { Workstation } from "@resontech/house/workstation";
import type { ProofContext, ProofResult } from "../proof.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { verifyLife } from "./life/verify-life.ts";
import { keepForMaintenance } from "./preemption/keep-for-maintenance.ts";
import { keepReserved } from "./preemption/keep-reserved.ts";
import { KernelRows } from "./preemption/kernel-rows.ts";
import { makeWay } from "./preemption/make-way.ts";
import { Onlooker } from "./preemption/onlooker.ts";
import { play, type Stage } from "./preemption/stage.ts";
import { Submitter } from "./preemption/submitter.ts";

const NODE = "proof-node";
/** The two sites of the training take all. */
const WORKERS = 2;
const ROUNDS = 12;
/** Of each site in each round: a round lasts long enough that somebody sees the job make way. */
const EPOCHS = 20;
/** What a higher class or a guarantee asks for, in one container. */
const ASKED = { workersPerMember: WORKERS, timeLimitMinutes: 2 };
/** Long enough for a look at what the pages say meanwhile. */
const ASKED_S = 15;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const installed = await ProofAppliance.install(progress, undefined, { cpuWorkers: WORKERS });
  const { lived, left } = await liveAndUninstall(installed, () => live(installed, progress));
  const { isGood, figures } = lived;
  return {
    ok: isGood && left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function live(installed: ProofAppliance, progress: (line: string) => void) {
  const { appliance } = installed;
  await using stack = new AsyncDisposableStack();
  const [ada, bert] = [
    stack.use(await Submitter.join(installed, "ada")),
    stack.use(await Submitter.join(installed, "bert")),
  ];
  const browser = await launchApplianceBrowser(appliance);
  stack.defer(() => browser.close());
  const pages = new Onlooker(await SignedInPerson.signIn(browser, appliance, ada.name));
  const rows = new KernelRows(appliance);
  const stage: Stage = { appliance, rows, ada, bert, pages, progress };
  const guarantee = (amount: string) =>
    appliance.command(["shares", "set", bert.project, "--guarantee", amount]);

  progress("a training that nobody disturbs");
  const digits = await Workstation.open(ada.owner, installed.folder("digits"));
  await digits.python(["/example/make_shards.py", "--out", "/work"]);
  const undisturbed = await digits.submit(
    (line) => progress(`  ${line}`),
    [...["--rounds", String(ROUNDS), "--epochs", String(EPOCHS)], ...["--name", "undisturbed"]],
  );

  progress("the same on borrowed workers, which their project asks for");
  await guarantee(`cpu=${WORKERS}`);
  const reclaimed = await ada.again(undisturbed.id, { name: "reclaimed" });
  const reclaim = await play(stage, "reclaim", () =>
    makeWay(stage, {
      ...{ name: "reclaimed", whom: "another project", reason: "guarantee", by: bert },
      victim: reclaimed,
      ask: () => bert.wait("entitled", ASKED_S, ASKED),
    }),
  );
  progress("the same as a scavenger, beside an interactive job of its own project");
  const scavenged = await ada.again(undisturbed.id, { name: "scavenged", class: "scavenger" });
  const byClass = await play(stage, "class", () =>
    makeWay(stage, {
      ...{ name: "scavenged", whom: `project ${ada.projectName}`, reason: "class", by: ada },
      victim: scavenged,
      ask: () => ada.wait("urgent", ASKED_S, { ...ASKED, class: "interactive" }),
    }),
  );
  await guarantee("none");
  const weights = await play(stage, "weights", () =>
    compare(installed, stage, [
      { name: "undisturbed", job: undisturbed.id },
      { name: "reclaimed", job: reclaimed },
      { name: "scavenged", job: scavenged },
    ]),
  );

  progress("a reservation for another project");
  const reservation = await play(stage, "reservation", () => keepReserved(stage, NODE));
  progress("maintenance of the node");
  const maintenance = await play(stage, "maintenance", () => keepForMaintenance(stage, NODE));

  const leaves = await new ApplianceLog(appliance).since(0);
  const madeWay = leaves
    .filter(({ type }) => type === "job.preempting")
    .map(({ object }) => object.id);
  const isLogged = [reclaimed, scavenged].every((victim) => madeWay.includes(victim));
  const audit = await verifyLife(installed);
  const scenes = { reclaim, class: byClass, weights, reservation, maintenance };
  return {
    isGood:
      undisturbed.state === "FINISHED" &&
      Object.values(scenes).every(({ isGood }) => isGood) &&
      isLogged &&
      pages.complaints.length === 0 &&
      isVerified(audit),
    figures: {
      undisturbed_s: Number(undisturbed.seconds.toFixed(1)),
      ...Object.fromEntries(
        Object.entries(scenes).map(([name, { isGood, figures }]) => [
          name,
          { ok: isGood, ...figures },
        ]),
      ),
      logged_as_preempting: madeWay.length,
      pictures: pages.pictures,
      complaints: pages.complaints,
      audit,
    },
  };
}

/** By the tensors that stand in the bucket. Each round of the first run has another model, so that equal ones are no accident. */
async function compare(
  installed: ProofAppliance,
  { ada, rows }: Stage,
  runs: readonly { name: string; job: string }[],
) {
  const reader = await Workstation.open(
    ada.owner,
    installed.folder("compared"),
    join(import.meta.dirname, "preemption"),
  );
  const keys = runs.map(({ name }) => `jobs/${name}/model_out/checkpoint.pt`);
  const said = await reader.python(["/example/compare_models.py", ...keys]);
  const { tensors, same, differing } = JSON.parse(said) as {
    tensors: number;
    same: boolean[];
    differing: string[][];
  };
  const [first = [], ...others] = runs.map(({ job }) => rows.models(job));
  return {
    isGood:
      tensors > 0 &&
      first.length === ROUNDS &&
      new Set(first).size === ROUNDS &&
      others.every(({ length }) => length === ROUNDS) &&
      same.length === others.length &&
      same.every(Boolean),
    figures: {
      rounds: first.length,
      // Of files, which hold more than weights.
      same_files_by_round: others.map(
        (models) => models.filter((model, round) => model === first[round]).length,
      ),
      ...{ tensors, same_tensors: same, files_differ_in: differing },
    },
  };
}
