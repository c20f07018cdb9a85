import type { JobLogSearchReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import Anser from "anser";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { ask } from "../../../api/ask.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { markedParts } from "./marked-parts.ts";
import styles from "./logs.module.css";

const PAGE = 50;

type Match = JobLogSearchReply["matches"][number];
type Asked = { text: string; isCaseSensitive: boolean };

// A look into logs is on record: no look is repeated by itself.
const ONCE = {
  ...{ retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false, staleTime: Infinity },
} as const;

/** The first matches as soon as they are found, and then all of them, with their count. */
function useLogSearch(job: string, asked: Asked | null, page: number) {
  const { text = "", isCaseSensitive: isCase } = asked ?? {};
  const look = (first: boolean, signal: AbortSignal) =>
    ask("GET", "/api/jobs/{id}/logs/search", {
      params: { id: job },
      query: { text, case: isCase, limit: PAGE, skip: page * PAGE, first },
      signal,
    });
  const first = useQuery({
    ...ONCE,
    queryKey: ["job", job, "log-search", asked, "first"],
    enabled: asked !== null && page === 0,
    queryFn: ({ signal }) => look(true, signal),
  });
  const isWholeNeeded = page > 0 || first.data?.isComplete === false;
  const whole = useQuery<JobLogSearchReply>({
    ...ONCE,
    queryKey: ["job", job, "log-search", asked, page],
    enabled: asked !== null && isWholeNeeded,
    // Of the same text alone: matches of another one are no answer.
    placeholderData: (data, before) => (before?.queryKey[3] === asked ? data : undefined),
    queryFn: ({ signal }) => look(false, signal),
  });
  const answering = isWholeNeeded ? whole : first;
  return {
    data: whole.data ?? (page === 0 ? first.data : undefined),
    isFetching: answering.isFetching,
    error: answering.error,
    retry: () => void answering.refetch(),
  };
}

/**
 * Looks for a text in the stored logs of all members. Enter finds the next match, Shift+Enter the one before, Escape ends the search.
 * @param onShow the match is to be shown in its log
 */
export function LogSearch({ job, onShow }: { job: string; onShow: (match: Match) => void }) {
  const [text, setText] = useState("");
  const [isCaseSensitive, setCase] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [current, setCurrent] = useState(1);
  const page = Math.floor((current - 1) / PAGE);
  const search = useLogSearch(job, asked, page);
  const total = search.data?.total ?? 0;
  const isAsked = asked?.text === text && asked.isCaseSensitive === isCaseSensitive;
  const step = (by: 1 | -1) => {
    if (text === "") return;
    if (!isAsked) {
      setAsked({ text, isCaseSensitive });
      return setCurrent(1);
    }
    if (total > 0) setCurrent(((current - 1 + by + total) % total) + 1);
  };
  const end = () => {
    setText("");
    setAsked(null);
    setCurrent(1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && asked !== null) {
      event.preventDefault();
      end();
    } else if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    }
  };
  return (
    <>
      <div role="search" className={styles["search"]}>
        <label>
          <span className="unseen">Search in all logs of the job</span>
          <input
            type="search"
            placeholder="Search in all logs"
            value={text}
            maxLength={200}
            className={styles["field"]}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={onKeyDown}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isCaseSensitive}
            onChange={({ target }) => setCase(target.checked)}
          />{" "}
          Match case
        </label>
        <Button onPress={() => step(-1)} isDisabled={text === ""}>
          Previous
        </Button>
        <Button onPress={() => step(1)} isDisabled={text === ""}>
          Next
        </Button>
        <span role="status">{asked === null ? "" : said(search, current)}</span>
      </div>
      {search.error !== null ? (
        <Failure error={search.error} retry={search.retry} />
      ) : asked === null || total === 0 || search.data === undefined ? null : (
        <Matches
          matches={search.data.matches}
          {...{ asked, current, onShow }}
          onChoose={setCurrent}
        />
      )}
    </>
  );
}

function said(
  { data, isFetching, error }: ReturnType<typeof useLogSearch>,
  current: number,
): string {
  if (error !== null) return "";
  if (data === undefined) return "Searching …";
  const { total, isComplete } = data;
  const rest = isFetching
    ? " so far, searching on …"
    : isComplete
      ? ""
      : ", and the search ran out of time";
  if (total === 0) return isComplete ? "No line matches" : `No line matches so far${rest}`;
  return `${current} of ${total}${rest}`;
}

function Matches({
  matches,
  asked,
  current,
  onChoose,
  onShow,
}: {
  matches: readonly Match[];
  asked: Asked;
  current: number;
  onChoose: (number: number) => void;
  onShow: (match: Match) => void;
}) {
  const chosen = useRef<HTMLLIElement>(null);
  useEffect(() => {
    chosen.current?.scrollIntoView({ block: "nearest" });
  }, [current, matches]);
  return (
    // Longer than its frame, it is scrolled by keyboard, too.
    <ol className={styles["matches"]} tabIndex={0} aria-label="Matches">
      {matches.map((match) => {
        const { number, member, site, role, attempt, offset, line, before, after } = match;
        const isCurrent = number === current;
        return (
          <li
            key={`${member} ${offset} ${number}`}
            ref={isCurrent ? chosen : null}
            aria-current={isCurrent ? "true" : undefined}
            className={styles["match"]}
          >
            <p className={styles["place"]}>
              <button type="button" className={styles["number"]} onClick={() => onChoose(number)}>
                {number}
              </button>{" "}
              {site ?? role}, attempt {attempt}, byte {offset}{" "}
              <Button look="quiet" onPress={() => onShow(match)}>
                Show in its log
              </Button>
            </p>
            <pre className={styles["lines"]}>
              {[...before, null, ...after].map((around, at) => (
                // Lines around one match have no other name than their place.
                // oxlint-disable-next-line react/no-array-index-key
                <span key={at} className={around === null ? undefined : styles["around"]}>
                  {around === null ? <MarkedLine line={line} asked={asked} /> : plain(around)}
                  {"\n"}
                </span>
              ))}
            </pre>
          </li>
        );
      })}
    </ol>
  );
}

function MarkedLine({ line, asked }: { line: string; asked: Asked }) {
  return markedParts(plain(line), asked.text, asked.isCaseSensitive).map(({ text, isMatch }, at) =>
    // Parts of one line have no other name than their place.
    // oxlint-disable-next-line react/no-array-index-key
    isMatch ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>,
  );
}

/** Takes the escapes of a terminal out of a line. */
function plain(line: string): string {
  return Anser.ansiToText(line);
}
