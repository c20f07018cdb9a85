/**
 * A part of an installed appliance, run from this tree in the place of the installed program: by the same definition, so under the same user, with the
 * same flags and configuration. The supervisor holds the part meanwhile. The pid file is the supervisor's own as well: where this program is killed,
 * `appliance start` ends what it left.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Layout } from "@resontech/frame/layout";
import { requireParts, startParts, stopParts } from "@resontech/appliance/planned-stop";
import { startRecorded, stopRecorded } from "@resontech/appliance/recorded-parts";
import type { PartContext } from "@resontech/appliance/part-context";
import type { Part, Running } from "@resontech/appliance/supervised-part";
import { partsOf } from "@resontech/appliance/supervise";
import type { ProgramFolder } from "./program-folder.ts";

const HOLD_MS = 60_000;
const LOOK_MS = 50;

export class DevelopedPart {
  readonly #context: PartContext;
  readonly #part: Part;
  readonly #folder: ProgramFolder;
  #running: Running | null = null;

  private constructor(context: PartContext, part: Part, folder: ProgramFolder) {
    this.#context = context;
    this.#part = part;
    this.#folder = folder;
  }

  /** Takes the part from the supervisor, on record. @throws PartsError, AuditUnavailable, Error when the appliance has no such part */
  static async take(
    context: PartContext,
    name: string,
    folder: ProgramFolder,
  ): Promise<DevelopedPart> {
    const { layout } = context;
    const here = new LayoutOfTree(layout, folder);
    const part = partsOf({ ...context, layout: here }).find((one) => one.name === name);
    if (part === undefined) throw new Error(`this tree has no part ${name}`);
    await requireParts(context, [name]);
    try {
      await stopRecorded(context, [name], (named) => stopParts(context, named, HOLD_MS));
    } catch (error) {
      // It may be held by now, and nobody would start it again.
      await startParts(context, [name]);
      throw error;
    }
    return new DevelopedPart(context, part, folder);
  }

  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  /**
   * Starts it anew with what is compiled now.
   * @returns milliseconds until it answered; null when it ended instead, or did not answer in time
   */
  async restart(): Promise<number | null> {
    const beganAt = performance.now();
    await this.#end();
    this.#folder.refresh();
    await this.#part.endLeftover();
    await this.#part.prepare?.();
    const running = await this.#part.start();
    this.#running = running;
    const ended = running.exited.then(() => "ended" as const);
    while (performance.now() - beganAt < this.#part.startTimeoutMs) {
      const look = this.#part.isHealthy().catch(() => false);
      const seen = await Promise.race([ended, look]);
      if (seen === true) return Math.round(performance.now() - beganAt);
      if (seen === "ended") return null;
      await sleep(LOOK_MS);
    }
    return null;
  }

  /** Resolves with how the program ended that runs now. */
  get ended(): Promise<string> {
    return this.#running?.exited ?? new Promise(() => undefined);
  }

  /** Ends it, and lets the supervisor start the installed one. @throws PartsError when the supervisor is gone */
  async giveBack(): Promise<void> {
    await this.#end();
    this.#part.giveUp?.();
    await startRecorded(this.#context, [this.#part.name], (named) =>
      startParts(this.#context, named),
    );
  }

  async #end(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    // Whoever waits for an end sees by this that it was meant.
    this.#running = null;
    running.stop();
    const timer = setTimeout(() => running.kill(), this.#part.stopGraceMs);
    await running.exited;
    clearTimeout(timer);
  }
}

/** The appliance's own paths, but for programs of ours and the Node that runs them. */
class LayoutOfTree extends Layout {
  readonly #folder: ProgramFolder;

  constructor({ root, instance }: Layout, folder: ProgramFolder) {
    super(root, instance);
    this.#folder = folder;
  }

  override release(...path: string[]): string {
    const [first, second] = path;
    if (first === "bin" && second === "node") return this.#folder.node;
    if (first !== "app") return super.release(...path);
    return [this.#folder.app, ...path.slice(1)].join("/");
  }
}
