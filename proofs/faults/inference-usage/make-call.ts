/** One call of a client, as it comes to its end. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type CallSpec = {
  user: string;
  promptTokens: number;
  maxTokens: number;
  isStream: boolean;
  /** Hang up after so many pieces; null: never. */
  leavesAfter: number | null;
};
/** @property isWhole the client has all of its answer */
export type Made = { isWhole: boolean; requestSha256: string };

const LIMIT_MS = 15_000;
/** A part is away for about so long. */
const AGAIN_MS = 300;

export async function makeCall(
  socketPath: string,
  agent: Agent,
  key: string,
  wish: CallSpec,
): Promise<Made> {
  const { user, promptTokens, maxTokens, isStream, leavesAfter } = wish;
  const body = JSON.stringify({
    ...{ model: "m", max_tokens: maxTokens, stream: isStream },
    messages: [{ role: "user", name: user, content: "x".repeat(promptTokens) }],
  });
  const requestSha256 = createHash("sha256").update(body).digest("hex");
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const path = "/v1/chat/completions";
  const asked = request({ socketPath, agent, method: "POST", path, headers });
  asked.on("error", () => {});
  asked.setTimeout(LIMIT_MS, () => asked.destroy());
  try {
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    let said = "";
    let pieces = 0;
    for await (const piece of answer) {
      said += String(piece);
      pieces += 1;
      if (leavesAfter !== null && pieces >= leavesAfter) {
        asked.destroy();
        return { isWhole: false, requestSha256 };
      }
    }
    const isWhole =
      answer.statusCode === 200 && answer.complete && (!isStream || said.includes("[DONE]"));
    // A part is away: as a client of this API waits.
    if (answer.statusCode !== 200) await sleep(AGAIN_MS);
    return { isWhole, requestSha256 };
  } catch {
    await sleep(AGAIN_MS);
    return { isWhole: false, requestSha256 };
  }
}
