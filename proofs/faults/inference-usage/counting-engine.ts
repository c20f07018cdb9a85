/** An engine that is played: it speaks the OpenAI API, generates as many tokens as it is asked for, and counts them by the name in the caller's message. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** Of one token of a stream: slow enough that a caller leaves in the middle. */
const TOKEN_MS = 3;

export type Counted = { promptTokens: number; completionTokens: number };

export class CountingEngine implements Disposable {
  readonly of = new Map<string, Counted>();
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async listen(host: string): Promise<CountingEngine> {
    const server = createServer({ keepAliveTimeout: 60_000 }).listen(0, host);
    await once(server, "listening");
    const engine = new CountingEngine(server);
    server.on("request", (asked, answer) => {
      void engine.#answer(asked, answer).catch(() => answer.destroy());
    });
    return engine;
  }

  /** What it holds open is cut, as by a replica that is killed. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.cut();
  }

  async #answer(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const said = JSON.parse(await text(asked)) as {
      max_tokens: number;
      stream?: boolean;
      messages: { name: string; content: string }[];
    };
    const [{ name, content }] = said.messages as [{ name: string; content: string }];
    const promptTokens = content.length;
    const counted: Counted = { promptTokens, completionTokens: 0 };
    this.of.set(name, counted);
    const usage = { prompt_tokens: promptTokens, completion_tokens: said.max_tokens };
    answer.setHeader("content-type", "application/json");
    for (let token = 0; token < said.max_tokens && !answer.destroyed; token++) {
      counted.completionTokens += 1;
      if (said.stream !== true) continue;
      answer.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
      await sleep(TOKEN_MS);
    }
    if (said.stream === true)
      answer.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    else answer.end(JSON.stringify({ choices: [], usage }));
  }
}
