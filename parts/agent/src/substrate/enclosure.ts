/**
 * What a substrate holds of one member under one fence: its files, its devices, its place in the attempt's network, and what runs. The calls
 * come in the order in which they stand here. Each is safe to repeat, and a new process goes on with an enclosure that a killed one had made.
 */
import type { DesiredMember, MemberBridge, MemberEvent } from "@resontech/contracts/agent-protocol";
import type { RunUsage } from "../decisions/run-usage.ts";
import type { Area } from "./area.ts";

/** What a member is, as far as a substrate must know. */
export type Work = Pick<
  DesiredMember,
  "member" | "attempt" | "fence" | "image" | "resources" | "payload" | "inputs"
>;

/** What a substrate must know again after a kill; it goes into the member's record as it is, and back. */
export type Kept = Readonly<Record<string, unknown>>;

export type ImageRequest = {
  /** Asked for only where the image must be fetched: it is used up. */
  login: () => Promise<{ username: string; password: string }>;
  onProgress: () => void;
};

/** How what ran has ended. */
export type End = { exitCode: number; oomKilled: boolean };

/** What runs, or has run. */
export interface Run {
  /** Asked several times a second: it costs next to nothing. */
  isRunning(): boolean;
  /** Nothing of what has ended. */
  usage(): RunUsage;
  /** All memory that counts to the limit, asked each second; null where it is not known. */
  memoryBytes(): number | null;
  /** @throws EnclosureFailedError when the substrate does not know of an end */
  end(until: AbortSignal): Promise<End>;
}

/** Each is true only once it was looked at and found so. */
export type Proof = Omit<Extract<MemberEvent, { kind: "released" }>, "kind">;

/**
 * `until`: a call that waits for a substrate which is away ends with the signal's reason. Calls without one try once.
 * Every call may throw {@link SubstrateRefusedError}.
 */
export interface Enclosure {
  /** To be noted, durable, after {@link reserve}, {@link claimDevices} and {@link start}, before the next call. */
  readonly kept: Kept;
  readonly area: Area;
  /**
   * Chooses what the member alone has of a range: at once, so that no other one chooses it too.
   * @param others what is kept of all other members
   */
  reserve(others: readonly Kept[]): void;
  /** Whether what shall run was made before. It is then started as it is; nothing is staged again. */
  isMade(until: AbortSignal): Promise<boolean>;
  /** @throws DevicesNotFreeError */
  claimDevices(): Promise<void>;
  /** An empty area of the size that the work asks for; what a killed process left half done goes. */
  makeArea(): Promise<void>;
  /**
   * The image by its digest; true when it had to be fetched.
   * @throws ImageNotHadError
   */
  haveImage(wishes: ImageRequest, until: AbortSignal): Promise<boolean>;
  /** Makes the attempt's network. */
  makeNetwork(until: AbortSignal): Promise<void>;
  /** Gives the member its place there and begins its bridge to the attempt's other nodes. Another bridge than before is followed. */
  connect(bridge: MemberBridge | null, until: AbortSignal): Promise<void>;
  /**
   * That the network has no way out but the bridges of its members. Once {@link observe} has seen it run, as it looks from inside too.
   * @throws NetworkNotClosedError
   */
  proveClosed(): Promise<void>;
  /**
   * Starts what was not started before.
   * @returns what the substrate calls it
   * @throws EnclosureFailedError
   */
  start(until: AbortSignal): Promise<string>;
  /** @throws EnclosureFailedError when there is nothing */
  observe(until: AbortSignal): Promise<Run>;
  /** `terminate` asks, `kill` does not; nothing happens when it has ended. */
  signal(what: "terminate" | "kill", until: AbortSignal): Promise<void>;
  /** The quickest end there is, of the bridge and of what runs. It throws nothing: what it does not reach is released. */
  abort(): Promise<void>;
  /** Gives everything back, and says what was found to be. It throws nothing; repeated until all is proven. */
  release(): Promise<Proof>;
}
