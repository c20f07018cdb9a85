import { QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem.ts";

/** The live connection says when something changed: nothing is asked again because time passed or a window came forward. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => {
          const { status } = asProblem(error);
          return failures < 3 && (status === 0 || status === 503);
        },
        retryDelay: (failures) => Math.min(1_000 * 2 ** failures, 8_000),
      },
    },
  });
}
