import type { LogFilter } from "./log-rows.ts";
import { type Level, LEVELS } from "./parsed-line.ts";
import styles from "./logs.module.css";

const LEVEL_WORDS: Record<Level, string> = {
  debug: "all lines",
  info: "without debugging",
  warning: "warnings and errors",
  error: "errors",
};

/** What of a log is shown, and how. */
export function LogTools({
  filter,
  onFilter,
  isWrapped,
  onWrap,
  hasFolds,
  canFilterTime,
}: {
  filter: LogFilter;
  onFilter: (filter: LogFilter) => void;
  isWrapped: boolean;
  onWrap: (isWrapped: boolean) => void;
  hasFolds: boolean;
  canFilterTime: boolean;
}) {
  return (
    <div role="group" aria-label="What is shown" className={styles["tools"]}>
      <label>
        Show{" "}
        <select
          value={filter.level}
          onChange={({ target }) => onFilter({ ...filter, level: target.value as Level })}
        >
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {LEVEL_WORDS[level]}
            </option>
          ))}
        </select>
      </label>
      {canFilterTime ? (
        <>
          <TimeField
            label="From (UTC)"
            at={filter.from}
            onChange={(from) => onFilter({ ...filter, from })}
          />
          <TimeField
            label="To (UTC)"
            at={filter.to}
            onChange={(to) => onFilter({ ...filter, to })}
          />
        </>
      ) : null}
      <label>
        <input
          type="checkbox"
          checked={isWrapped}
          onChange={({ target }) => onWrap(target.checked)}
        />{" "}
        Wrap lines
      </label>
      {hasFolds ? (
        <label>
          <input
            type="checkbox"
            checked={filter.areFoldsOpen}
            onChange={({ target }) => onFilter({ ...filter, areFoldsOpen: target.checked })}
          />{" "}
          NVFlare’s own lines
        </label>
      ) : null}
    </div>
  );
}

function TimeField({
  label,
  at,
  onChange,
}: {
  label: string;
  at: number | null;
  onChange: (at: number | null) => void;
}) {
  return (
    <label>
      {label}{" "}
      <input
        type="datetime-local"
        step={1}
        value={at === null ? "" : new Date(at).toISOString().slice(0, 19)}
        onChange={({ target }) =>
          onChange(target.value === "" ? null : Date.parse(`${target.value}Z`))
        }
      />
    </label>
  );
}
