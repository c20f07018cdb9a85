import type { QuestionId } from "@resontech/contracts/audit-questions";
import type { AuditProofsReply } from "@resontech/contracts/http-audit";
import { ask } from "../../api/ask.ts";
import type { Asked } from "./asked.ts";
import type { FoundEntry } from "./found-export.ts";
import { entryKey } from "./linked-entries.ts";

/** A browser holds so many proofs of 4 kB without effort. */
const MAX_ENTRIES = 10_000;

/** @property isCut entries that match were left out, because there were too many */
export type ReadProofs = {
  entries: FoundEntry[];
  isCut: boolean;
  behind: number;
  incomplete: readonly string[];
};

/**
 * Everything that an answer has, each entry with its proof. What came into the log after the list was read is no part of it.
 * @param newest first entry of the list @param onCount told how many there are so far @param isStopped asked before each page
 * @returns null when it was stopped
 */
export async function readProofs(
  { question, about }: Pick<Asked, "question" | "about">,
  newest: string,
  onCount: (count: number) => void,
  isStopped: () => boolean,
): Promise<ReadProofs | null> {
  let entries: FoundEntry[] = [];
  let cursor: string | undefined;
  let page: AuditProofsReply;
  do {
    page = await readPage(question, { ...about, cursor });
    const first = page.events.findIndex((entry) => entryKey(entry) === newest);
    // All before it is newer than the list.
    if (first >= 0) entries = page.events.slice(first);
    else entries.push(...page.events);
    onCount(entries.length);
    if (isStopped()) return null;
    cursor = page.cursor ?? undefined;
  } while (page.more && cursor !== undefined && entries.length < MAX_ENTRIES);
  const { behind, incomplete } = page;
  return { entries, isCut: page.more, behind, incomplete };
}

async function readPage(
  question: string | null,
  query: Readonly<Record<string, string | undefined>>,
): Promise<AuditProofsReply> {
  if (question === null) return await ask("GET", "/api/audit/proofs", { query });
  const params = { question: question as QuestionId };
  return await ask("GET", "/api/audit/questions/{question}/proofs", { params, query });
}
