import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { type QuestionId, QUESTION_PARAMETERS } from "@resontech/contracts/audit-questions";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { countOf } from "../../ui/count-of.ts";
import { Panel } from "../../ui/panel.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Empty, Failure, Warning } from "../../ui/notice.tsx";
import { utcInstant } from "../../ui/instants.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { ExportFound } from "./export-found.tsx";
import { limitsOf, QuestionForm } from "./question-form.tsx";
import styles from "./audit.module.css";

const FILTERS = [
  "type",
  "actor",
  "concerns",
  "approval",
  "object",
  "objectsOf",
  "outcome",
  "holds",
  "below",
  "from",
  "to",
] as const;
type Filter = (typeof FILTERS)[number];

const COLUMNS: Column<AuditEventRow>[] = [
  { title: "When", of: ({ t_log }) => <time dateTime={t_log}>{utcInstant(t_log)}</time> },
  {
    title: "Entry",
    of: ({ shard, index }) => <Link href={`/audit/${shard}/${index}`}>{`${shard}/${index}`}</Link>,
  },
  { title: "What", of: ({ type, phase }) => (phase === "fact" ? type : `${type} ${phase}`) },
  {
    title: "Who",
    of: ({ sub, onBehalfOf }) => (onBehalfOf === null ? sub : `${sub} for ${onBehalfOf}`),
  },
  {
    title: "To what",
    of: ({ kind, object }) => (
      <code>{`${kind} ${object.length > 24 ? `${object.slice(0, 24)}…` : object}`}</code>
    ),
  },
  { title: "Outcome", of: ({ outcome }) => outcome ?? "" },
];

/** There results come first, and the forms above them are folded away. */
const NARROW = matchMedia("(max-width: 60rem)");

/** Who did what, provably? Nothing is asked for by itself: each look is a fact in the log. */
export function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const asked = Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = search.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
  const isAsked = search.has("asked");
  const [isOpen, setOpen] = useState(!isAsked || !NARROW.matches);
  const question = search.get("question");
  const about =
    question === null
      ? asked
      : Object.fromEntries(
          [...Object.keys(QUESTION_PARAMETERS), "from", "to"].flatMap((name) => {
            const value = search.get(name);
            return value === null ? [] : [[name, value]];
          }),
        );
  const events = useInfiniteQuery({
    queryKey: ["audit", question, about, search.get("asked")],
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = { ...about, cursor, limit: 100 };
      if (question === null) return ask("GET", "/api/audit/events", { query, signal });
      // Whoever wrote another one into the address is told by the API that there is none.
      const params = { question: question as QuestionId };
      return ask("GET", "/api/audit/questions/{question}", { params, query, signal });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor, more }) => (more ? (cursor ?? undefined) : undefined),
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const askAnew = (wanted: Record<string, string>) => {
    setSearch({ ...wanted, asked: String(Date.now()) });
    setOpen(!NARROW.matches);
  };
  const rows = events.data?.pages.flatMap((page) => page.events) ?? [];
  const first = events.data?.pages[0];
  return (
    <>
      <PageHead title="Audit log">
        Each look is itself an entry of the log. People see what they may: auditors all, everybody
        their own.
      </PageHead>
      <details
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        className={styles["ways"]}
      >
        <summary>Ask and search</summary>
        <Panel title="Ask a question">
          <QuestionForm initial={question === null ? {} : { ...about, question }} onAsk={askAnew} />
        </Panel>
        <Panel title="Search for entries">
          <Search initial={asked} onSearch={askAnew} />
        </Panel>
      </details>
      {question !== null && limitsOf(question) !== null ? <p>{limitsOf(question)}</p> : null}
      {first?.areObjectsKnown === false ? (
        <Warning>Which objects are the job's is not known: entries of the job alone.</Warning>
      ) : null}
      {isAsked && events.isPending ? <Skeleton /> : null}
      {events.isError ? <Failure error={events.error} /> : null}
      {first !== undefined && first.incomplete.length > 0 ? (
        <Warning>
          Entries of {first.incomplete.join(", ")} may be missing: the appliance can't read or
          believe them.
        </Warning>
      ) : null}
      {first !== undefined && first.behind > 0 ? (
        <Warning>
          The newest {countOf(first.behind, "entry is", "entries are")} not searched yet.
        </Warning>
      ) : null}
      {events.isSuccess && rows.length === 0 ? (
        <Empty title="No entry that you may see matches">
          <p>Ask for a longer time or with fewer words.</p>
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          caption="Entries, newest first"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ shard, index }) => `${shard}/${index}`}
        />
      )}
      {rows.length === 0 || question !== null ? null : <ExportFound filters={asked} />}
      {events.hasNextPage ? (
        <div>
          <Button
            onPress={() => void events.fetchNextPage()}
            isDisabled={events.isFetchingNextPage}
          >
            Older entries
          </Button>
        </div>
      ) : null}
    </>
  );
}

const LABELS: Record<Filter, [label: string, hint: string]> = {
  type: ["Kind of event", "such as job.submit"],
  concerns: ["About whom", "a person's pseudonym: whose rights changed, who asked, who agreed"],
  approval: ["Approval", "a request's id: the request, its answer, its effect"],
  actor: ["Who", "a pseudonym, a key, a node"],
  object: ["To what", "an id"],
  objectsOf: ["Who touched job", "a job's id: entries of its objects, logs and rounds"],
  outcome: ["Outcome", "ok, refused, or a code"],
  holds: ["Holds", "pii.username=anna, src.addr=10.0.0.7"],
  below: ["Objects below", "a folder: bucket/jobs/study/"],
  from: ["Not before", "2026-01-31, 2026-01-31 08:00, yesterday, 7d"],
  to: ["Before", "the same forms; a day counts whole"],
};

function Search({
  initial,
  onSearch,
}: {
  initial: Partial<Record<Filter, string>>;
  onSearch: (wanted: Partial<Record<Filter, string>>) => void;
}) {
  const [wanted, setWanted] = useState(initial);
  return (
    <form
      className={styles["search"]}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== "")));
      }}
    >
      {FILTERS.map((name) => {
        const [label, hint] = LABELS[name];
        return (
          <Field key={name} label={label} hint={hint}>
            <input
              maxLength={1_000}
              value={wanted[name] ?? ""}
              onChange={({ target }) => setWanted({ ...wanted, [name]: target.value })}
            />
          </Field>
        );
      })}
      <div className={styles["go"]}>
        <Button look="main" type="submit">
          Search
        </Button>
      </div>
    </form>
  );
}
