import { bytes } from "../../ui/bytes.ts";
import { byUse, type HostDisk, refusedShare, usedShare } from "./disk-use.ts";
import styles from "./appliance.module.css";

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function Disks({ disks }: { disks: readonly HostDisk[] }) {
  return (
    <ul className={styles["disks"]}>
      {byUse(disks).map((disk) => (
        <li key={disk.holds}>
          <strong>{disk.holds}</strong>
          <UseBar disk={disk} />
          <span className={styles["todo"]}>
            {percent(usedShare(disk))} used, {bytes(disk.freeBytes)} of {bytes(disk.totalBytes)}{" "}
            left
            {disk.refusesBelowBytes === null
              ? ""
              : `; below ${bytes(disk.refusesBelowBytes)} new jobs are refused`}
          </span>
        </li>
      ))}
    </ul>
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
