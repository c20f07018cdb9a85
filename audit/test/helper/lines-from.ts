import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";

/** An erasure searches all of its files. */
const ANSWER_MS = 600_000;

/** Asks on an operator's socket. @returns every line of the answer; a refusal is one */
export async function linesFrom(
  socketPath: string,
  request: object,
): Promise<Record<string, unknown>[]> {
  const { verb = "", ...body }: { verb?: string } = request;
  const { status, text } = await exchangeOnSocket(socketPath, {
    ...{ method: "POST", path: `/${verb}`, body: JSON.stringify(body), timeoutMs: ANSWER_MS },
  });
  if (status !== 200) return [{ error: JSON.parse(text) as unknown }];
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
