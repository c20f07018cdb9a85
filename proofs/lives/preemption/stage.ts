import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { KernelRows } from "./kernel-rows.ts";
import type { Onlooker } from "./onlooker.ts";
import type { Submitter } from "./submitter.ts";

/** What every scene of the story is played on. */
export type Stage = {
  appliance: LocalAppliance;
  rows: KernelRows;
  /** Trains on what others lend, and is a stranger to the project of the other. */
  ada: Submitter;
  bert: Submitter;
  /** What Ada sees. */
  pages: Onlooker;
  progress: (line: string) => void;
};

/** How one scene went: what it showed, or how it broke off. */
export type Played = { isGood: boolean; figures: Record<string, unknown> };

/** Plays a scene. One that breaks off fails, and leaves nothing that the next one would wait for. */
export async function play(
  { ada, bert, pages, progress }: Stage,
  name: string,
  scene: () => Promise<Played>,
): Promise<Played> {
  try {
    return await scene();
  } catch (error) {
    progress(`  broke off: ${error instanceof Error ? error.stack : String(error)}`);
    await pages.picture(`${name}-broke-off`);
    await ada.cancelAll();
    await bert.cancelAll();
    return { isGood: false, figures: { broke_off: String(error) } };
  }
}
