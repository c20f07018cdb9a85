/** How the members of an attempt reach one another and nobody else. Collectives will have an implementation of their own. */
import type { MemberBridge, MemberNetwork } from "@resontech/contracts/agent-protocol";

/** Where a member stands in its attempt. */
export type Place = {
  attempt: string;
  member: string;
  network: MemberNetwork;
  /** To the attempt's other nodes; null when this member needs none. */
  bridge: MemberBridge | null;
};

export type Attachment = {
  network: string;
  address: string;
  /** Names that the container knows without asking anybody. */
  hosts: { name: string; address: string }[];
};

export type JobNetwork = {
  /** Makes the attempt's network; safe to repeat. */
  create(attempt: string): Promise<void>;
  /** Gives the member its place, and begins its bridge; safe to repeat, also with another bridge, which is then followed. */
  connect(place: Place): Promise<Attachment>;
  /** Ends the member's bridge, and every connection over it, unless another member needs it; safe to repeat. */
  disconnect(attempt: string, member: string): Promise<void>;
  /**
   * Throws unless the network has no way out and the host is closed to it but for the bridges of its members.
   * @param pid a process of the container, once it runs: what it sees itself is looked at too
   */
  prove(attempt: string, pid?: number): Promise<void>;
  /** Removes it unless a member is still on it; true when it is gone. */
  remove(attempt: string): Promise<boolean>;
  /** Attempts that have a network here. */
  attempts(): Promise<string[]>;
  /** Closes what a former process had opened for bridges; members that go on open theirs again. */
  seal(): Promise<void>;
  /** Whether the host was still closed to every network here; what was open is closed again. @throws when it can't be closed */
  keepClosed(): Promise<boolean>;
};
