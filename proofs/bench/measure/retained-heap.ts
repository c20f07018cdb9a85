/**
 * What a Node process holds after its garbage was collected: its resident memory also grows because V8 collects late.
 *
 * Asked by its inspector, which SIGUSR1 opens on this machine's loopback and which is closed again:
 * https://nodejs.org/api/inspector.html, https://chromedevtools.github.io/devtools-protocol/v8/
 */
import { setTimeout as sleep } from "node:timers/promises";

/** Where SIGUSR1 opens it; two processes can't be asked at once. */
const INSPECTOR = "http://127.0.0.1:9229/json/list";
const OPEN_MS = 10_000;
const ANSWER_MS = 30_000;

export type RetainedHeap = { objectBytes: number; bufferBytes: number };

/** @throws Error when the process can't be asked, or somebody else's inspector is open there */
export async function retainedHeap(pid: number): Promise<RetainedHeap> {
  if ((await inspectorUrl()) !== null)
    throw new Error(`an inspector is open at ${INSPECTOR} already: end it and try again`);
  process.kill(pid, "SIGUSR1");
  const session = await InspectorSession.open(await untilOpen(pid));
  try {
    const asked = await session.evaluate("process.pid");
    if (asked !== pid)
      throw new Error(`the inspector is that of process ${String(asked)}, not of ${pid}`);
    // What the first collection finalizes is free at the second.
    for (const _ of [1, 2]) await session.send("HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = (await session.send("Runtime.getHeapUsage")) as {
      usedSize: number;
      backingStorageSize?: number;
    };
    // Closing waits for its connections, of which this is the last.
    await session.evaluate(
      "void setTimeout(() => process.getBuiltinModule('node:inspector').close(), 200)",
    );
    return { objectBytes: usedSize, bufferBytes: backingStorageSize };
  } finally {
    session.close();
    await untilClosed();
  }
}

async function untilOpen(pid: number): Promise<string> {
  for (const deadline = Date.now() + OPEN_MS; Date.now() < deadline; await sleep(100)) {
    const url = await inspectorUrl();
    if (url !== null) return url;
  }
  throw new Error(`process ${pid} did not open its inspector at ${INSPECTOR}`);
}

/** The next process opens its own at the same place. */
async function untilClosed(): Promise<void> {
  for (const deadline = Date.now() + OPEN_MS; Date.now() < deadline; await sleep(100))
    if ((await inspectorUrl()) === null) return;
}

/** Null while none is open. */
async function inspectorUrl(): Promise<string | null> {
  try {
    const [target] = (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[];
    return target?.webSocketDebuggerUrl ?? null;
  } catch {
    return null;
  }
}

class InspectorSession {
  readonly #socket: WebSocket;
  #id = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(url: string): Promise<InspectorSession> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", () => reject(new Error(`${url} can't be opened`)), {
        once: true,
      });
    });
    return new InspectorSession(socket);
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result } = (await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
    })) as {
      result: { value?: unknown };
    };
    return result.value;
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    this.#id += 1;
    const id = this.#id;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), ANSWER_MS);
      const onMessage = ({ data }: MessageEvent): void => {
        const message = JSON.parse(String(data)) as {
          id?: number;
          result?: unknown;
          error?: { message: string };
        };
        if (message.id !== id) return;
        clearTimeout(timer);
        this.#socket.removeEventListener("message", onMessage);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(`${method}: ${message.error.message}`));
      };
      this.#socket.addEventListener("message", onMessage);
    });
    this.#socket.send(JSON.stringify({ id, method, params }));
    return await answer;
  }

  close(): void {
    this.#socket.close();
  }
}
