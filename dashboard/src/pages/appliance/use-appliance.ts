import type { ApplianceReply } from "@resontech/contracts/http-nodes";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

/** Nothing tells of these by itself. */
const ASKED_EVERY_MS = 10_000;

export function useAppliance() {
  return useQuery({
    queryKey: ["appliance"],
    queryFn: ({ signal }) => ask<ApplianceReply>("GET", "/api/appliance", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
}
