/**
 * Both CUDA images: their build with sizes by layer, and a federated job whose two sites run one each. The devices are pretended, on a bare Debian 12
 * without a route: their trials fail, because no driver is there, and the proof then says that they passed. So torch trains on the processor. What a
 * real device would add is not shown here.
 *
 * `npm run prove -- cuda-image` (30 GB of free disk)
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { DsseEnvelope, ReleaseManifest } from "@resontech/contracts/release-manifest";
import {
  buildOwnBundle,
  type BundleSummary,
  type LocalAppliance,
  repository,
} from "@resontech/house/local-appliance";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { builtOutside, runInside } from "./network/run-inside.ts";
import { LiveHost } from "./hosts/live-host.ts";
import { DISTRIBUTIONS, MinimalHost } from "./hosts/minimal-host.ts";
import { putPretendedGpus, uuidOf } from "./hosts/pretended-gpus.ts";
import { inOwnNetwork } from "./hosts/own-network.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const GPUS = [
  { name: "NVIDIA GeForce RTX 4090", computeCapability: "8.9", image: "fl-cuda13" },
  { name: "NVIDIA GeForce GTX 1080 Ti", computeCapability: "6.1", image: "fl-cuda12" },
];
const DRIVER = "580.95.05";
const HOME = "proof-node";
const TRIALS_MS = 900_000;
const READY_MS = 60_000;

/** What torch says of itself; `archs` are those that it was compiled for. */
const ASK_TORCH = `
import json, torch, torchvision
print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "vision": torchvision.__version__,
  "archs": torch._C._cuda_getArchFlags().split(), "sum": torch.ones(3).sum().item()}))
`;
/** A member and the image that was chosen for it. */
type Ran = { profile: string; reference: string; worker: string | null };
type Torch = { torch: string; cuda: string; vision: string; archs: string[]; sum: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const inside = builtOutside(args) as BundleSummary | undefined;
  if (inside !== undefined) return await proveInside(progress, inside, args.at(-1) ?? "");

  progress("building the bundle of profile cuda");
  const built = await buildOwnBundle({ profile: "cuda" });
  const debian = DISTRIBUTIONS.find(({ name }) => name === "Debian 12")!;
  progress("fetching a bare Debian 12");
  using host = await MinimalHost.make(debian);
  putPretendedGpus(host.root, DRIVER, GPUS);
  const { ok, figures } = await inOwnNetwork(
    async (enter) =>
      await runInside("cuda-image", built, (command) => enter([...command, host.root])),
  );
  return {
    ok,
    figures: { build_s: built.seconds, layers_mb: layersOf(built.bundle), ...figures },
  };
}

async function proveInside(
  progress: ProofContext["progress"],
  bundle: BundleSummary,
  root: string,
): Promise<ProofResult> {
  await using host = await LiveHost.start(root, [
    join(repository, ".cache"),
    join(repository, "examples"),
  ]);
  await using installed = await ProofAppliance.install(progress, bundle, { enter: host.enter });
  const { appliance } = installed;
  progress("the trial of each device runs in its image, and fails for want of a driver");
  const trials = await untilTried(appliance);
  await pretendThatTheyPassed(appliance);
  const workstation = await installed.workstation("job");
  const pinned = GPUS.map((_, index) => `${HOME}-${index}`).join(",");
  const job = await workstation.submit((line) => progress(`  ${line}`), ["--workers", pinned]);
  const { images, warnings } = readJob(join(appliance.root, "data", "coordinator"), job.id);
  progress("asking each image for its torch");
  const torches = releaseOf(bundle.bundle)
    .images.filter(({ needs }) => needs !== undefined)
    .map((image) => ({
      profile: image.profile ?? "",
      needs: image.needs!,
      told: askTorch(
        appliance.engineSocket,
        images.find(({ profile }) => profile === image.profile)?.reference ?? "",
      ),
    }));
  const wrong = torches.filter(
    ({ needs, told }) =>
      told.sum !== 3 ||
      told.archs
        .filter((arch) => /^sm_\d+$/.test(arch))
        .map((arch) => arch.replace(/^sm_(\d+)(\d)$/, "$1.$2"))
        .join() !== needs.architectures.join(),
  );
  const ran = GPUS.map(({ image }, index) => ({
    worker: `${HOME}-${index}`,
    wanted: image,
    ran: images.find(({ worker }) => worker === `${HOME}-${index}`)?.profile,
  }));
  return {
    ok:
      job.state === "FINISHED" &&
      trials.length === GPUS.length &&
      trials.every((why) => /its trial failed: .*torch .* finds 0 devices/.test(why)) &&
      wrong.length === 0 &&
      ran.every((one) => one.ran === one.wanted) &&
      warnings.length === 1,
    figures: {
      pretended: true,
      trials,
      job: { state: job.state, accuracy_by_round: job.accuracyByRound },
      images: ran,
      server: images.find(({ worker }) => worker === null)?.profile,
      warnings,
      torch: torches.map(({ profile, told }) => ({ profile, ...told })),
      wrong: wrong.map(({ profile }) => profile),
    },
  };
}

