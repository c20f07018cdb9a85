import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { freePort } from "../../../dev/free-port.ts";
import type { KeycloakPlace } from "../pool-client.ts";
import { RunningKeycloak } from "./running-keycloak.ts";

export type KeycloakLease = {
  place: KeycloakPlace;
  /** Puts it back to what it was, for the next one. */
  end(): Promise<void>;
};

/** What a Keycloak has in its own realm before anybody uses it. */
type Own = { users: ReadonlySet<string>; clients: ReadonlySet<string> };
type Pooled = { keycloak: RunningKeycloak; own: Own };
type Named = { id: string };

/** Keycloaks with TLS towards every caller, as the appliance's, and without our realm: whoever leases one applies it. */
export class KeycloakPool implements AsyncDisposable {
  readonly #max: number;
  readonly #onStart: (pid: number) => void;
  readonly #free: Pooled[] = [];
  readonly #waiting: ((pooled: Pooled) => void)[] = [];
  readonly #all = new Set<RunningKeycloak>();
  #count = 0;
  #isOver = false;

  /** @param max how many there are at most @param onStart told the process of each */
  constructor(max: number, onStart: (pid: number) => void) {
    this.#max = max;
    this.#onStart = onStart;
  }

  async lease(): Promise<KeycloakLease> {
    const pooled = await this.#take();
    const { keycloak } = pooled;
    return {
      place: {
        ...{ port: keycloak.address.port, managementPort: keycloak.managementPort },
        ...{ origin: keycloak.address.origin },
        ...{ certFile: keycloak.certFile, keyFile: keycloak.keyFile },
      },
      end: async () => await this.#giveBack(pooled),
    };
  }

  async #take(): Promise<Pooled> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#count < this.#max) {
      this.#count++;
      return await this.#start().catch((error: unknown) => {
        this.#count--;
        throw error;
      });
    }
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #start(): Promise<Pooled> {
    const origin = `https://localhost:${await freePort()}`;
    const keycloak = await RunningKeycloak.start({ origin, isOurs: true });
    this.#all.add(keycloak);
    this.#onStart(keycloak.pid);
    const [users, clients] = await Promise.all(
      ["users?max=100000", "clients"].map(async (what) => await idsOf(keycloak.admin, what)),
    );
    return { keycloak, own: { users: users!, clients: clients! } };
  }

  /** One that can't be put back is no longer lent. */
  async #giveBack(pooled: Pooled): Promise<void> {
    if (this.#isOver) return;
    try {
      await putBack(pooled);
      this.#pass(pooled);
    } catch (error) {
      process.emitWarning(`a Keycloak of the pool is thrown away: ${String(error)}`);
      this.#all.delete(pooled.keycloak);
      await pooled.keycloak[Symbol.asyncDispose]();
      this.#count--;
      if (this.#waiting.length > 0) this.#pass(await this.#take());
    }
  }

  #pass(pooled: Pooled): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(pooled);
    else next(pooled);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const keycloak of this.#all) await keycloak[Symbol.asyncDispose]();
  }
}

/** Realms go with everything in them: people, sessions, keys, directories, events, counters of wrong passwords. */
async function putBack({ keycloak: { admin }, own }: Pooled): Promise<void> {
  await admin.renew();
  const realms = await admin.get<{ realm: string }[]>("");
  for (const { realm } of realms) if (realm !== "master") await admin.delete(`/${realm}`);
  for (const [what, kept] of [
    ["users?max=100000", own.users],
    ["clients", own.clients],
  ] as const)
    for (const id of await idsOf(admin, what))
      if (!kept.has(id)) await admin.delete(`/master/${what.split("?")[0]}/${id}`);
  await admin.delete("/master/attack-detection/brute-force/users");
}

async function idsOf(admin: KeycloakAdmin, what: string): Promise<Set<string>> {
  const found = await admin.get<Named[]>(`/master/${what}`);
  return new Set(found.map(({ id }) => id));
}
