/** Tries images one after the other, several at a time. */
import { join } from "node:path";
import { type CrashKind, crashState, keyBlocks } from "./crash-state.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { tryImage, type Verdict } from "./try-image.ts";

/** Two cores; more processes than that only wait for one another. */
const AT_A_TIME = 3;

export type TriedImage = Verdict & { kind: CrashKind; point: number; acks: number };

export class ImageTrials {
  readonly #folder: string;
  readonly #random: () => number;
  #made = 0;

  /** @param folder where images are made, best on a disk that takes syncs lightly */
  constructor(folder: string, random: () => number) {
    this.#folder = folder;
    this.#random = random;
  }

  /** @param onTried called in no particular order */
  async run(
    run: RecordedRun,
    points: readonly number[],
    leftOut: string | null,
    kinds: readonly CrashKind[],
    onTried: (tried: TriedImage) => void = () => {},
  ): Promise<TriedImage[]> {
    const tried: TriedImage[] = [];
    const underWay = new Set<Promise<void>>();
    for (const { point, disk } of run.disksAt(points, leftOut)) {
      while (underWay.size >= AT_A_TIME) await Promise.race(underWay);
      const kind = kinds[this.#made % kinds.length]!;
      const image = crashState(disk, kind, this.#random);
      const blocks = keyBlocks(disk, kind, this.#random);
      this.#made += 1;
      const trial = run.trialAt(point);
      const one = tryImage(
        join(this.#folder, `i${this.#made}`),
        { files: image, blocks },
        trial,
      ).then((verdict) => {
        const all = { ...verdict, kind, point, acks: trial.acks.length };
        tried.push(all);
        onTried(all);
        underWay.delete(one);
      });
      underWay.add(one);
    }
    await Promise.all(underWay);
    return tried;
  }
}
