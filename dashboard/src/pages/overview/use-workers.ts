import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useTopic } from "../../live/live.ts";

/** A large fleet is much to read: not for each job that moves. */
const READ_EVERY_MS = 15_000;

const queryKey = ["workers"];

/** All workers, with who is free. */
export function useWorkers() {
  const client = useQueryClient();
  const stats = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/customer/dashboard/workers/stats", { signal }),
  });
  const readAt = stats.dataUpdatedAt;
  useTopic(
    { kind: "jobs" },
    (told) => {
      const moved = told.some(({ change }) => change.kind === "job");
      if (moved && Date.now() - readAt > READ_EVERY_MS) void client.invalidateQueries({ queryKey });
    },
    () => void client.invalidateQueries({ queryKey }),
  );
  return stats;
}
