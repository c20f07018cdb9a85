/**
 * Programs of earlier releases run on the schema of this one: today's kernel begins a federated job; an earlier one opens the migrated database, lists
 * the job, finishes it and begins another; today's opens the file again, finds nothing lost and finishes that one too.
 *
 * `npm run prove -- older-programs`. It needs the history of the repository.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { ReleaseTree } from "@resontech/house/release-tree";
import { columnsOf, faultsOf, lostBetween, readRows } from "./older-programs/rows.ts";
import type { Seen } from "./older-programs/step.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "..", "..");

const EARLIER = [
  {
    commit: "c4b94a14",
    what: "the first one with signatures of people: none before it can read what stands there",
  },
  {
    commit: "b8f982c2",
    what: "the last one before duties bound the person behind each credential",
  },
] as const;

const START_MS = Date.UTC(2026, 0, 1);
const SECOND_MS = 1_000;

type Row = {
  commit: string;
  what: string;
  schema: number;
  jobsFinished: number;
  rows: number;
  faults: string[];
};

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const folder = mkdtempSync(join(tmpdir(), "older-"));
  try {
    const rows: Row[] = [];
    for (const earlier of EARLIER) {
      progress(`${earlier.commit}: ${earlier.what}`);
      rows.push(await judge(earlier, join(folder, earlier.commit)));
    }
    const faults = rows.flatMap(({ commit, faults: found }) =>
      found.map((fault) => `${commit}: ${fault}`),
    );
    return {
      ok: faults.length === 0,
      figures: { programs: rows.length, faults: faults.length, found: faults, rows },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function judge({ commit, what }: (typeof EARLIER)[number], folder: string): Promise<Row> {
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
  const tree = join(folder, "tree");
  ReleaseTree.ofCommit(commit, tree);
  const file = join(folder, "coordinator.db");
  const step = (of: string, finish: string, begin: string, at: number): Promise<Seen> =>
    live(of, file, finish, begin, at);

  const first = await step(repository, "-", "one", START_MS);
  expect(
    first.listed["one"]?.state === "RUNNING",
    `today's begins a job: ${JSON.stringify(first)}`,
  );
  const begun = readRows(file);
  const schema = versionOf(file);

  const older = await step(tree, "one", "two", START_MS + SECOND_MS);
  expect(
    older.listed["one"]?.state === "SUCCEEDED",
    `the earlier one finishes it: ${JSON.stringify(older)}`,
  );
  expect(older.listed["one"]?.attempt === 1, "in the attempt that was running");
  expect(older.listed["two"]?.state === "RUNNING", "and begins another");
  expect(older.errors.length === 0, older.errors.join("; "));
  expect(versionOf(file) === schema, "the file keeps its schema");
  const between = readRows(file);
  faults.push(
    ...lostBetween(begun, between, await unknownTo(tree, file, folder)),
    ...faultsOf(file),
  );

  const last = await step(repository, "two", "three", START_MS + 2 * SECOND_MS);
  expect(last.listed["one"]?.state === "SUCCEEDED", "today's lists the first as it ended");
  expect(
    last.listed["two"]?.state === "SUCCEEDED",
    `and finishes the second: ${JSON.stringify(last)}`,
  );
  expect(last.listed["three"]?.state === "RUNNING", "and begins a third");
  expect(last.errors.length === 0, last.errors.join("; "));
  const ended = readRows(file);
  faults.push(...lostBetween(between, ended, new Map()), ...faultsOf(file));
  const { kind, lead } = madeByEarlier(file);
  expect(
    kind === "federation" && lead === 1,
    `rows of the earlier program read as ours: ${kind}, ${lead} lead`,
  );

  const finished = Object.values(last.listed).filter(({ state }) => state === "SUCCEEDED").length;
  const count = [...ended.values()].reduce((sum, { size }) => sum + size, 0);
  return { commit, what, schema, jobsFinished: finished, rows: count, faults };
}

async function live(
  tree: string,
  file: string,
  finish: string,
  begin: string,
  at: number,
): Promise<Seen> {
  const script = join(import.meta.dirname, "older-programs", "step.ts");
  const { stdout } = await run(process.execPath, [script, tree, file, finish, begin, String(at)], {
    timeout: 120_000,
  });
  return JSON.parse(stdout) as Seen;
}

/** Columns of the migrated file that a new file of the earlier program has not. */
async function unknownTo(
  tree: string,
  file: string,
  folder: string,
): Promise<Map<string, string[]>> {
  const fresh = join(folder, "fresh.db");
  await live(tree, fresh, "-", "-", START_MS);
  const known = columnsOf(fresh);
  return new Map(
    [...columnsOf(file)].map(([table, columns]) => [
      table,
      columns.filter((column) => known.get(table)?.includes(column) !== true),
    ]),
  );
}

function madeByEarlier(file: string): { kind: string; lead: number } {
  const db = new Database(file, { readonly: true });
  try {
    return db
      .prepare<[], { kind: string; lead: number }>(
        `SELECT jobs.kind, (SELECT count(*) FROM members WHERE job_id = jobs.id AND is_lead = 1 AND role = 'server') AS lead
         FROM jobs WHERE slug = 'two'`,
      )
      .get()!;
  } finally {
    db.close();
  }
}

function versionOf(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return db.pragma("user_version", { simple: true }) as number;
  } finally {
    db.close();
  }
}
