import { countOf } from "../../ui/count-of.ts";
import { duration } from "../../ui/instants.ts";
import type { RoundBar, SiteRow, RoundTimes } from "./round-times.ts";
import styles from "./rounds-timeline.module.css";

const ROW = 26;
const BAR = 16;

/** Rounds over time, and below them each site with the rounds that took its update. The table says the same in words. */
export function RoundsTimeline({ rows: { bars, sites, ticks, attempts } }: { rows: RoundTimes }) {
  const height = (sites.length + 1) * ROW;
  return (
    <figure className={styles["timeline"]}>
      <figcaption className={styles["caption"]}>Rounds over time</figcaption>
      <div className={styles["rows"]}>
        <ul className={styles["names"]}>
          <li>
            <strong>Rounds</strong>
          </li>
          {sites.map(({ site, missed }) => (
            <li key={site}>
              {site}
              {missed === 0 ? null : <span className={styles["missed"]}> missed {missed}</span>}
            </li>
          ))}
        </ul>
        <svg
          className={styles["place"]}
          width="100%"
          height={height + 20}
          role="img"
          aria-label={`${countOf(bars.length, "round")} of ${countOf(sites.length, "site")} over time; the table below says the same`}
        >
          {ticks.map(({ at, ms }) => (
            <g key={ms} className={styles["tick"]}>
              <line x1={percent(at)} x2={percent(at)} y1={0} y2={height} />
              <text x={percent(at)} y={height + 15} textAnchor={at > 0.85 ? "end" : "start"}>
                {ms === 0 ? "start" : duration(ms)}
              </text>
            </g>
          ))}
          {attempts.map((at) => (
            <line
              key={at}
              x1={percent(at)}
              x2={percent(at)}
              y1={0}
              y2={height}
              className={styles["attempt"]}
            />
          ))}
          {bars.map((bar) => (
            <Bar key={`${bar.attempt}-${bar.round}`} bar={bar} />
          ))}
          {sites.map((row, at) => (
            <Site key={row.site} row={row} bars={bars} y={(at + 1) * ROW} />
          ))}
        </svg>
      </div>
      <ul className={styles["key"]}>
        <li data-look="over">took the update</li>
        <li data-look="missing">no update in time</li>
        <li data-look="slow">slower than most</li>
        <li data-look="running">not over</li>
      </ul>
    </figure>
  );
}

function Bar({ bar }: { bar: RoundBar }) {
  const look = bar.hasNoNumbers ? "bad" : !bar.isOver ? "running" : bar.isSlow ? "slow" : "over";
  const told = `Round ${bar.round}: ${duration(bar.ms)}${bar.hasNoNumbers ? ", its model holds no numbers (NaN)" : ""}`;
  return (
    <rect
      x={percent(bar.from)}
      width={percent(Math.max(0.002, bar.width))}
      y={(ROW - BAR) / 2}
      height={BAR}
      rx={3}
      data-look={look}
    >
      <title>{told}</title>
    </rect>
  );
}

function Site({ row, bars, y }: { row: SiteRow; bars: readonly RoundBar[]; y: number }) {
  return bars.map((bar, at) => {
    const took = row.took[at] ?? null;
    const look = took === null ? "running" : took ? "over" : "missing";
    return (
      <rect
        key={`${bar.attempt}-${bar.round}`}
        x={percent(bar.from)}
        width={percent(Math.max(0.002, bar.width))}
        y={y + (ROW - BAR) / 2}
        height={BAR}
        rx={3}
        data-look={look}
        className={styles["site"]}
      >
        <title>{`${row.site}, round ${bar.round}: ${took === null ? "not over" : took ? "its update was taken" : "no update was taken"}`}</title>
      </rect>
    );
  });
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
