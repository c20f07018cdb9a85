import type { QuestionId } from "@resontech/contracts/audit-questions";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
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
import { askedOf } from "./asked.ts";
import { EntryList } from "./entry-list.tsx";
import { EntrySearch } from "./entry-search.tsx";
import { entryKey } from "./linked-entries.ts";
import { ShowNames, useNames } from "./names.tsx";
import { limitsOf, QuestionChoice } from "./question-choice.tsx";
import styles from "./audit.module.css";

/** There results come first, and what is asked above them is folded away. */
const NARROW = matchMedia("(max-width: 60rem)");

/** Who did what, provably? Nothing is asked for by itself: each look is a fact in the log. */
export function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const asked = askedOf(search);
  const { question, about, at } = asked;
  const isAsked = at !== null;
  const [isOpen, setOpen] = useState(!isAsked || !NARROW.matches);
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
    setOpen(!NARROW.matches);
  };
  const rows = events.data?.pages.flatMap((page) => page.events) ?? [];
  const first = events.data?.pages[0];
  const limits = question === null ? null : limitsOf(question);
  return (
    <>
      <PageHead title="Audit log" actions={<ShowNames />}>
        Each look is itself an entry of the log. People see what they may: auditors all, everybody
        their own.
      </PageHead>
      <details
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        className={styles["ways"]}
      >
        <summary>Ask and search</summary>
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
      </details>
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
          >
            {events.hasNextPage
              ? `The newest ${rows.length} entries; older ones follow`
              : countOf(rows.length, "entry", "entries")}
          </AnswerCheck>
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
