import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { countOf } from "../../../ui/count-of.ts";
import { Button } from "../../../ui/button.tsx";
import { LogLine } from "./log-line.tsx";
import styles from "./logs.module.css";

const LINE_PX = 20;
const NEAR_END_PX = 40;

/** A long list of lines of which only those in sight are drawn. It follows the end until somebody scrolls up. */
export function LogView({
  lines,
  isFollowed,
  version,
  marked,
}: {
  lines: readonly string[];
  isFollowed: boolean;
  /** Rises with each change of the lines. */
  version: number;
  /** The line to show first, from 0; without it, the end. */
  marked?: number;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(marked === undefined);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [version, isFollowing, lines.length, rows]);
  useEffect(() => {
    if (marked !== undefined) rows.scrollToIndex(marked, { align: "center" });
  }, [marked, rows]);
  const onScroll = () => {
    const element = frame.current;
    if (element === null) return;
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX);
  };
  return (
    <div className={styles["view"]}>
      <div
        ref={frame}
        className={styles["frame"]}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label="Log"
        aria-live="off"
      >
        <div className={styles["all"]} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              className={styles["line"]}
              aria-current={index === marked ? "true" : undefined}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LogLine text={lines[index] ?? ""} />
            </div>
          ))}
        </div>
      </div>
      <p className={styles["foot"]}>
        {countOf(lines.length, "line")}
        {isFollowed ? (isFollowing ? ", following" : ", paused") : ""}
        {isFollowing ? null : (
          <Button look="quiet" onPress={() => setFollowing(true)}>
            To the end
          </Button>
        )}
      </p>
    </div>
  );
}
