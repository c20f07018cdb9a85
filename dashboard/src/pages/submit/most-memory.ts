/** How much memory a job may ask for. A member has its worker's memory and no more, so nothing is gained by asking for what no worker has. Pure. */
import type { GpuCatalogReply } from "@resontech/contracts/http-tasks";

type Model = Pick<GpuCatalogReply[number], "id" | "name" | "memoryMb" | "online">;

/**
 * The largest worker that is there now.
 * @param models catalogue ids with commas; empty: any
 * @returns null where none is there: nobody knows yet
 */
export function mostMemory(catalogue: readonly Model[], models: string): Model | null {
  const chosen = models === "" ? null : models.split(",");
  const there = catalogue.filter(
    ({ id, online }) => online > 0 && (chosen === null || chosen.includes(id)),
  );
  return there.toSorted((a, b) => b.memoryMb - a.memoryMb)[0] ?? null;
}
