import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { countOf } from "../../../ui/count-of.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { LogLine } from "./log-line.tsx";
import { hasTimes, type LogFilter, NO_FILTER, ParsedLines, rowsOf } from "./log-rows.ts";
import { LogTools } from "./log-tools.tsx";
import styles from "./logs.module.css";

const LINE_PX = 20;
const NEAR_END_PX = 40;

type LogLines = { lines: readonly string[]; offsets: readonly number[]; dropped: number };

/** A long list of lines of which only those in sight are drawn. It follows the end until somebody scrolls up. */
export function LogView({
  text,
  isFollowed,
  version,
  marked: first,
  addressOf,
}: {
  text: LogLines;
  isFollowed: boolean;
  /** Rises with each change of the lines. */
  version: number;
  /** The line to show first, from 0; without it, the end. */
  marked?: number;
  /** Of the line that begins at a byte. */
  addressOf: (at: number) => string;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(first === undefined);
  const [filter, setFilter] = useState<LogFilter>(NO_FILTER);
  const [isWrapped, setWrapped] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  /** By its number, which stays when lines before it go. */
  const [chosen, setChosen] = useState<number | null>(first === undefined ? null : first);
  const [parser] = useState(() => new ParsedLines());
  const marked = chosen === null ? undefined : chosen - text.dropped;
  const [rows, canFilterTime] = useMemo(() => {
    const parsed = parser.of(text.lines, text.dropped);
    return [rowsOf(parsed, text.dropped, filter, opened, marked), hasTimes(parsed)] as const;
    // The lines are changed in place: their version says so.
  }, [version, text, filter, opened, marked, parser]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  });
  // A row of another text has another height.
  useEffect(() => list.measure(), [isWrapped, filter, opened, list]);
  useEffect(() => {
    if (isFollowing && rows.length > 0) list.scrollToIndex(rows.length - 1, { align: "end" });
  }, [version, isFollowing, rows.length, list]);
  const place = rows.findIndex((row) => row.kind === "line" && row.line === marked);
  useEffect(() => {
    if (first !== undefined && place >= 0) list.scrollToIndex(place, { align: "center" });
    // To where a link leads once, not after each change.
  }, [first, list]);
  const choose = (line: number) => {
    setFollowing(false);
    setChosen(text.dropped + line);
    const address = addressOf(text.offsets[line] ?? 0);
    history.replaceState(history.state, "", `${location.pathname}${location.search}${address}`);
  };
  const step = (by: 1 | -1) => {
    for (let at = place + by; at >= 0 && at < rows.length; at += by) {
      const row = rows[at]!;
      if (row.kind !== "line") continue;
      choose(row.line);
      list.scrollToIndex(at, { align: "auto" });
      return;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== frame.current) return;
    if (event.key === "Enter") {
      const sight = list.getVirtualItems().filter(({ start }) => start >= (list.scrollOffset ?? 0));
      const row = sight.map(({ index }) => rows[index]).find((one) => one?.kind === "line");
      if (row !== undefined) choose(row.line);
    } else if (event.key === "Escape") setChosen(null);
    else if (place >= 0 && event.key === "ArrowDown") step(1);
    else if (place >= 0 && event.key === "ArrowUp") step(-1);
    else return;
    event.preventDefault();
  };
  const onScroll = () => {
    const element = frame.current;
    if (element === null) return;
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX);
  };
  const shown = rows.filter(({ kind }) => kind === "line").length;
  return (
    <div className={styles["view"]}>
      <LogTools
        {...{ filter, isWrapped, canFilterTime }}
        onFilter={setFilter}
        onWrap={setWrapped}
        hasFolds={filter.areFoldsOpen || rows.some(({ kind }) => kind === "fold")}
      />
      <div
        ref={frame}
        className={styles["frame"]}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        tabIndex={0}
        role="log"
        aria-label="Log. Enter marks a line, arrows move the mark."
        aria-live="off"
        data-wrapped={isWrapped || undefined}
      >
        <div className={styles["all"]} style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={index}
                ref={isWrapped ? list.measureElement : undefined}
                data-index={index}
                data-level={row.kind === "line" ? (row.level ?? undefined) : undefined}
                className={styles["line"]}
                aria-current={row.kind === "line" && row.line === marked ? "true" : undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row.kind === "line" ? (
                  <>
                    <a
                      className={styles["mark"]}
                      href={addressOf(text.offsets[row.line] ?? 0)}
                      aria-label="Mark this line"
                      tabIndex={-1}
                      onClick={(event) => {
                        event.preventDefault();
                        choose(row.line);
                      }}
                    />
                    <LogLine text={row.text} />
                  </>
                ) : (
                  <button
                    type="button"
                    className={styles["fold"]}
                    aria-expanded={row.isOpen}
                    onClick={() => {
                      setFollowing(false);
                      setOpened((before) => {
                        const next = new Set(before);
                        if (!next.delete(row.number)) next.add(row.number);
                        return next;
                      });
                    }}
                  >
                    {row.isOpen ? "▾" : "▸"} {countOf(row.count, "line")} of NVFlare
                  </button>
                )}
              </div>
            );
          })}
        </div>
      </div>
      <p className={styles["foot"]}>
        {shown === text.lines.length
          ? countOf(shown, "line")
          : `${shown} of ${countOf(text.lines.length, "line")}`}
        {isFollowed ? (isFollowing ? ", following" : ", paused") : ""}
        {isFollowing ? null : (
          <Button look="quiet" onPress={() => setFollowing(true)}>
            To the end
          </Button>
        )}
        {marked === undefined || text.lines[marked] === undefined ? null : (
          <Copy
            label="Copy a link to the marked line"
            look="quiet"
            text={`${location.origin}${location.pathname}${addressOf(text.offsets[marked] ?? 0)}`}
            from="log-line-address"
          />
        )}
        {marked === undefined || text.lines[marked] === undefined ? null : (
          <span id="log-line-address" className="unseen">
            {`${location.origin}${location.pathname}${addressOf(text.offsets[marked] ?? 0)}`}
          </span>
        )}
      </p>
    </div>
  );
}
