/**
 * Answers that wait on the disk until they are posted: `<id>.body`, and then `<id>.json`, with which it counts. What is kept outlives a kill and a power
 * cut, until it is removed.
 */
import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { createReadStream, type ReadStream } from "node:fs";
import { join } from "node:path";
import { removeLeftovers, replaceFile, syncFolder } from "@resontech/frame/durable-file";
import { type Callback, readCallback } from "./callback.ts";
import { beginSignature, endSignature } from "./callback-signature.ts";
import { type RoomLimits, SpoolRoom } from "./spool-room.ts";

const NAME = /^([0-9a-f-]{36})\.(json|body)$/;

/** No more may wait: the caller is told so, because nobody could be told the answer later. */
export class CallbacksFull extends Error {
  override readonly name = "CallbacksFull";

  constructor() {
    super("as many answers wait to be posted as may");
  }
}

export type Kept = Omit<Callback, "formatVersion" | "signature" | "bytes" | "tries" | "nextAt">;

export class CallbackSpool {
  readonly #folder: string;
  readonly #room: SpoolRoom;
  readonly #callbacks = new Map<string, Callback>();

  private constructor(folder: string, room: SpoolRoom) {
    this.#folder = folder;
    this.#room = room;
  }

  /** What an earlier life kept is there; what it had only begun to keep is gone. @param onError of a file that is none of ours */
  static async open(
    folder: string,
    onError: (error: unknown) => void,
    limits?: { all: RoomLimits; each: RoomLimits },
  ): Promise<CallbackSpool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftovers(folder);
    const spool = new CallbackSpool(folder, new SpoolRoom(limits));
    const found = (await readdir(folder)).map((name) => NAME.exec(name));
    const ids = new Set(found.flatMap((match) => (match?.[2] === "json" ? [match[1]!] : [])));
    for (const match of found)
      if (match?.[2] === "body" && !ids.has(match[1]!)) await rm(join(folder, match[0]));
    for (const id of ids) await spool.#load(id).catch(onError);
    return spool;
  }

  all(): IterableIterator<Callback> {
    return this.#callbacks.values();
  }

  /** Whether one more answer may wait. */
  hasPlace(deployment: string): boolean {
    return this.#room.hasPlace(deployment);
  }

  /**
   * Durable when it resolves. Where it rejects nothing is left of it.
   * @param secret signs it, and is not kept
   * @throws CallbacksFull, what the disk says, what the body fails with
   */
  async keep(kept: Kept, secret: string, body: AsyncIterable<Uint8Array>): Promise<Callback> {
    const { id, deployment } = kept;
    const room = this.#room;
    if (!room.enter(deployment)) throw new CallbacksFull();
    const hmac = beginSignature(secret, kept);
    let bytes = 0;
    try {
      const file = await open(this.#path(id, "body"), "wx", 0o600);
      try {
        for await (const piece of body) {
          if (!room.grow(deployment, piece.length)) throw new CallbacksFull();
          bytes += piece.length;
          hmac.update(piece);
          await writeAll(file, piece);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      const callback: Callback = {
        ...{ formatVersion: 1, ...kept, signature: endSignature(hmac), bytes },
        ...{ tries: 0, nextAt: Date.now() },
      };
      await this.#write(callback);
      this.#callbacks.set(id, callback);
      return callback;
    } catch (error) {
      room.leave(deployment, bytes);
      await this.#unlink(id);
      throw error;
    }
  }

  /** @throws what the disk says */
  async update(callback: Callback): Promise<void> {
    this.#callbacks.set(callback.id, callback);
    await this.#write(callback);
  }

  read({ id }: Pick<Callback, "id">): ReadStream {
    return createReadStream(this.#path(id, "body"));
  }

  /** It was posted, or is given up. @throws what the disk says */
  async remove({ id, deployment, bytes }: Callback): Promise<void> {
    await this.#unlink(id);
    if (this.#callbacks.delete(id)) this.#room.leave(deployment, bytes);
  }

  /** In this order: a body without a word beside it counts for nothing. */
  async #unlink(id: string): Promise<void> {
    await rm(this.#path(id, "json"), { force: true });
    await rm(this.#path(id, "body"), { force: true });
    await syncFolder(this.#folder);
  }

  async #load(id: string): Promise<void> {
    const file = this.#path(id, "json");
    const callback = readCallback(JSON.parse(await readFile(file, "utf8")));
    if (callback === null || callback.id !== id) throw new Error(`${file} is no callback`);
    this.#callbacks.set(id, callback);
    this.#room.restore(callback.deployment, callback.bytes);
  }

  async #write(callback: Callback): Promise<void> {
    await replaceFile(this.#path(callback.id, "json"), JSON.stringify(callback), 0o600);
  }

  #path(id: string, kind: "json" | "body"): string {
    return join(this.#folder, `${id}.${kind}`);
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    const { bytesWritten } = await file.write(piece, written);
    if (bytesWritten === 0) throw new Error("the disk takes nothing");
    written += bytesWritten;
  }
}
