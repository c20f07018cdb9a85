import type { SessionReply } from "@resontech/contracts/http-identity";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ask, keepCsrfToken } from "./ask.ts";

export type Session = SessionReply;

export function useSession(): Session {
  const { data } = useSuspenseQuery({
    queryKey: ["session"],
    queryFn: async () => {
      const session = await ask<Session>("GET", "/api/session");
      keepCsrfToken(session.csrfToken);
      return session;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

/** Whether the person may ask for it at all; which rows is the API's to say. */
export function useMay(action: string): boolean {
  return useSession().may.includes(action);
}