/** Why the workers take no work, once each was tried: the images come over the registry, some gigabytes of them. */
async function untilTried(appliance: LocalAppliance): Promise<string[]> {
  for (const from = Date.now(); ; await sleep(2_000)) {
    const unfit = await unfitWorkers(appliance);
    const areTried = unfit.every((why) => why === null || why.startsWith("its trial failed"));
    if (areTried || Date.now() - from > TRIALS_MS) return unfit.map(String);
  }
}

/** As the agent notes it, for devices that no torch can compute on. */
async function pretendThatTheyPassed(appliance: LocalAppliance): Promise<void> {
  const passed = GPUS.map(({ image }, index) => ({
    ...{ subject: `${uuidOf(index)} ${DRIVER}`, image },
  }));
  await appliance.command(["stop", "agent"]);
  writeFileSync(
    join(appliance.root, "data", "agent", "trials.json"),
    JSON.stringify({ formatVersion: 1, passed }),
    { mode: 0o600 },
  );
  await appliance.command(["start", "agent"]);
  for (const from = Date.now(); ; await sleep(500)) {
    if ((await unfitWorkers(appliance)).every((why) => why === null)) return;
    if (Date.now() - from > READY_MS) throw new Error("the workers are not ready");
  }
}

async function unfitWorkers(appliance: LocalAppliance): Promise<(string | null)[]> {
  const told = await appliance.command(["node", "show", HOME, "--json"]);
  return (JSON.parse(told) as { workers: { unfit: string | null }[] }).workers.map(
    ({ unfit }) => unfit,
  );
}

function askTorch(socket: string, reference: string): Torch {
  const output = execFileSync(
    "podman",
    [
      ...["--url", `unix://${socket}`, "run", "--rm", "--network=none", "--pull=never"],
      ...["--entrypoint=python3", reference, "-c", ASK_TORCH],
    ],
    { encoding: "utf8" },
  );
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as Torch;
}

function readJob(folder: string, id: string): { images: Ran[]; warnings: string[] } {
  const db = new Database(join(folder, "coordinator.db"), { readonly: true });
  try {
    const members = db
      .prepare<[string], { worker_id: string | null; image: string }>(
        "SELECT worker_id, image FROM members WHERE job_id = ?",
      )
      .all(id);
    const warnings = db
      .prepare<[string], string>(
        "SELECT text FROM job_warnings WHERE job_id = ? AND topic = 'torch-version'",
      )
      .pluck()
      .all(id);
    return {
      images: members.map(({ worker_id, image }) => ({
        ...(JSON.parse(image) as Omit<Ran, "worker">),
        worker: worker_id,
      })),
      warnings,
    };
  } finally {
    db.close();
  }
}

/** Megabytes of each layer of each CUDA image, lowest first; those that images share count in each. */
function layersOf(bundle: string): Record<string, number[]> {
  const images = releaseOf(bundle).images.filter(({ needs }) => needs !== undefined);
  return Object.fromEntries(
    images.map(({ profile, blobs }) => [
      profile ?? "",
      blobs.slice(2).map(({ sizeBytes }) => Number((sizeBytes / 1e6).toFixed(1))),
    ]),
  );
}

function releaseOf(bundle: string): ReleaseManifest {
  const { payload } = JSON.parse(
    readFileSync(join(bundle, "release.json"), "utf8"),
  ) as DsseEnvelope;
  return (JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: ReleaseManifest })
    .predicate;
}
