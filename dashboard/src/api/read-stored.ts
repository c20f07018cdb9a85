import { storeProblem } from "./store-problem.ts";

/** Reads from the object store itself, by a URL that was given out for it. @param range of bytes, both ends included @throws Problem */
export async function readStored(
  url: string,
  { range, signal }: { range?: readonly [start: number, end: number]; signal?: AbortSignal } = {},
): Promise<Response> {
  const answer = await fetch(url, {
    ...{ credentials: "omit", signal: signal ?? null },
    ...(range === undefined ? {} : { headers: { range: `bytes=${range[0]}-${range[1]}` } }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    return null;
  });
  if (answer?.ok === true) return answer;
  throw storeProblem(answer?.status ?? null, "Try again. If it lasts, look at the page Storage.");
}
