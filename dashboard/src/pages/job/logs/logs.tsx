import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ask } from "../../../api/ask.ts";
import { useTopic } from "../../../live/live.ts";
import { Empty, Failure } from "../../../ui/notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { addressOfLine, firstLog, inReadingOrder, lineOfAddress, logName } from "./line-address.ts";
import { LogPart } from "./log-part.tsx";
import { LogSearch } from "./log-search.tsx";
import { LogText } from "./log-text.ts";
import { LogView } from "./log-view.tsx";
import styles from "./logs.module.css";

const TAIL_BYTES = 256 * 1024;

/** What a member printed: the stored end, and what comes live behind it, joined by offset so that nothing is lost or doubled. */
export function Logs({ id, isOver }: { id: string; isOver: boolean }) {
  /** Null: what the address names, else the first. A byte around which it is shown; null: its end. */
  const [choice, setChoice] = useState<{ member: string; at: number | null } | null>(null);
  const [hash] = useState(() => location.hash);
  const logs = useQuery({
    queryKey: ["job", id, "logs"],
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/logs", { params: { id }, signal }),
  });
  if (logs.isPending) return <Skeleton />;
  if (logs.isError) return <Failure error={logs.error} retry={() => void logs.refetch()} />;
  const first = firstLog(logs.data);
  const { member: chosen, at } = choice ??
    lineOfAddress(logs.data, hash) ?? { member: first?.member ?? null, at: null };
  if (chosen === null)
    return (
      <Empty title="No log yet">
        <p>Members of the job appear here when they have a place to run.</p>
      </Empty>
    );
  const addressOf = (byte: number) => addressOfLine(logs.data, chosen, byte);
  return (
    <>
      <LogSearch job={id} onShow={({ member, offset }) => setChoice({ member, at: offset })} />
      <p className={styles["choose"]}>
        <label>
          Log of{" "}
          <select
            value={chosen}
            onChange={({ target }) => setChoice({ member: target.value, at: null })}
          >
            {inReadingOrder(logs.data).map((one) => (
              <option key={one.member} value={one.member}>
                {logName(one)}, attempt {one.attempt}
              </option>
            ))}
          </select>
        </label>
        <a href={`/api/jobs/${id}/logs/${chosen}/whole`} download>
          Download the whole log
        </a>
      </p>
      {at === null ? (
        <MemberLog key={chosen} job={id} member={chosen} isOver={isOver} addressOf={addressOf} />
      ) : (
        <LogPart
          key={`${chosen} ${at}`}
          {...{ job: id, member: chosen, at, addressOf }}
          onEnd={() => setChoice({ member: chosen, at: null })}
        />
      )}
    </>
  );
}

function MemberLog({
  job,
  member,
  isOver,
  addressOf,
}: {
  job: string;
  member: string;
  isOver: boolean;
  addressOf: (at: number) => string;
}) {
  const text = useRef(new LogText());
  const [shown, setShown] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const redraw = () => setShown((count) => count + 1);
  const read = useCallback(
    async (offset: number, bytes: number) =>
      await ask("GET", "/api/jobs/{id}/logs/{member}", {
        params: { id: job, member },
        query: { offset, bytes },
      }),
    [job, member],
  );
  const readEnd = useCallback(async () => {
    try {
      const { offset, end, text: tail } = await read(-TAIL_BYTES, TAIL_BYTES);
      text.current.stored(offset, end, tail);
      setError(null);
      redraw();
    } catch (failed) {
      setError(failed);
    }
  }, [read]);
  useEffect(() => {
    void readEnd();
  }, [readEnd]);
  useTopic(
    isOver ? null : { kind: "log", job },
    (told) => {
      for (const { change } of told)
        if (change.kind === "log" && change.member === member) text.current.live(change);
      redraw();
    },
    () => void readEnd(),
  );
  return (
    <>
      {error === null ? null : <Failure error={error} retry={() => void readEnd()} />}
      {text.current.isBegun ? (
        <LogView text={text.current} isFollowed={!isOver} version={shown} addressOf={addressOf} />
      ) : error === null ? (
        <Skeleton />
      ) : null}
    </>
  );
}
