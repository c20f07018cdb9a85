/** How the members of an attempt reach one another and nobody else. Several nodes, and collectives, have implementations of their own. */

/** Where a member stands in its attempt; `index` is null for the server. */
export type Place = { attempt: string; index: number | null; serverName: string };

export type Attachment = {
  network: string;
  address: string;
  /** Names that the container knows without asking anybody. */
  hosts: { name: string; address: string }[];
};

export type JobNetwork = {
  /** Makes the attempt's network; safe to repeat. */
  create(attempt: string): Promise<void>;
  connect(place: Place): Promise<Attachment>;
  /**
   * Throws unless the network has no way out and the host is closed to it.
   * @param pid a process of the container, once it runs: what it sees itself is looked at too
   */
  prove(attempt: string, pid?: number): Promise<void>;
  /** Removes it unless a member is still on it; true when it is gone. */
  remove(attempt: string): Promise<boolean>;
  /** Attempts that have a network here. */
  attempts(): Promise<string[]>;
};

/** The attempt's network has a way out. */
export class NetworkNotClosedError extends Error {
  readonly code = "network_not_closed";
}
