/**
 * What shards of the log hold for a framework: `report.pdf`, `controls.csv`, `questions.csv` and `operations.csv` for people, `assessment-results.json`
 * (OSCAL) for programs, and a bundle of each shard, which the verifier proves their entries with. Beside them what an auditor asks first: what the
 * verifier says of each bundle, who held which role, what went another way than the rule, and a drawn sample with proofs. `SHA256SUMS` names the bytes of
 * each. Everything is read proven; it carries pseudonyms alone.
 */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeNew } from "@resontech/frame/durable-file";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import type { ExportResult } from "@resontech/audit/export";
import { isWithin, type LogPeriod } from "@resontech/audit/export/log-period";
import { TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { VerifiedTree } from "../follow/verified-tree.ts";
import type { Framework } from "./control-map.ts";
import { OperationCounts } from "./count-operations.ts";
import { csvLine } from "./csv.ts";
import { DigestedFile } from "./digested-file.ts";
import { checkpointOf, proveDrawn } from "./drawn-sample.ts";
import { PeriodFacts } from "./facts/period-facts.ts";
import { OPERATION_COLUMNS, operationRow } from "./operations/operation-row.ts";
import { OperationPairs } from "./operations/operation-pairs.ts";
import { type Operation, placeText } from "./operations/operation.ts";
import { assessmentResults, type PackFiles } from "./oscal.ts";
import { type PackSample, type PackShard, sourcesText } from "./pack-scope.ts";
import { reportOf } from "./report/report.ts";
import { type BundleReport, type SampleRequest, verifyBundle } from "./verify-bundle.ts";

/** A shard, followed as far as its bundle goes. */
export type BundledShard = { shard: FollowedShard; bundle: ExportResult; file: string };

export type PackRequest = {
  name: string;
  framework: Framework;
  period: LogPeriod;
  /** Shards before those of the pack, oldest first: who held a role is read of them. */
  earlier: readonly FollowedShard[];
  /** Earlier ones that can't be read. */
  unread: readonly string[];
  policyFile: string;
  /** The verifier of the release. */
  verifierFile: string;
  /** Null: none is drawn. */
  sample: SampleRequest | null;
  /** What the appliance is set to, by name: not out of the log. */
  settings: readonly (readonly [name: string, value: string])[];
};

type Read = { from: string; to: string; operationsSha256: string; exceptionsSha256: string };

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
  request: PackRequest,
  folder: string,
): Promise<number> {
  const { name, framework, period } = request;
  const sums: string[] = [];
  const others: PackFiles["others"] = [];
  const write = async (file: string, content: string | Buffer, title?: string): Promise<void> => {
    await writeNew(join(folder, file), content, 0o640);
    const sha256 = sha256Of(content);
    sums.push(sumLine(sha256, file));
    if (title !== undefined) others.push({ name: file, title, sha256 });
  };
  const counts = new OperationCounts(framework);
  const facts = new PeriodFacts(period);
  facts.unread.push(...request.unread);
  for (const shard of request.earlier) await noteEarlier(shard, facts);
  const read = await writeOperations(bundled, period, counts, facts, folder);
  const { from, to, operationsSha256, exceptionsSha256 } = read;
  sums.push(sumLine(operationsSha256, OPERATIONS), sumLine(exceptionsSha256, EXCEPTIONS));
  others.push({
    ...{ name: EXCEPTIONS, title: "What went another way than the rule" },
    sha256: exceptionsSha256,
  });
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
  const roles = facts.roles.rows.map(({ person, role, where, atStart, atEnd, changes }) =>
    csvLine([person, role, where, yes(atStart), yes(atEnd), changes.join("; ")]),
  );
  await write("roles.csv", csvLine(ROLE_COLUMNS) + roles.join(""), "Who held which role");
  const reports: BundleReport[] = [];
  for (const { file } of bundled)
    reports.push(
      await verifyBundle(
        ...([request.verifierFile, join(folder, file), request.policyFile, period] as const),
        request.sample,
      ),
    );
  const shards = await Promise.all(bundled.map((one, at) => packShard(one, reports[at]!)));
  await write(
    "verdicts.json",
    `${JSON.stringify(
      shards.map(({ file }, at) => ({ bundle: file, ...reports[at] })),
      null,
      2,
    )}\n`,
    "What the verifier of this release says of each export",
  );
  const sample = await writeSample(bundled, reports, request.sample, folder, write);
  const scope = {
    ...{ name, framework, shards, period, from, to, sample },
    settings: request.settings,
  };
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
    others,
  };
  await write(
    "assessment-results.json",
    `${JSON.stringify(assessmentResults(scope, counts, files), null, 2)}\n`,
  );
  // Loaded here: the command that writes packs is also every other command of the appliance's, which need not read a megabyte for it.
  const { reportPdf } = await import("./report/report-pdf.ts");
  await write("report.pdf", await reportPdf(reportOf(scope, counts, facts)));
  for (const { sha256, file } of shards) sums.push(sumLine(sha256, file));
  await writeNew(join(folder, "SHA256SUMS"), sums.join(""), 0o640);
  return counts.all.count;
}

