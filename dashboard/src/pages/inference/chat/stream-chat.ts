/** One streamed call of a deployment from the page, by a key that the person pasted: no cookie goes with it. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { OPENAI_PATH } from "@resontech/contracts/openai-surface";
import { asProblem, Problem } from "../../../api/problem.ts";
import { predictRefusal } from "../predict.ts";
import { type Answer, type ChatChunk, eventsIn, NO_ANSWER, withChunk } from "./chat-answer.ts";
import type { ChatBody } from "./chat-request.ts";

const END = "[DONE]";

/**
 * @param told each time that more of the answer is there
 * @returns the whole answer, and after how many milliseconds its first word and its end came
 * @throws Problem
 */
export async function streamChat(
  deployment: string,
  { key, body, signal }: { key: string; body: ChatBody; signal: AbortSignal },
  told: (answer: Answer) => void,
): Promise<{ answer: Answer; firstMs: number; tookMs: number }> {
  const startedAt = performance.now();
  let reply: Response;
  try {
    reply = await fetch(
      `${INFERENCE_PATH}/${encodeURIComponent(deployment)}${OPENAI_PATH}/chat/completions`,
      {
        ...{ method: "POST", credentials: "omit", signal },
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
      },
    );
  } catch (error) {
    if (signal.aborted) throw error;
    throw asProblem(error);
  }
  if (!reply.ok || reply.body === null) throw predictRefusal(reply, await reply.text());
  let answer = NO_ANSWER;
  let firstMs: number | null = null;
  let rest = "";
  const decoder = new TextDecoder();
  for (const reader = reply.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    const read = eventsIn(rest + decoder.decode(value, { stream: !done }) + (done ? "\n\n" : ""));
    rest = read.rest;
    for (const event of read.events) {
      if (event === END) continue;
      const chunk = JSON.parse(event) as ChatChunk;
      if (chunk.error !== undefined) throw brokenOff(chunk.error);
      answer = withChunk(answer, chunk);
      if (answer.text !== "" || answer.reasoning !== "") firstMs ??= performance.now() - startedAt;
    }
    told(answer);
    if (done) break;
  }
  const tookMs = performance.now() - startedAt;
  return { answer, firstMs: firstMs ?? tookMs, tookMs };
}

function brokenOff({ type, message }: NonNullable<ChatChunk["error"]>): Problem {
  return new Problem({
    ...{ code: type ?? "reply_invalid", message: message ?? "the answer broke off" },
    ...{ hint: "Send it again. The logs may say more.", status: 502, requestId: null },
  });
}
