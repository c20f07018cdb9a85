/**
 * What one shard of the log holds for a framework: `report.pdf`, `controls.csv` and `events.csv` for people, `assessment-results.json` (OSCAL) for programs,
 * and `log.tar`, which the verifier proves their entries with; `SHA256SUMS` names the bytes of each. Everything is read proven; it carries pseudonyms alone.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseLeaf } from "../../event/leaf.ts";
import type { ExportResult } from "../../export/export-log.ts";
import { writeNew } from "../../log/durable-file.ts";
import { TILE_WIDTH } from "../../log/tile-layout.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { VerifiedTree } from "../follow/verified-tree.ts";
import type { Framework } from "./control-map.ts";
import { csvLine } from "./csv.ts";
import { assessmentResults } from "./oscal.ts";
import type { ControlFindings } from "./pack-scope.ts";
import { reportOf } from "./report/report.ts";

export const BUNDLE = "log.tar";

type Found = { findings: ControlFindings[]; from: string; to: string; sha256: string };

/**
 * @param bundle what {@link BUNDLE} in the folder is; the shard was followed as far as that goes
 * @param folder has the bundle, and nothing else
 */
export async function writeEvidencePack(
  { origin, tree }: FollowedShard,
  bundle: ExportResult,
  name: string,
  framework: Framework,
  folder: string,
): Promise<void> {
  const { size } = bundle;
  const root = await tree.rootAt(size);
  const sums: string[] = [];
  const write = async (file: string, content: string | Buffer): Promise<void> => {
    await writeNew(join(folder, file), content, 0o640);
    sums.push(sumLine(createHash("sha256").update(content).digest("hex"), file));
  };
  const { findings, from, to, sha256 } = await writeEvents(tree, size, framework, join(folder, "events.csv"));
  sums.push(sumLine(sha256, "events.csv"));
  const lines = findings.map(({ id, title, count, firstIndex, lastIndex }) =>
    csvLine([id, title, count, firstIndex ?? "", lastIndex ?? ""]),
  );
  await write("controls.csv", csvLine(["control", "title", "entries", "first index", "last index"]) + lines.join(""));
  const scope = { name, framework, origin, size, root: root.toString("hex"), from, to };
  await write("assessment-results.json", `${JSON.stringify(assessmentResults(scope, findings), null, 2)}\n`);
  // Loaded here: the command that writes packs is also every other command of the appliance's, which need not read a megabyte for it.
  const { reportPdf } = await import("./report/report-pdf.ts");
  await write("report.pdf", await reportPdf(reportOf(scope, findings)));
  sums.push(sumLine(bundle.sha256, BUNDLE));
  await writeNew(join(folder, "SHA256SUMS"), sums.join(""), 0o640);
}

/** A line for each of the first `size` entries that bears on a control. */
async function writeEvents(tree: VerifiedTree, size: number, framework: Framework, file: string): Promise<Found> {
  const found: Found = {
    findings: framework.controls.map(({ id, title }) => ({ id, title, count: 0, firstIndex: null, lastIndex: null })),
    ...{ from: "", to: "", sha256: "" },
  };
  await using handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
  const digest = createHash("sha256");
  const write = async (text: string): Promise<void> => {
    digest.update(text);
    await handle.appendFile(text);
  };
  await write(csvLine(["index", "time", "type", "phase", "actor", "object kind", "object", "outcome", "leaf hash", "controls"]));
  for (let bundle = 0; bundle * TILE_WIDTH < size; bundle += 1) {
    const { entries, hashes } = await tree.readBundle(bundle);
    const lines: string[] = [];
    for (const [at, leaf] of entries.slice(0, size - bundle * TILE_WIDTH).entries()) {
      const event = parseLeaf(leaf);
      const index = bundle * TILE_WIDTH + at;
      found.from ||= event.t_log;
      found.to = event.t_log;
      const bearing = found.findings.filter((_, control) => framework.controls[control]!.types.includes(event.type));
      for (const finding of bearing) {
        finding.count += 1;
        finding.firstIndex ??= index;
        finding.lastIndex = index;
      }
      if (bearing.length === 0) continue;
      const object = [event.object.kind, event.object.id];
      const end = [event.outcome?.code ?? "", hashes[at]!.toString("hex"), bearing.map(({ id }) => id).join(" ")];
      lines.push(csvLine([index, event.t_log, event.type, event.phase, event.actor.sub, ...object, ...end]));
    }
    await write(lines.join(""));
  }
  await handle.sync();
  return { ...found, sha256: digest.digest("hex") };
}

/** As `sha256sum --check` reads it. */
function sumLine(sha256: string, file: string): string {
  return `${sha256}  ${file}\n`;
}
