/** Pure: how much may wait. One deployment's receiver that is away leaves room for the others. */

export type RoomLimits = { bytes: number; callbacks: number };
export const ROOM: { all: RoomLimits; each: RoomLimits } = {
  all: { bytes: 1024 ** 3, callbacks: 20_000 },
  each: { bytes: 256 * 1024 ** 2, callbacks: 5_000 },
};

const NONE: Readonly<RoomLimits> = { bytes: 0, callbacks: 0 };

export class SpoolRoom {
  readonly #limits: { all: RoomLimits; each: RoomLimits };
  readonly #all: RoomLimits = { ...NONE };
  readonly #of = new Map<string, RoomLimits>();

  constructor(limits: { all: RoomLimits; each: RoomLimits } = ROOM) {
    this.#limits = limits;
  }

  /** Whether one more may wait. */
  hasPlace(deployment: string): boolean {
    const { all, each } = this.#limits;
    const own = this.#of.get(deployment) ?? NONE;
    return (
      this.#all.callbacks < all.callbacks &&
      own.callbacks < each.callbacks &&
      this.#all.bytes < all.bytes &&
      own.bytes < each.bytes
    );
  }

  /** A place for one, of no bytes yet. @returns false where there is none */
  enter(deployment: string): boolean {
    if (!this.hasPlace(deployment)) return false;
    this.#add(deployment, 0, 1);
    return true;
  }

  /** @returns false where there is no room for them: nothing is taken then */
  grow(deployment: string, bytes: number): boolean {
    const { all, each } = this.#limits;
    const own = this.#of.get(deployment) ?? NONE;
    if (this.#all.bytes + bytes > all.bytes || own.bytes + bytes > each.bytes) return false;
    this.#add(deployment, bytes, 0);
    return true;
  }

  /** One that was there before the limits were asked. */
  restore(deployment: string, bytes: number): void {
    this.#add(deployment, bytes, 1);
  }

  leave(deployment: string, bytes: number): void {
    this.#add(deployment, -bytes, -1);
    if (this.#of.get(deployment)?.callbacks === 0) this.#of.delete(deployment);
  }

  #add(deployment: string, bytes: number, callbacks: number): void {
    const own = this.#of.get(deployment) ?? { ...NONE };
    this.#of.set(deployment, own);
    for (const one of [this.#all, own]) {
      one.bytes += bytes;
      one.callbacks += callbacks;
    }
  }
}
