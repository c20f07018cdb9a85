/**
 * What one shard of the log holds for a framework: `controls.csv` and `events.csv` for people, `assessment-results.json` (OSCAL) for programs. Everything is
 * read proven; exports carry pseudonyms alone. The caller logs `audit.export`.
 */
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { once } from "node:events";
import { parseLeaf } from "../../event/leaf.ts";
import { TILE_WIDTH } from "../../log/tile-layout.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { Framework } from "./control-map.ts";
import { csvLine } from "./csv.ts";
import { assessmentResults, type ControlFindings } from "./oscal.ts";

/** @param folder is made; it must not be there yet */
export async function writeEvidencePack(
  { origin, tree }: FollowedShard,
  name: string,
  framework: Framework,
  folder: string,
): Promise<void> {
  const { size, root } = tree.checkpoint;
  await mkdir(folder, { mode: 0o750 });
  const findings = framework.controls.map(
    ({ id, title }): ControlFindings => ({ id, title, count: 0, firstIndex: null, lastIndex: null }),
  );
  const events = createWriteStream(join(folder, "events.csv"), { mode: 0o640, flags: "wx" });
  const write = async (line: string): Promise<void> => {
    if (!events.write(line)) await once(events, "drain");
  };
  await write(csvLine(["index", "time", "type", "phase", "actor", "object kind", "object", "outcome", "leaf hash", "controls"]));
  let from = "";
  let to = "";
  for (let bundle = 0; bundle * TILE_WIDTH < size; bundle += 1) {
    const { entries, hashes } = await tree.readBundle(bundle);
    for (const [at, leaf] of entries.slice(0, size - bundle * TILE_WIDTH).entries()) {
      const event = parseLeaf(leaf);
      const index = bundle * TILE_WIDTH + at;
      from ||= event.t_log;
      to = event.t_log;
      const bearing = findings.filter((_, control) => framework.controls[control]!.types.includes(event.type));
      for (const found of bearing) {
        found.count += 1;
        found.firstIndex ??= index;
        found.lastIndex = index;
      }
      if (bearing.length === 0) continue;
      const object = [event.object.kind, event.object.id];
      const end = [event.outcome?.code ?? "", hashes[at]!.toString("hex"), bearing.map(({ id }) => id).join(" ")];
      await write(csvLine([index, event.t_log, event.type, event.phase, event.actor.sub, ...object, ...end]));
    }
  }
  events.end();
  await once(events, "finish");
  const lines = findings.map(({ id, title, count, firstIndex, lastIndex }) =>
    csvLine([id, title, count, firstIndex ?? "", lastIndex ?? ""]),
  );
  const head = csvLine(["control", "title", "entries", "first index", "last index"]);
  await writeFile(join(folder, "controls.csv"), head + lines.join(""), { mode: 0o640, flag: "wx" });
  const scope = { name, framework, origin, size, root: root.toString("hex"), from, to };
  const results = `${JSON.stringify(assessmentResults(scope, findings), null, 2)}\n`;
  await writeFile(join(folder, "assessment-results.json"), results, { mode: 0o640, flag: "wx" });
}
