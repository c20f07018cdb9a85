/**
 * A Unix socket that outlives the part that listens on it: the supervisor binds it and hands it down, so that whoever connects while the part starts
 * anew waits for it and is refused nothing.
 */
import { existsSync, lchownSync, rmSync } from "node:fs";
import { BoundSocket, type BoundSocketOptions } from "node:net";

export class HeldSocket {
  readonly #path: string;
  readonly #owner: { uid: number; gid: number };
  #bound: BoundSocket | null = null;

  /** @param owner who may connect: the group, and the user itself */
  constructor(path: string, owner: { uid: number; gid: number }) {
    this.#path = path;
    this.#owner = owner;
  }

  /**
   * The descriptor to hand down; it is bound at the first call, and anew where somebody took the path away. Its part makes it listen.
   * @throws what the file system says
   */
  fd(): number {
    if (this.#bound !== null && !existsSync(this.#path)) this.close();
    this.#bound ??= this.#bind();
    return this.#bound.fd();
  }

  /**
   * Nobody can connect from here on. A process that ends without it takes the path away at its very end, when the next supervisor may have made
   * the same anew.
   */
  close(): void {
    this.#bound?.close();
    this.#bound = null;
    rmSync(this.#path, { force: true });
  }

  #bind(): BoundSocket {
    // An earlier supervisor's: nobody listens there any more.
    rmSync(this.#path, { force: true });
    // Its types know no path yet.
    const options: BoundSocketOptions & { path: string } = { path: this.#path };
    // The folder is its part's, which may put a link in the socket's place: nothing that follows links is done to the path.
    const before = process.umask(0o117);
    try {
      const bound = new BoundSocket(options);
      lchownSync(this.#path, this.#owner.uid, this.#owner.gid);
      return bound;
    } finally {
      process.umask(before);
    }
  }
}
