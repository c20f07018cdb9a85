import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useTopic } from "../../live/live.ts";

const queryKey = ["appliance"];
/** As often as the supervisor looks at the host. */
const HOST_EVERY_MS = 15_000;

/** How the appliance does; read again when it is told that this is otherwise. */
export function useAppliance() {
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey });
  useTopic({ kind: "findings" }, again, again);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/appliance", { signal }),
    refetchInterval: HOST_EVERY_MS,
  });
}
