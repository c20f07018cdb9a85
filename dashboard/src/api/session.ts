import type { SessionReply } from "@resontech/contracts/http-identity";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ask, keepCsrfToken } from "./ask.ts";
import { asProblem } from "./problem.ts";

export type Session = SessionReply;

export function useSession(): Session {
  const { data } = useSuspenseQuery({
    queryKey: ["session"],
    queryFn: async () => {
      const session = await ask("GET", "/api/session").catch(signInOnce);
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

const TRIED = "rt-sign-in-tried";
const AGAIN_MS = 10_000;

/** A page that shows nothing yet loses nothing: whoever is not signed in is sent there, but not in a circle. */
async function signInOnce(error: unknown): Promise<never> {
  const last = Number(sessionStorage.getItem(TRIED) ?? 0);
  if (asProblem(error).status !== 401 || Date.now() - last < AGAIN_MS) throw error;
  sessionStorage.setItem(TRIED, String(Date.now()));
  const back = `${location.pathname}${location.search}`;
  location.assign(`/auth/sign-in?return=${encodeURIComponent(back)}`);
  // The page is on its way out.
  return await new Promise<never>(() => {});
}
