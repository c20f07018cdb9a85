import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { eventSentence } from "@resontech/contracts/audit-sentences";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { utcInstant } from "../../ui/instants.ts";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { askingPath } from "./asked.ts";
import { type EntryNames, EntryActor, EntryObject } from "./entry-names.tsx";
import { codeWords, detailFacts } from "./entry-words.ts";
import { entryKey, type Linked } from "./linked-entries.ts";
import styles from "./audit.module.css";

/** What a leaf holds beyond the fields that the list has. */
type Leaf = {
  actor?: { kind?: string; roles?: string[] };
  action?: string;
  detail?: Record<string, unknown>;
  pii?: { field: string }[];
  decision?: { effect?: string };
};

/** An entry's fields, read when somebody opens it: that is a look into the log. */
export function EntryDetails({
  row,
  names,
  linked: { outcome, request },
  onShow,
}: {
  row: AuditEventRow;
  names: EntryNames;
  linked: Linked;
  onShow: (row: AuditEventRow) => void;
}) {
  const { shard } = row;
  const index = String(row.index);
  const entry = useQuery({
    queryKey: ["audit", shard, index],
    queryFn: ({ signal }) =>
      ask("GET", "/api/audit/events/{index}", { params: { index }, query: { shard }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (entry.isPending) return <Skeleton rows={3} />;
  if (entry.isError) return <Failure error={entry.error} retry={() => void entry.refetch()} />;
  const { actor, action, detail = {}, pii = [], decision } = entry.data.event as Leaf;
  const idWords = (id: string) => names.of(id);
  const facts: (readonly [string, ReactNode])[] = [
    ["When", utcInstant(row.t_log)],
    ["What happened", `${eventSentence(row.type, row.phase)} (${row.type}, ${row.phase})`],
    ["Who", <EntryActor key="who" row={row} names={names} />],
    ["As", [actor?.kind, ...(actor?.roles ?? [])].filter((one) => one !== undefined).join(", ")],
    ["To what", <EntryObject key="what" row={row} names={names} />],
    ...(row.outcome === null
      ? []
      : [["Outcome", row.outcome === "ok" ? "done" : codeWords(row.outcome)] as const]),
    ...(decision?.effect === undefined
      ? []
      : [["Policies said", decision.effect === "allow" ? "allowed" : "not allowed"] as const]),
    ...(action === undefined ? [] : [["By way of", <code key="way">{action}</code>] as const]),
    ...detailFacts(detail, idWords).map(([name, value]) => [sentenceCase(name), value] as const),
    ...(pii.length === 0
      ? []
      : [["Sealed", pii.map(({ field }) => codeWords(field)).join(", ")] as const]),
    ["Written by", row.prod],
  ];
  return (
    <div className={styles["details"]}>
      <Facts facts={facts} />
      <ul className={styles["links"]} aria-label="What belongs to it">
        {outcome === undefined ? null : (
          <li>
            <button type="button" className={styles["jump"]} onClick={() => onShow(outcome)}>
              Its outcome: {eventSentence(outcome.type, outcome.phase)}, {entryKey(outcome)}
            </button>
          </li>
        )}
        {request === undefined ? null : (
          <li>
            <button type="button" className={styles["jump"]} onClick={() => onShow(request)}>
              How it began: {eventSentence(request.type, request.phase)}, {entryKey(request)}
            </button>
          </li>
        )}
        {row.approval === null ? null : (
          <li>
            <Link href={askingPath({ approval: row.approval }, Date.now())}>
              Who asked for it, who agreed, and what came of it
            </Link>
          </li>
        )}
        <li>
          <Link href={askingPath({ op: row.op }, Date.now())}>All entries of this operation</Link>
        </li>
        <li>
          <Link href={`/audit/${entryKey(row)}`}>The whole entry, and its proof</Link>
        </li>
      </ul>
    </div>
  );
}
