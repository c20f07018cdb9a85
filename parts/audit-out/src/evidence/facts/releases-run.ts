/** Which releases ran: the coordinator's version at each start, what was installed, what nodes came with. Pure. */
import { type Operation, placeText } from "../operations/operation.ts";

export type ReleaseRun = { what: string; release: string; since: string; entry: string };

export class ReleasesRun {
  readonly #within = new Map<string, ReleaseRun>();
  readonly #before = new Map<string, ReleaseRun>();

  note(operation: Operation, when: "before" | "within"): void {
    const { type, object, detail, result, entry, askedAt } = operation;
    const told = (what: string, release: unknown): void => {
      if (typeof release !== "string" || result === "failed" || result === "refused") return;
      const run = { what, release, since: askedAt, entry: placeText(entry) };
      if (when === "before") this.#before.set(what, run);
      else if (!this.#within.has(`${what} ${release}`)) this.#within.set(`${what} ${release}`, run);
    };
    if (type === "admin.coordinator.start") told("coordinator", detail["version"]);
    if (type === "admin.install") told("release.json (SHA-256)", detail["release_sha256"]);
    if (type === "iam.node.register") told(`node ${object.id}`, detail["release"]);
  }

  /** What ran when the period began, then what came within it. */
  get runs(): ReleaseRun[] {
    return [...this.#before.values(), ...this.#within.values()];
  }
}
