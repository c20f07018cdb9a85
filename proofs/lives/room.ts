/**
 * Installs on file systems of 7, 12 and 30 GiB: one that is too small is refused before anything on the host changes, and says how much is missing;
 * the other comes up, with the first job's room still free, and has taken no more than its account says.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { join } from "node:path";
import {
  buildOwnBundle,
  installFlags,
  LocalAppliance,
  reachableRoot,
  repository,
} from "@resontech/house/local-appliance";
import { FIRST_JOB_BYTES } from "@resontech/contracts/room-account";
import type { ProofContext, ProofResult } from "../proof.ts";

const GIB = 1024 ** 3;
const SIZES_GIB = [7, 12, 30];
const INSTANCE = "proof";
const NEEDED = /([\d.]+) GiB free, ([\d.]+) GiB needed: ([^;\n]+)/;

type Outcome = {
  size_gib: number;
  free_gib: number;
  needed_gib: number;
  installed: boolean;
  /** What was not as it should be. */
  wrong: string[];
  taken_gib: number | null;
  left_gib: number | null;
};

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  progress("building the bundle");
  const { bundle } = await buildOwnBundle();
  const work = mkdtempSync(
    join(reachableRoot(join(repository, ".cache"), "/var/lib"), "proof-room-"),
  );
  // Parts run under users of their own.
  chmodSync(work, 0o755);
  const each: Outcome[] = [];
  try {
    for (const size of SIZES_GIB) each.push(await tryOn(size, bundle, work, progress));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const wrong = each.flatMap(({ size_gib, wrong }) =>
    wrong.map((what) => `${size_gib} GiB: ${what}`),
  );
  const isBothWays =
    each.some(({ installed }) => installed) && each.some(({ installed }) => !installed);
  return { ok: wrong.length === 0 && isBothWays, figures: { each, wrong } };
}

async function tryOn(
  size: number,
  bundle: string,
  work: string,
  progress: (line: string) => void,
): Promise<Outcome> {
  const [image, disk] = [join(work, "disk.img"), join(work, "disk")];
  execFileSync("truncate", ["--size", String(size * GIB), image]);
  execFileSync("mkfs.ext4", ["-q", image]);
  mkdirSync(disk, { recursive: true });
  execFileSync("mount", ["-o", "loop", image, disk]);
  try {
    const options = {
      ...{ instance: INSTANCE, root: join(disk, "appliance"), portOffset: 12_000 },
      cpuWorkers: 2,
    };
    const plan = said([join(bundle, "install.sh"), ...installFlags(options), "--dry-run"]);
    const [, free = "0", needed = "0", parts = ""] = NEEDED.exec(plan.text) ?? [];
    progress(`${size} GiB: ${free} GiB free, ${needed} needed (${parts})`);
    const told = { size_gib: size, free_gib: Number(free), needed_gib: Number(needed) };
    const wrong = parts === "" ? [`the plan tells no room:\n${plan.text}`] : [];
    if (Number(needed) > Number(free)) {
      const install = said([join(bundle, "install.sh"), ...installFlags(options)]);
      if (install.status === 0) wrong.push("it was installed on too little");
      if (!/free [\d.]+ GiB more/.test(install.text)) wrong.push("what is missing is not named");
      const others = install.text.match(/^ *✗ (?!disk ).*/gm) ?? [];
      wrong.push(...others.map((finding) => `also refused for${finding}`));
      const left = readdirSync(disk).filter((name) => name !== "lost+found");
      if (left.length > 0) wrong.push(`the refused install left ${left.join(", ")}`);
      if (existsSync(`/run/resontech/${INSTANCE}`)) wrong.push("it left a folder in /run");
      return { ...told, installed: false, wrong, taken_gib: null, left_gib: null };
    }
    const before = freeBytes(disk);
    const appliance = await LocalAppliance.install(bundle, options);
    try {
      const ill = appliance
        .status()
        .findings.filter(({ severity, code }) => severity === "fault" || /disk/.test(code));
      wrong.push(...ill.map(({ code, what }) => `${code}: ${what}`));
      const left = freeBytes(disk);
      if (left < FIRST_JOB_BYTES) wrong.push(`${left} bytes are left for the first job`);
      const taken = before - left;
      if (taken > (Number(needed) + 0.1) * GIB - FIRST_JOB_BYTES)
        wrong.push(`it took ${taken} bytes, more than its account says`);
      return { ...told, installed: true, wrong, taken_gib: inGib(taken), left_gib: inGib(left) };
    } finally {
      await appliance.uninstall();
    }
  } finally {
    execFileSync("umount", [disk]);
    rmSync(image);
  }
}

function said(words: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("sh", words, { encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function inGib(bytes: number): number {
  return Number((bytes / GIB).toFixed(2));
}
