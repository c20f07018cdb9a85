/** An entry of the calendar, made, moved and called off by the operator's own commands. */
import type { LocalAppliance } from "@resontech/house/local-appliance";

type Times = { from?: number; until?: number };

export class Announced implements AsyncDisposable {
  readonly id: string;
  readonly #appliance: LocalAppliance;
  readonly #kind: "maintenance" | "reservations";
  #isOver = false;

  private constructor(appliance: LocalAppliance, kind: "maintenance" | "reservations", id: string) {
    this.#appliance = appliance;
    this.#kind = kind;
    this.id = id;
  }

  /** @param project that a reservation is for; null: maintenance. Times are Unix milliseconds. */
  static async make(
    appliance: LocalAppliance,
    {
      project,
      node,
      reason,
      ...times
    }: Required<Times> & {
      project: string | null;
      node: string;
      reason: string;
    },
  ): Promise<Announced> {
    const kind = project === null ? "maintenance" : "reservations";
    const said = await appliance.command([
      ...[kind, "add", ...(project === null ? [] : [project]), "--nodes", node],
      ...[...flagsOf(times), "--reason", reason, "--json"],
    ]);
    return new Announced(appliance, kind, (JSON.parse(said) as { id: string }).id);
  }

  async move(times: Times): Promise<void> {
    await this.#appliance.command([this.#kind, "set", this.id, ...flagsOf(times)]);
  }

  async callOff(): Promise<void> {
    this.#isOver = true;
    await this.#appliance.command([this.#kind, "rm", this.id]);
  }

  /** It came to its end by itself. */
  isPast(): void {
    this.#isOver = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) await this.callOff();
  }
}

function flagsOf(times: Times): string[] {
  return Object.entries(times).flatMap(([end, at]) => [`--${end}`, new Date(at).toISOString()]);
}
