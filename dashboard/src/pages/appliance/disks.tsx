import { asProblem } from "../../api/problem.ts";
import { bytes } from "../../ui/bytes.ts";
import { byUse, type HostDisk, refusedShare, usedShare } from "./disk-use.ts";
import { firstToFill, type Forecast, forecastWords } from "./forecast-words.ts";
import { useDiskForecast } from "./use-host-history.ts";
import styles from "./appliance.module.css";

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function Disks({ disks, now }: { disks: readonly HostDisk[]; now: number }) {
  const forecast = useDiskForecast();
  const forecasts = forecast.data?.disks ?? [];
  const first = firstToFill(forecasts, now);
  return (
    <>
      {first === null ? null : (
        <p>
          <strong>{first.holds}</strong> fills first. {forecastWords(first, now)}
        </p>
      )}
      <ul className={styles["disks"]}>
        {byUse(disks).map((disk) => (
          <li key={disk.holds}>
            <strong>{disk.holds}</strong>
            <UseBar disk={disk} />
            <span>
              {percent(usedShare(disk))} used, {bytes(disk.freeBytes)} of {bytes(disk.totalBytes)}{" "}
              left
              {disk.refusesBelowBytes === null
                ? ""
                : `; below ${bytes(disk.refusesBelowBytes)} new jobs are refused`}
            </span>
            <When of={forecasts.find(({ holds }) => holds === disk.holds)} now={now} />
          </li>
        ))}
      </ul>
      {forecast.isError ? (
        <p className={styles["quiet"]}>
          When they fill is not known: {asProblem(forecast.error).message}.
        </p>
      ) : null}
    </>
  );
}

function When({ of, now }: { of: Forecast | undefined; now: number }) {
  return of === undefined ? null : (
    <span className={styles["quiet"]}>{forecastWords(of, now)}</span>
  );
}

function UseBar({ disk }: { disk: HostDisk }) {
  const [used, refused] = [usedShare(disk), refusedShare(disk)];
  return (
    <svg
      className={styles["bar"]}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${disk.holds}: ${percent(used)} used`}
    >
      <rect className={styles["room"]} width="100" height="6" />
      <rect
        className={used >= (refused ?? 0.9) ? styles["full"] : styles["used"]}
        width={100 * used}
        height="6"
      />
      {refused === null ? null : (
        <rect className={styles["limit"]} x={100 * refused} width="0.4" height="6" />
      )}
    </svg>
  );
}
