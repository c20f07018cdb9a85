/**
 * An engine whose time is known: it answers `/v1/chat/completions` after so many milliseconds, always the same. Its own program, so that it takes no
 * time from whoever is measured.
 *
 *     node measured-engine.ts MILLISECONDS    prints its port
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const delayMs = Number(process.argv[2] ?? 5);
const ANSWER = JSON.stringify({
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1_700_000_000, model: "m" },
  choices: [
    {
      ...{ index: 0, finish_reason: "stop", logprobs: null },
      message: { role: "assistant", content: "It is the same answer every time. ".repeat(8) },
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 64, total_tokens: 76 },
});

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.once("end", () =>
    setTimeout(() => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(ANSWER),
      });
      response.end(ANSWER);
    }, delayMs),
  );
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
