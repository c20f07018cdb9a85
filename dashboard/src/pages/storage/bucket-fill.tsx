import type { UsageReply } from "@resontech/contracts/http-storage";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { countOf } from "../../ui/count-of.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { orUnmade } from "./or-unmade.ts";
import { useSizes } from "./use-sizes.ts";
import styles from "./storage.module.css";

const KINDS = [
  ["objects", "objects as they are now"],
  ["olderVersions", "older versions"],
  ["logs", "logs of jobs"],
] as const;

/** How full the bucket is, and of what. */
export function BucketFill({ project }: { project: string }) {
  const usage = useQuery({
    queryKey: ["usage", project],
    queryFn: ({ signal }) =>
      orUnmade<UsageReply | null>(
        ask("GET", "/api/users/storage/usage", { project, signal }),
        null,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const kinds = useSizes(project, "")?.kinds;
  if (usage.isPending) return <Skeleton rows={1} />;
  if (usage.isError) return <Failure error={usage.error} retry={() => void usage.refetch()} />;
  if (usage.data === null) return null;
  const { usedBytes, quotaBytes, objects } = usage.data;
  const told = kinds === undefined ? 0 : kinds.objects + kinds.olderVersions + kinds.logs;
  const rest = Math.max(0, usedBytes - told);
  return (
    <div className={styles["usage"]}>
      <meter min={0} max={quotaBytes} value={usedBytes} aria-label="Used of the quota" />
      <span>
        {bytes(usedBytes)} of {bytes(quotaBytes)} · {countOf(objects, "object")}
      </span>
      {kinds === undefined ? null : (
        <ul className={styles["kinds"]} aria-label="What fills it">
          {KINDS.map(([kind, words]) => (
            <li key={kind}>
              <strong>{bytes(kinds[kind])}</strong> {words}
            </li>
          ))}
          {rest === 0 ? null : (
            <li>
              <strong>{bytes(rest)}</strong> open uploads
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
