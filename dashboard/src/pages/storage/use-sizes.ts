import type { SizesReply } from "@resontech/contracts/http-storage";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { orUnmade } from "./or-unmade.ts";

/** What fills a folder. It looks at every version below, and to look is a fact of the audit log: asked once. */
export function useSizes(project: string, prefix: string): SizesReply | null {
  const { data } = useQuery({
    queryKey: ["sizes", project, prefix],
    queryFn: ({ signal }) =>
      orUnmade<SizesReply | null>(
        ask("GET", "/api/users/storage/sizes", { query: { prefix }, project, signal }),
        null,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? null;
}
