import type { GpuCatalogReply } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

const NOTHING: GpuCatalogReply = [];

/** Devices that nodes have now, and how many are free; none before the appliance has answered. */
export function useCatalogue(): GpuCatalogReply {
  const { data } = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => ask("GET", "/api/gpu-catalog", { signal }),
  });
  return data ?? NOTHING;
}
