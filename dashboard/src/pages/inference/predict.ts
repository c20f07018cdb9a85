/** One call of a deployment from the page, by a key that the person pasted: no cookie goes with it. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { asProblem, Problem } from "../../api/problem.ts";

/** @property text what the predictor answered, indented; a page shows no more than so much of it */
export type Answered = { text: string; isCut: boolean; tookMs: number; replica: string | null };

/** Of an answer, in characters. */
const MOST_SHOWN = 200_000;

/** @throws Problem with the gateway's own type as code */
export async function predict(
  deployment: string,
  { key, body, signal }: { key: string; body: Blob; signal: AbortSignal },
): Promise<Answered> {
  const startedAt = performance.now();
  let answer: Response;
  try {
    answer = await fetch(`${INFERENCE_PATH}/${encodeURIComponent(deployment)}/predict`, {
      ...{ method: "POST", credentials: "omit", signal, body },
      headers: { "x-api-key": key, "content-type": contentTypeOf(body.type) },
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw asProblem(error);
  }
  const text = await answer.text();
  if (!answer.ok) throw predictRefusal(answer, text);
  const shown = indented(text);
  return {
    ...{ text: shown.slice(0, MOST_SHOWN), isCut: shown.length > MOST_SHOWN },
    ...{ tookMs: performance.now() - startedAt, replica: answer.headers.get("x-replica-id") },
  };
}

/** The predictor is to get the bytes as they are: JSON and forms would be opened on the way. */
export function contentTypeOf(type: string): string {
  return /^(image|video|audio)\//.test(type) ? type : "application/octet-stream";
}

export function predictRefusal(answer: Response, text: string): Problem {
  const said = errorIn(text);
  const after = answer.headers.get("retry-after");
  return new Problem({
    code: said?.type ?? "reply_invalid",
    message: said?.message ?? `the answer has status ${answer.status}`,
    hint:
      HINTS[said?.type ?? ""] ??
      (after === null ? "The logs may say more." : `Call again in ${after} s.`),
    status: answer.status,
    requestId: answer.headers.get("x-request-id"),
  });
}

const HINTS: Readonly<Record<string, string>> = {
  auth_error: "Paste the key that was shown when it was deployed, or make a new one.",
  unavailable: "It starts, or has ended. The state above says which.",
  predictor_exception: "The predictor's own code failed. The logs have its traceback.",
};

function errorIn(text: string): { type: string; message: string } | null {
  try {
    const { error } = JSON.parse(text) as { error: { type: unknown; message: unknown } };
    return typeof error.type === "string" && typeof error.message === "string"
      ? { type: error.type, message: error.message }
      : null;
  } catch {
    return null;
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
