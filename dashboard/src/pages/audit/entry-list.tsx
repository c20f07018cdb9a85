import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { eventSentence } from "@resontech/contracts/audit-sentences";
import { useState } from "react";
import { Link } from "wouter";
import { Opener } from "../../ui/opener.tsx";
import { State } from "../../ui/state.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { utcInstant } from "../../ui/instants.ts";
import { askingPath } from "./asked.ts";
import { EntryActor, EntryId, EntryNames, EntryObject } from "./entry-names.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { codeWords, outcomeWord } from "./entry-words.ts";
import { entryKey, type EntryKey, linkedEntries } from "./linked-entries.ts";
import type { Names } from "./named-people.ts";
import styles from "./audit.module.css";

/** Entries of an answer as sentences; each opens in place. */
export function EntryList({ rows, names }: { rows: readonly AuditEventRow[]; names: Names }) {
  const [open, setOpen] = useState<ReadonlySet<EntryKey>>(new Set());
  const told = new EntryNames(rows, names);
  const linked = linkedEntries(rows);
  const toggle = (key: EntryKey) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const show = (row: AuditEventRow) => {
    const key = entryKey(row);
    setOpen(new Set([...open, key]));
    const head = document.getElementById(headId(key));
    head?.scrollIntoView({ block: "center" });
    head?.focus();
  };
  const columns: Column<AuditEventRow>[] = [
    {
      title: "Time (UTC)",
      narrow: "main",
      of: (row) => {
        const key = entryKey(row);
        return (
          <Opener
            id={headId(key)}
            isOpen={open.has(key)}
            title={utcInstant(row.t_log)}
            onPress={() => toggle(key)}
          >
            <time dateTime={row.t_log} className={styles["time"]}>
              {utcInstant(row.t_log).replace(/ UTC$/, "")}
            </time>
          </Opener>
        );
      },
    },
    { title: "Who", of: (row) => <EntryActor row={row} names={told} />, narrow: "below" },
    {
      title: "What happened",
      of: ({ type, phase }) => eventSentence(type, phase),
      narrow: "below",
    },
    { title: "To what", of: (row) => <EntryObject row={row} names={told} />, narrow: "below" },
    {
      title: "Outcome",
      narrow: "own",
      of: (row) => {
        const word = outcomeWord(row);
        const { outcome, request } = linked.get(entryKey(row)) ?? {};
        return (
          <>
            {word === null ? null : <State of={word} />}
            {outcome === undefined ? null : (
              <Jump onPress={() => show(outcome)}>shows the outcome</Jump>
            )}
            {request === undefined ? null : <Jump onPress={() => show(request)}>asked by</Jump>}
          </>
        );
      },
    },
    {
      title: "Why",
      narrow: "details",
      of: ({ outcome, approval }) => (
        <>
          {outcome === null || outcome === "ok" ? null : codeWords(outcome)}
          {approval === null ? null : (
            <div>
              <Link href={askingPath({ approval }, Date.now())}>
                request <EntryId id={approval} names={told} />
              </Link>
            </div>
          )}
        </>
      ),
    },
    {
      title: "Entry",
      narrow: "details",
      of: (row) => <Link href={`/audit/${entryKey(row)}`}>{entryKey(row)}</Link>,
    },
  ];
  return (
    <Table
      caption="Entries, newest first"
      columns={columns}
      rows={rows}
      keyOf={entryKey}
      below={(row) =>
        open.has(entryKey(row)) ? (
          <EntryDetails
            row={row}
            names={told}
            linked={linked.get(entryKey(row)) ?? {}}
            onShow={show}
          />
        ) : null
      }
    />
  );
}

function headId(key: EntryKey): string {
  return `entry-${key.replace("/", "-")}`;
}

function Jump({ onPress, children }: { onPress: () => void; children: string }) {
  return (
    <button type="button" className={styles["jump"]} onClick={onPress}>
      {children}
    </button>
  );
}
