/**
 * What one shard of the log holds for a framework: `report.pdf`, `controls.csv` and `events.csv` for people, `assessment-results.json` (OSCAL) for programs,
 * and `log.tar`, which the verifier proves their entries with; `SHA256SUMS` names the bytes of each. Everything is read proven; it carries pseudonyms alone.
 */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { writeNew } from "@resontech/daemon/durable-file";
import { parseLeaf } from "../../log/format/event/leaf.ts";
import type { ExportResult } from "../../log/export/export-log.ts";
import { TILE_WIDTH } from "../../log/format/tree/tile-layout.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { VerifiedTree } from "../follow/verified-tree.ts";
import type { Framework } from "./control-map.ts";
import { csvLine } from "./csv.ts";
import { resultOf } from "./entry-result.ts";
import { assessmentResults, type PackFiles } from "./oscal.ts";
import { type ControlFindings, sourcesText } from "./pack-scope.ts";
import { type RefusalKind, Refusals } from "./refusals.ts";
import { reportOf } from "./report/report.ts";

export const BUNDLE = "log.tar";

type Found = {
  findings: ControlFindings[];
  refusals: RefusalKind[];
  from: string;
  to: string;
  sha256: string;
};

const EVENT_COLUMNS = [
  ...[
    "index",
    "time",
    "type",
    "phase",
    "result",
    "code",
    "status",
    "actor kind",
    "actor",
    "on behalf of",
    "claimed",
  ],
  ...["source", "address", "object kind", "object", "leaf hash", "controls"],
];
const CONTROL_COLUMNS = [
  ...[
    "control",
    "title",
    "entries",
    "refused",
    "failed",
    "sources",
    "first index",
    "last index",
    "what it can't show",
  ],
];

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
    sums.push(sumLine(sha256Of(content), file));
  };
  const { findings, refusals, from, to, sha256 } = await writeEvents(
    tree,
    size,
    framework,
    join(folder, "events.csv"),
  );
  sums.push(sumLine(sha256, "events.csv"));
  const lines = findings.map((finding) => {
    const { id, title, count, refused, failed, firstIndex, lastIndex, limits } = finding;
    return csvLine([
      id,
      title,
      count,
      refused,
      failed,
      sourcesText(finding),
      firstIndex ?? "",
      lastIndex ?? "",
      limits,
    ]);
  });
  const controls = csvLine(CONTROL_COLUMNS) + lines.join("");
  await write("controls.csv", controls);
  const scope = { name, framework, origin, size, root: root.toString("hex"), from, to };
  const files: PackFiles = {
    bundle: {
      name: BUNDLE,
      title: "The export of the log, which the verifier proves",
      sha256: bundle.sha256,
    },
    events: { name: "events.csv", title: "A line for each entry that bears on a control", sha256 },
    controls: {
      name: "controls.csv",
      title: "What the log holds for each control",
      sha256: sha256Of(controls),
    },
  };
  await write(
    "assessment-results.json",
    `${JSON.stringify(assessmentResults(scope, findings, files), null, 2)}\n`,
  );
  // Loaded here: the command that writes packs is also every other command of the appliance's, which need not read a megabyte for it.
  const { reportPdf } = await import("./report/report-pdf.ts");
  await write("report.pdf", await reportPdf(reportOf(scope, findings, refusals)));
  sums.push(sumLine(bundle.sha256, BUNDLE));
  await writeNew(join(folder, "SHA256SUMS"), sums.join(""), 0o640);
}

/** A line for each of the first `size` entries that bears on a control. */
async function writeEvents(
  tree: VerifiedTree,
  size: number,
  framework: Framework,
  file: string,
): Promise<Found> {
  const found: Found = {
    findings: framework.controls.map(({ id, title, limits }) => ({
      ...{ id, title, limits, count: 0, refused: 0, failed: 0, sources: new Map<string, number>() },
      ...{ firstIndex: null, lastIndex: null },
    })),
    ...{ refusals: [], from: "", to: "", sha256: "" },
  };
  const refusals = new Refusals();
  await using handle = await open(
    file,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    0o640,
  );
  const digest = createHash("sha256");
  const write = async (text: string): Promise<void> => {
    digest.update(text);
    await handle.appendFile(text);
  };
  await write(csvLine(EVENT_COLUMNS));
  for (let bundle = 0; bundle * TILE_WIDTH < size; bundle += 1) {
    const { entries, hashes } = await tree.readBundle(bundle);
    const lines: string[] = [];
    for (const [at, leaf] of entries.slice(0, size - bundle * TILE_WIDTH).entries()) {
      const event = parseLeaf(leaf);
      const index = bundle * TILE_WIDTH + at;
      found.from ||= event.t_log;
      found.to = event.t_log;
      const bearing = found.findings.filter((_, control) =>
        framework.controls[control]!.types.includes(event.type),
      );
      if (bearing.length === 0) continue;
      const { result, code } = resultOf(event);
      if (result === "refused") refusals.note(event.type, code, index);
      for (const finding of bearing) {
        finding.count += 1;
        if (result === "refused") finding.refused += 1;
        if (result === "failed") finding.failed += 1;
        finding.sources.set(event.prod, (finding.sources.get(event.prod) ?? 0) + 1);
        finding.firstIndex ??= index;
        finding.lastIndex = index;
      }
      const { t_log, type, phase, outcome, actor, on_behalf_of, prod, src, object } = event;
      lines.push(
        csvLine([
          ...[
            index,
            t_log,
            type,
            phase,
            result,
            code,
            outcome?.status ?? "",
            actor.kind,
            actor.sub,
            on_behalf_of ?? "",
          ],
          ...[
            claimedIn(event),
            prod,
            src?.addr ?? "",
            object.kind,
            object.id,
            hashes[at]!.toString("hex"),
          ],
          bearing.map(({ id }) => id).join("; "),
        ]),
      );
    }
    await write(lines.join(""));
  }
  await handle.sync();
  return { ...found, refusals: refusals.kinds, sha256: digest.digest("hex") };
}

/** Whose key a request named without proof: the entry's actor is somebody unproven then. */
function claimedIn({ detail }: AuditEvent): string {
  return detail !== undefined && "claimed" in detail && typeof detail.claimed === "string"
    ? detail.claimed
    : "";
}

function sha256Of(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** As `sha256sum --check` reads it. */
function sumLine(sha256: string, file: string): string {
  return `${sha256}  ${file}\n`;
}
