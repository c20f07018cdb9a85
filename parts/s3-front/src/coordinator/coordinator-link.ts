/** Asks the coordinator over its Unix socket; connects when there is something to ask, and again after a break. */
import { connect, type Socket } from "node:net";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import { reader } from "@resontech/contracts/readable";
import {
  FRONT_PROTOCOL,
  FrontAnswer,
  FrontForget,
  type FrontHello,
  FrontHelloAnswer,
  type FrontQuestion,
  MAX_FRONT_LINE_BYTES,
} from "@resontech/contracts/s3-front-protocol";

/** The coordinator is away, or could not find out: what depends on its answer must not happen. */
export class CoordinatorUnavailable extends Error {
  override readonly name = "CoordinatorUnavailable";
}

type Ask = FrontQuestion["ask"];
type Asked<A extends Ask> = Omit<Extract<FrontQuestion, { ask: A }>, "id" | "ask">;
type Answered<A extends Ask> = Extract<FrontAnswer, { ok: true; ask: A }>;
type Waiting = {
  ask: Ask;
  resolve: (answer: FrontAnswer & { ok: true }) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
};

const readHelloAnswer = reader(FrontHelloAnswer);
const readAnswer = reader(FrontAnswer);
const readForget = reader(FrontForget);
const HELLO: FrontHello = { hello: versionsOf(FRONT_PROTOCOL) };

export class CoordinatorLink implements Disposable {
  readonly #path: string;
  readonly #onForget = new Set<(accessKeyIds: readonly string[] | "all") => void>();
  readonly #waiting = new Map<number, Waiting>();
  #socket: Socket | null = null;
  #hasMet = false;
  #pending = "";
  #nextId = 1;
  /** Of the connection that there is. */
  #agreed = Promise.withResolvers<number>();

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws CoordinatorUnavailable also after `timeoutMs` */
  ask<A extends Ask>(ask: A, question: Asked<A>, timeoutMs: number): Promise<Answered<A>> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Answered<A>>();
    const timer = setTimeout(() => this.#fail(id, `no answer in ${timeoutMs} ms`), timeoutMs);
    this.#waiting.set(id, {
      ask,
      timer,
      resolve: (answer) => resolve(answer as Answered<A>),
      reject,
    });
    this.#connected().write(`${JSON.stringify({ id, ask, ...question })}\n`);
    return promise;
  }

  /** The protocol's version that was agreed on with the coordinator that is there now. @throws CoordinatorUnavailable also after `timeoutMs` */
  async version(timeoutMs: number): Promise<number> {
    this.#connected();
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(new CoordinatorUnavailable(`no version in ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      return await Promise.race([this.#agreed.promise, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Calls `forget` for access keys that are gone, and with `all` where a connection comes after another one: what was told between them was not heard. */
  onForget(forget: (accessKeyIds: readonly string[] | "all") => void): void {
    this.#onForget.add(forget);
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }

  #connected(): Socket {
    if (this.#socket !== null) return this.#socket;
    const socket = connect(this.#path);
    // What is asked follows at once: a coordinator that speaks no such version answers nothing of it.
    socket.write(`${JSON.stringify(HELLO)}\n`);
    this.#socket = socket;
    this.#pending = "";
    const agreed = Promise.withResolvers<number>();
    agreed.promise.catch(() => {});
    this.#agreed = agreed;
    let why = "the connection ended";
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      try {
        this.#receive(text);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on("error", (error) => {
      why = error.message;
    });
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = null;
      agreed.reject(new CoordinatorUnavailable(`the coordinator does not say: ${why}`));
      for (const id of this.#waiting.keys()) this.#fail(id, why);
    });
    return socket;
  }

  #receive(text: string): void {
    const lines = (this.#pending + text).split("\n");
    this.#pending = lines.pop() ?? "";
    if (this.#pending.length > MAX_FRONT_LINE_BYTES)
      throw new RangeError("the coordinator's answer is too long");
    for (const line of lines) {
      const value: unknown = JSON.parse(line);
      const hello = readHelloAnswer(value);
      if (hello?.hello === "refused") throw new TypeError(`${hello.code}: ${hello.message}`);
      if (hello !== null) {
        this.#agreed.resolve(hello.protocol);
        if (this.#hasMet) this.#forget("all");
        this.#hasMet = true;
        continue;
      }
      const told = readForget(value);
      if (told !== null) {
        this.#forget(told.forget);
        continue;
      }
      const answer = readAnswer(value);
      if (answer === null) throw new TypeError("the coordinator's answer is none");
      const waiting = this.#waiting.get(answer.id);
      if (waiting === undefined) continue;
      if (!answer.ok) this.#fail(answer.id, answer.message);
      else if (answer.ask !== waiting.ask)
        throw new TypeError("the coordinator answered another question");
      else this.#settle(answer.id)?.resolve(answer);
    }
  }

  #forget(accessKeyIds: readonly string[] | "all"): void {
    for (const forget of this.#onForget) forget(accessKeyIds);
  }

  #fail(id: number, why: string): void {
    this.#settle(id)?.reject(new CoordinatorUnavailable(`the coordinator does not say: ${why}`));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}
