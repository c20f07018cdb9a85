import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

/** A line through a week does not move by the minute. */
const FORECAST_EVERY_MS = 300_000;
const ALERTS_EVERY_MS = 60_000;

/** When each disk of the host fills. */
export function useDiskForecast() {
  return useQuery({
    queryKey: ["appliance", "disks"],
    queryFn: ({ signal }) => ask("GET", "/api/appliance/disks", { signal }),
    refetchInterval: FORECAST_EVERY_MS,
  });
}

/** Alerts that held, as long as figures are kept. */
export function usePastAlerts() {
  return useQuery({
    queryKey: ["appliance", "alerts"],
    queryFn: ({ signal }) => ask("GET", "/api/appliance/alerts", { signal }),
    refetchInterval: ALERTS_EVERY_MS,
  });
}
