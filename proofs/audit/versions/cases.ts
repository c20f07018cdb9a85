/** Exports of a real log that lived, and what others made of them: files on disk, as an auditor has them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportLog, exportProof } from "@resontech/audit/export";
import { HonestLog } from "../honest/honest-log.ts";
import { release, startsOfVersion } from "../fuzz/releases.ts";
import { layoutOf } from "../mutation/layout.ts";

export type Case = {
  name: string;
  file: string;
  policy: string | null;
  known: string | null;
  releases: string[];
};

/** Releases that ran while the log was written. */
const RAN = [0, 1];
const FLIPS_OF_A_PART = 3;

export async function makeCases(root: string, random: () => number): Promise<Case[]> {
  const log = await HonestLog.begin(join(root, "log"), random, true);
  const cases: Case[] = [];
  try {
    for (const version of RAN) await log.measure(startsOfVersion(version));
    await log.write(300);
    await log.cosign();
    await log.crash();
    await log.stopped();
    await log.write(100);
    const known = written(root, "known", Buffer.from(await log.keep()));
    await log.dark();
    await log.stepClock();
    await log.end(true);
    const policy = written(root, "policy", log.policy);
    const dir = log.logDir(log.slug);
    const file = join(root, "honest.tar");
    await exportLog({ logDir: dir, file, witnessedFor: 0 });
    const honest = readFileSync(file);
    const add = (name: string, bytes: Buffer, changes: Partial<Case> = {}): void => {
      cases.push({
        name,
        file: written(root, `case-${cases.length}`, bytes),
        policy,
        known,
        releases: [],
        ...changes,
      });
    };
    add("honest", honest);
    add("honest, nothing known", honest, { policy: null, known: null });
    add("a policy that is none", honest, {
      policy: written(root, "no-policy", Buffer.from("log x\nquorum none\n")),
    });
    add("another log's policy", honest, { policy: await strangersPolicy(root, random) });
    const releases = [...RAN, 2].map((version) =>
      written(root, `release-${version}`, release(version)),
    );
    const [first, second, other] = releases as [string, string, string];
    const cutShort = written(root, "cut-release", release(0).subarray(0, 999));
    add("honest, beside its releases", honest, { releases: [first, second] });
    add("honest, beside more releases than ran", honest, { releases });
    add("beside one of two releases", honest, { releases: [second] });
    add("beside another release", honest, { releases: [other] });
    add("beside a release that is none", honest, { releases: [cutShort] });
    add("cut short", honest.subarray(0, honest.length - 4_096));
    add("something behind its end", Buffer.concat([honest, Buffer.alloc(512)]));
    add("no archive", Buffer.from("<html>".repeat(1_000)));
    add("nothing", Buffer.alloc(0));
    const layout = layoutOf(honest);
    for (const part of new Set(layout.map((stretch) => stretch.part)))
      for (let flip = 0; flip < FLIPS_OF_A_PART; flip++) {
        const stretches = layout.filter(
          (stretch) => stretch.part === part && stretch.to > stretch.from,
        );
        const { from, to } = stretches[Math.floor(random() * stretches.length)]!;
        const copy = Buffer.from(honest);
        copy[from + Math.floor(random() * (to - from))]! ^= 1 << Math.floor(random() * 8);
        add(`${part}, one bit`, copy);
      }
    const proof = Buffer.from(await exportProof(dir, 7));
    add("proof of one entry", proof, { known: null });
    add(
      "proof of another entry",
      Buffer.from(proof.toString().replace("\nindex 7\n", "\nindex 8\n")),
      { known: null },
    );
    add(
      "proof without its hashes",
      Buffer.from(proof.toString().replace(/\n[A-Za-z0-9+/]{43}=\n/, "\n")),
      { known: null },
    );
    return cases;
  } finally {
    await log.kill();
  }
}

async function strangersPolicy(root: string, random: () => number): Promise<string> {
  const stranger = await HonestLog.begin(join(root, "stranger"), random, false);
  await stranger.kill();
  return written(root, "strangers-policy", stranger.policy);
}

function written(root: string, name: string, bytes: Buffer): string {
  const file = join(root, name);
  writeFileSync(file, bytes);
  return file;
}
