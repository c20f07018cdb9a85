import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

const ASKED_EVERY_MS = 15_000;

export function usePools() {
  return useQuery({
    queryKey: ["pools"],
    queryFn: async ({ signal }) => (await ask("GET", "/api/pools", { signal })).pools,
    refetchInterval: ASKED_EVERY_MS,
  });
}

/** Nodes and projects to choose from; of whoever may choose. */
export function useSharedFleet(): {
  nodes: string[];
  projects: { id: string; name: string }[];
} {
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: ({ signal }) => ask("GET", "/api/nodes", { signal }),
  });
  const shares = useQuery({
    queryKey: ["shares"],
    queryFn: ({ signal }) => ask("GET", "/api/shares", { signal }),
  });
  return {
    nodes: nodes.data?.filter(({ state }) => state !== "REVOKED").map(({ node }) => node) ?? [],
    projects:
      shares.data?.shares.flatMap(({ id, kind, name }) =>
        kind === "project" && id !== null && name !== null ? [{ id, name }] : [],
      ) ?? [],
  };
}