const OPERATIONS = "operations.csv";
const CONTROLS = "controls.csv";
const QUESTIONS = "questions.csv";
const EXCEPTIONS = "exceptions.csv";
const EXCEPTION_COLUMNS = [
  ...["entry", "asked at", "kinds", "type", "result", "code", "actor", "asker", "approvers"],
  ...["object kind", "object"],
];
const ROLE_COLUMNS = ["person", "role", "where", "at the start", "at the end", "changed by"];
const SAMPLE_COLUMNS = ["entry", "draw", "time", "type", "phase", "actor", "object", "proof"];
const SAMPLE = "sample.csv";

type Write = (file: string, content: string, title?: string) => Promise<void>;

/** A line and a proof for each entry that the verifier drew. */
async function writeSample(
  bundled: readonly BundledShard[],
  reports: readonly BundleReport[],
  asked: SampleRequest | null,
  folder: string,
  write: Write,
): Promise<PackSample | null> {
  if (asked === null) return null;
  const lines = [csvLine(SAMPLE_COLUMNS)];
  const drawn: PackSample["shards"] = [];
  await mkdir(join(folder, "sample"), { mode: 0o750 });
  for (const [at, { shard, bundle, file }] of bundled.entries()) {
    const { sample } = reports[at]!;
    if (sample === undefined) continue;
    const { entries, filter, population } = sample;
    drawn.push({ file, filter, population, drawn: entries.length });
    const note = await checkpointOf(join(folder, file));
    for await (const { index, event, proof } of proveDrawn(
      shard.tree,
      { size: bundle.size, note },
      entries,
    )) {
      const proofFile = `sample/${shard.slug}-${index}.tlog-proof`;
      await write(proofFile, proof);
      const { t_log, type, phase, actor, object } = event;
      const entry = placeText({ shard: shard.slug, index, hash: "" });
      const draw = entries.indexOf(index) + 1;
      lines.push(csvLine([entry, draw, t_log, type, phase, actor.sub, object.id, proofFile]));
    }
  }
  await write(SAMPLE, lines.join(""), "The drawn sample; each entry has its proof in sample/");
  return { ...asked, shards: drawn };
}

async function noteEarlier({ tree }: FollowedShard, facts: PeriodFacts): Promise<void> {
  const pairs = new OperationPairs();
  for await (const { entries, first } of bundlesOf(tree, tree.size))
    for (const [at, leaf] of entries.entries())
      for (const operation of pairs.note(parseLeaf(leaf), {
        ...{ shard: "", index: first + at, hash: "" },
      }))
        facts.noteEarlier(operation);
}

function yes(holds: boolean): string {
  return holds ? "yes" : "no";
}

/** A line for each operation of the period that bears on a control, in the order of their ends; those without an end come last. */
async function writeOperations(
  bundled: readonly BundledShard[],
  period: LogPeriod,
  counts: OperationCounts,
  facts: PeriodFacts,
  folder: string,
): Promise<Read> {
  await using file = await DigestedFile.create(join(folder, OPERATIONS));
  await using exceptions = await DigestedFile.create(join(folder, EXCEPTIONS));
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
  const exceptionLines = (operations: readonly Operation[]): string =>
    operations
      .map((operation) => {
        const kinds = facts.note(operation);
        return kinds.length === 0 ? "" : csvLine(exceptionRow(operation, kinds));
      })
      .join("");
  await file.write(csvLine(OPERATION_COLUMNS));
  await exceptions.write(csvLine(EXCEPTION_COLUMNS));
  for (const { shard, bundle } of bundled)
    for await (const { entries, hashes, first } of bundlesOf(shard.tree, bundle.size)) {
      const ended = entries.flatMap((leaf, at) => {
        const event = parseLeaf(leaf);
        facts.noteEntry(event);
        if (isWithin(period, event.t_log)) {
          read.from ||= event.t_log;
          read.to = event.t_log;
        }
        const hash = hashes[at]!.toString("hex");
        return pairs.note(event, { shard: shard.slug, index: first + at, hash });
      });
      await file.write(linesOf(ended));
      await exceptions.write(exceptionLines(ended));
    }
  await file.write(linesOf(pairs.open));
  await exceptions.write(exceptionLines(pairs.open));
  return {
    ...read,
    ...{ operationsSha256: await file.finish(), exceptionsSha256: await exceptions.finish() },
  };
}

function exceptionRow(
  { entry, askedAt, type, result, code, actor, asker, approvers, object }: Operation,
  kinds: readonly string[],
): string[] {
  return [
    ...[placeText(entry), askedAt, kinds.join("; "), type, result, code, actor.sub, asker],
    ...[approvers.join("; "), object.kind, object.id],
  ];
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

async function packShard(
  { shard, bundle, file }: BundledShard,
  report: BundleReport,
): Promise<PackShard> {
  const { origin, size, sha256 } = bundle;
  const root = (await shard.tree.rootAt(size)).toString("hex");
  return { slug: shard.slug, origin, size, sha256, file, root, report };
}

function sha256Of(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Writes a line as `sha256sum --check` reads it. */
function sumLine(sha256: string, file: string): string {
  return `${sha256}  ${file}\n`;
}
