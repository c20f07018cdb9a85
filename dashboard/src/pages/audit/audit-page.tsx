import type { QuestionId } from "@resontech/contracts/audit-questions";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { Empty, Failure, Warning } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Words } from "../../ui/words.tsx";
import { AnswerCheck } from "./answer-check.tsx";
import { AskedHead } from "./asked-head.tsx";
import { askedOf } from "./asked.ts";
import { EntryList } from "./entry-list.tsx";
import { EntrySearch } from "./entry-search.tsx";
import { entryKey } from "./linked-entries.ts";
import { ShowNames, useNames } from "./names.tsx";
import { limitsOf, QuestionChoice } from "./question-choice.tsx";
import styles from "./audit.module.css";

/**
 * Who did what, provably? Nothing is asked for by itself: each look is a fact in the log. Once there is an answer, the form makes room for it, and
 * whoever asked is led to what was asked, above the entries.
 */
export function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const asked = askedOf(search);
  const { question, about, at } = asked;
  const isAsked = at !== null;
  const [isOpen, setOpen] = useState(!isAsked);
  const form = useRef<HTMLDivElement>(null);
  const [isSearching, setSearching] = useState(isAsked && question === null);
  const names = useNames();
  const events = useInfiniteQuery({
    queryKey: ["audit", question, about, at],
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
  };
  const rows = events.data?.pages.flatMap((page) => page.events) ?? [];
  const first = events.data?.pages[0];
  const limits = question === null ? null : limitsOf(question);
  const isAnswered = isAsked && !events.isPending;
  const heading = useLedTo(isAnswered ? at : null, at);
  const [seen, setSeen] = useState<string | null>(null);
  if (isAnswered && seen !== at) {
    setSeen(at);
    // Whoever found nothing asks again.
    setOpen(rows.length === 0);
  }
  return (
    <>
      <PageHead title="Audit log" actions={<ShowNames />}>
        Each look is itself an entry of the log. People see what they may: auditors all, everybody
        their own.
      </PageHead>
      <div ref={form} hidden={isAsked && !isOpen} className={styles["ways"]}>
        <Panel title="What do you want to know?">
          <QuestionChoice asked={asked} names={names} onAsk={askAnew} />
        </Panel>
        <details
          open={isSearching}
          onToggle={({ currentTarget }) => setSearching(currentTarget.open)}
          className={styles["ways"]}
        >
          <summary>Search by fields</summary>
          <Panel title="Search for entries">
            <EntrySearch asked={asked} names={names} onSearch={askAnew} />
          </Panel>
        </details>
      </div>
      {isAsked ? (
        <AskedHead
          asked={asked}
          names={names}
          found={events.isSuccess ? foundWords(rows.length, events.hasNextPage) : ""}
          heading={heading}
          isFormOpen={isOpen}
          onForm={() => {
            setOpen(!isOpen);
            // It is seen once it is drawn.
            if (!isOpen) requestAnimationFrame(() => focusOn(form.current, question));
          }}
        />
      ) : null}
      {limits === null ? null : (
        <p className={styles["limits"]}>
          <Words text={limits} />
        </p>
      )}
      {first?.areObjectsKnown === false ? (
        <Warning>Which objects are the job's is not known: entries of the job alone.</Warning>
      ) : null}
      {first?.sameFolder === undefined || first.sameFolder.length === 0 ? null : (
        <Warning>
          {first.sameFolder.join(", ")} had the same folder: entries of objects may be of either
          job.
        </Warning>
      )}
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
        <>
          <AnswerCheck
            key={at}
            asked={asked}
            newest={entryKey(rows[0]!)}
            listed={events.hasNextPage ? null : rows.length}
          />
          <EntryList key={`list ${at}`} rows={rows} names={names} />
        </>
      )}
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

/** What is to be changed: the question that was asked, or the first field of a search. */
function focusOn(form: HTMLElement | null, question: string | null): void {
  const field = question === null ? "details input" : "[role=group] [aria-pressed=true]";
  form?.querySelector<HTMLElement>(field)?.focus();
}

/** How many entries there are, for the eye and for whoever hears the page. */
function foundWords(count: number, areMore: boolean): string {
  if (count === 0) return "Nothing found";
  return areMore
    ? `The newest ${count} entries; older ones follow`
    : countOf(count, "entry", "entries");
}

/** A heading that takes the focus and comes into sight with each new answer. That of a page that was opened with one is near its top anyway. */
function useLedTo(answer: string | null, asked: string | null) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [first] = useState(asked);
  useEffect(() => {
    if (answer === null || answer === first) return;
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: "start" });
  }, [answer, first]);
  return heading;
}
