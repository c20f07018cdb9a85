/**
 * What shards of the log hold for a framework: `report.pdf`, `controls.csv`, `questions.csv` and `operations.csv` for people, `assessment-results.json`
 * (OSCAL) for programs, and a bundle of each shard, which the verifier proves their entries with; `SHA256SUMS` names the bytes of each. Everything is read
 * proven; it carries pseudonyms alone.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeNew } from "@resontech/daemon/durable-file";
import { parseLeaf } from "../../log/format/event/leaf.ts";
import type { ExportResult } from "../../log/export/export-log.ts";
import { isWithin, type LogPeriod } from "../../log/export/log-period.ts";
import { TILE_WIDTH } from "../../log/format/tree/tile-layout.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { VerifiedTree } from "../follow/verified-tree.ts";
import type { Framework } from "./control-map.ts";
import { OperationCounts } from "./count-operations.ts";
import { csvLine } from "./csv.ts";
import { DigestedFile } from "./digested-file.ts";
import { OPERATION_COLUMNS, operationRow } from "./operations/operation-row.ts";
import { OperationPairs } from "./operations/operation-pairs.ts";
import type { Operation } from "./operations/operation.ts";
import { assessmentResults, type PackFiles } from "./oscal.ts";
import { type PackShard, sourcesText } from "./pack-scope.ts";
import { reportOf } from "./report/report.ts";

/** A shard, followed as far as its bundle goes. */
export type BundledShard = { shard: FollowedShard; bundle: ExportResult; file: string };

type Read = { from: string; to: string; operationsSha256: string };

const CONTROL_COLUMNS = [
  ...["control", "title", "operations", "refused", "failed", "open", "entries", "sources"],
  ...["first", "last", "what it can't show"],
];
const QUESTION_COLUMNS = ["question", "title", "operations", "refused", "failed", "open"];

/**
 * @param bundled oldest first
 * @param folder has the bundles, and nothing else
 * @returns how many operations it lists
 */
export async function writeEvidencePack(
  bundled: readonly BundledShard[],
  period: LogPeriod,
  name: string,
  framework: Framework,
  folder: string,
): Promise<number> {
  const sums: string[] = [];
  const write = async (file: string, content: string | Buffer): Promise<void> => {
    await writeNew(join(folder, file), content, 0o640);
    sums.push(sumLine(sha256Of(content), file));
  };
  const counts = new OperationCounts(framework);
  const { from, to, operationsSha256 } = await writeOperations(bundled, period, counts, folder);
  sums.push(sumLine(operationsSha256, OPERATIONS));
  const controls = [
    csvLine(CONTROL_COLUMNS),
    ...counts.controls.map((one) =>
      csvLine([
        ...[one.id, one.title, one.count, one.refused, one.failed, one.open, one.entries],
        ...[sourcesText(one), one.first ?? "", one.last ?? "", one.limits],
      ]),
    ),
  ].join("");
  await write(CONTROLS, controls);
  const questions = [
    csvLine(QUESTION_COLUMNS),
    ...counts.questions.map(({ question, title, count, refused, failed, open }) =>
      csvLine([question, title, count, refused, failed, open]),
    ),
  ].join("");
  await write(QUESTIONS, questions);
  const shards = await Promise.all(bundled.map(packShard));
  const scope = { name, framework, shards, period, from, to };
  const files: PackFiles = {
    bundles: shards.map(({ file, origin, sha256 }) => ({
      ...{ name: file, title: `The export of ${origin}, which the verifier proves`, sha256 },
    })),
    operations: {
      ...{ name: OPERATIONS, title: "A line for each operation that bears on a control" },
      sha256: operationsSha256,
    },
    controls: {
      ...{ name: CONTROLS, title: "What the log holds for each control" },
      sha256: sha256Of(controls),
    },
  };
  await write(
    "assessment-results.json",
    `${JSON.stringify(assessmentResults(scope, counts, files), null, 2)}\n`,
  );
  // Loaded here: the command that writes packs is also every other command of the appliance's, which need not read a megabyte for it.
  const { reportPdf } = await import("./report/report-pdf.ts");
  await write("report.pdf", await reportPdf(reportOf(scope, counts)));
  for (const { sha256, file } of shards) sums.push(sumLine(sha256, file));
  await writeNew(join(folder, "SHA256SUMS"), sums.join(""), 0o640);
  return counts.all.count;
}

const OPERATIONS = "operations.csv";
const CONTROLS = "controls.csv";
const QUESTIONS = "questions.csv";

/** A line for each operation of the period that bears on a control, in the order of their ends; those without an end come last. */
async function writeOperations(
  bundled: readonly BundledShard[],
  period: LogPeriod,
  counts: OperationCounts,
  folder: string,
): Promise<Read> {
  await using file = await DigestedFile.create(join(folder, OPERATIONS));
  const read = { from: "", to: "" };
  const pairs = new OperationPairs();
  const linesOf = (operations: readonly Operation[]): string =>
    operations
      .filter(({ askedAt }) => isWithin(period, askedAt))
      .map((operation) => {
        const answers = counts.note(operation);
        return answers === null ? "" : csvLine(operationRow(operation, answers));
      })
      .join("");
  await file.write(csvLine(OPERATION_COLUMNS));
  for (const { shard, bundle } of bundled)
    for await (const { entries, hashes, first } of bundlesOf(shard.tree, bundle.size)) {
      const lines = entries.map((leaf, at) => {
        const event = parseLeaf(leaf);
        if (isWithin(period, event.t_log)) {
          read.from ||= event.t_log;
          read.to = event.t_log;
        }
        const hash = hashes[at]!.toString("hex");
        return linesOf(pairs.note(event, { shard: shard.slug, index: first + at, hash }));
      });
      await file.write(lines.join(""));
    }
  await file.write(linesOf(pairs.open));
  return { ...read, operationsSha256: await file.finish() };
}

/** The first `size` entries of a tree. */
async function* bundlesOf(
  tree: VerifiedTree,
  size: number,
): AsyncGenerator<{ entries: Buffer[]; hashes: readonly Buffer[]; first: number }> {
  for (let bundle = 0; bundle * TILE_WIDTH < size; bundle += 1) {
    const first = bundle * TILE_WIDTH;
    const { entries, hashes } = await tree.readBundle(bundle);
    yield { entries: entries.slice(0, size - first), hashes, first };
  }
}

async function packShard({ shard, bundle, file }: BundledShard): Promise<PackShard> {
  const { origin, size, sha256 } = bundle;
  const root = (await shard.tree.rootAt(size)).toString("hex");
  return { slug: shard.slug, origin, size, sha256, file, root };
}

function sha256Of(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** As `sha256sum --check` reads it. */
function sumLine(sha256: string, file: string): string {
  return `${sha256}  ${file}\n`;
}
