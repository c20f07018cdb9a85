/**
 * Counts what answers each question in an export, by another way than the appliance: it reads the archive's bytes and the table of
 * docs/auditor/answers.md, and shares no code with search, index or catalogue.
 */
import { readFileSync } from "node:fs";

type Leaf = {
  type: string;
  phase: string;
  op: string;
  t_log: string;
  actor: { sub: string; kind: string; roles?: string[] };
  on_behalf_of?: string;
  object: { kind: string; id: string };
  outcome?: { code: string; status?: number };
  detail?: Record<string, unknown>;
};
/** What is asked about: one person, one job, one deployment; entries before `before`. */
export type About = { person: string; job: string; deployment: string; before: string };

const BLOCK = 512;

/** Leaves of the `tile/entries` members of a ustar archive: each is two bytes of length, and the leaf. */
function leavesOf(archive: Buffer): Leaf[] {
  const leaves: Leaf[] = [];
  for (let at = 0; archive[at] !== 0 && at < archive.length; ) {
    const head = archive.subarray(at, at + BLOCK);
    const text = (from: number, to: number) => head.toString("latin1", from, to).split("\0")[0]!;
    const name = [text(345, 500), text(0, 100)].filter((part) => part !== "").join("/");
    const size = Number.parseInt(text(124, 136), 8);
    const body = archive.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (!name.includes("tile/entries/")) continue;
    for (let from = 0; from < body.length; ) {
      const length = body.readUInt16BE(from);
      leaves.push(JSON.parse(body.toString("utf8", from + 2, from + 2 + length)) as Leaf);
      from += 2 + length;
    }
  }
  return leaves;
}

/** Questions of each type, as the document's table has them. */
function tableOf(page: string): Map<string, string[]> {
  const rows = page.split("<!-- table: begin -->")[1]!.split("\n");
  return new Map(
    rows.flatMap((row) => {
      const [, type, questions] = /^\| `([a-z.-]+)` \| ([^|]*) \|/.exec(row) ?? [];
      if (type === undefined || questions === undefined) return [];
      return [[type, [...questions.matchAll(/`([a-z-]+)`/g)].map(([, one]) => one!)] as const];
    }),
  );
}

/** Whether a person's pseudonym stands anywhere in what an entry is about. */
function isAbout({ object, detail = {} }: Leaf, person: string): boolean {
  const named = JSON.stringify([object.kind === "user" ? object.id : null, detail]);
  return named.includes(`"${person}"`);
}

/** @returns how many entries answer each question */
export function countAnswers(archive: string, table: string, about: About): Record<string, number> {
  const leaves = leavesOf(readFileSync(archive)).filter(({ t_log }) => t_log < about.before);
  const answers = tableOf(readFileSync(table, "utf8"));
  const says = (question: string) => (leaf: Leaf) =>
    answers.get(leaf.type)?.includes(question) === true;
  const { person, job, deployment } = about;
  const opsOf = (id: string) =>
    new Set(leaves.filter(({ object }) => object.id === id).map(({ op }) => op));
  const [ops, ofDeployment] = [opsOf(job), opsOf(deployment)];
  const refusing = new Set([
    ...["admin.refused", "auth.failure", "auth.refused", "data.bucket.refused"],
    ...["data.object.refused", "job.rejected"],
  ]);
  const count = (matches: (leaf: Leaf) => boolean): number => leaves.filter(matches).length;
  return {
    "data-read": count(says("data-read")),
    person: count(
      (leaf) => leaf.actor.sub === person || leaf.on_behalf_of === person || isAbout(leaf, person),
    ),
    job: count(({ op, object }) => object.kind !== "object" && ops.has(op)),
    refused: count(
      ({ type, phase, outcome }) =>
        phase === "denied" ||
        refusing.has(type) ||
        outcome?.status === 401 ||
        outcome?.status === 403 ||
        outcome?.code === "AccessDenied",
    ),
    left: count(says("left")),
    rights: count((leaf) => says("rights")(leaf) && isAbout(leaf, person)),
    administrators: count(
      (leaf) =>
        leaf.actor.kind === "operator" ||
        leaf.actor.roles?.includes("platform-admin") === true ||
        says("administrators")(leaf),
    ),
    model: count((leaf) => says("model")(leaf) && ofDeployment.has(leaf.op)),
    complete: count(says("complete")),
  };
}
