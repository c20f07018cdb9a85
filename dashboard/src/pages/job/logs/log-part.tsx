import { useQuery } from "@tanstack/react-query";
import { ask } from "../../../api/ask.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { LogView } from "./log-view.tsx";
import styles from "./logs.module.css";
import { partAround } from "./part-around.ts";

const AROUND_BYTES = 128 * 1024;

/** A member's log around one of its lines. @param at where the line begins, in bytes */
export function LogPart({
  job,
  member,
  at,
  addressOf,
  onEnd,
}: {
  job: string;
  member: string;
  at: number;
  addressOf: (at: number) => string;
  onEnd: () => void;
}) {
  const part = useQuery({
    queryKey: ["job", job, "log-part", member, at],
    // A look into logs is on record: no look is repeated by itself.
    ...{
      retry: false,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      staleTime: Infinity,
    },
    queryFn: async ({ signal }) => {
      const offset = Math.max(0, at - AROUND_BYTES);
      const bytes = at - offset + AROUND_BYTES;
      const asked = { params: { id: job, member }, query: { offset, bytes }, signal };
      const part = await ask("GET", "/api/jobs/{id}/logs/{member}", asked);
      return { ...partAround(part, at), dropped: 0 };
    },
  });
  if (part.isPending) return <Skeleton />;
  if (part.isError) return <Failure error={part.error} retry={() => void part.refetch()} />;
  return (
    <>
      <p className={styles["foot"]}>
        Around byte {at}.
        <Button look="quiet" onPress={onEnd}>
          Back to the end of the log
        </Button>
      </p>
      <LogView
        text={part.data}
        isFollowed={false}
        version={at}
        marked={part.data.marked}
        addressOf={addressOf}
      />
    </>
  );
}
