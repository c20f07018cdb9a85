import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { freePort } from "../network/free-port.ts";
import type { KeycloakPlace } from "../pool-client.ts";
import { RunningKeycloak } from "./running-keycloak.ts";

export type KeycloakLease = {
  place: KeycloakPlace;
  /** Puts it back to what it was, for the next one. */
  end(): Promise<void>;
};

/** What a Keycloak has in its own realm before anybody uses it: kind → ids, and the settings. */
type Own = { ids: ReadonlyMap<Kind, ReadonlySet<string>>; settings: object };
type Pooled = { keycloak: RunningKeycloak; own: Own };

/** Kinds of what a realm holds, by their paths; one of a kind goes with its id or, where it has none below its path, its alias. */
const KINDS = ["users", "clients", "groups", "components", "identity-provider/instances"] as const;
type Kind = (typeof KINDS)[number];

/** Keycloaks with TLS towards every caller, as the appliance's, and without our realm: whoever leases one applies it. */
export class KeycloakPool implements AsyncDisposable {
  readonly #max: number;
  readonly #onStart: (pid: number) => void;
  readonly #free: Pooled[] = [];
  readonly #waiting: PromiseWithResolvers<Pooled>[] = [];
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
    const turn = Promise.withResolvers<Pooled>();
    this.#waiting.push(turn);
    return await turn.promise;
  }

  async #start(): Promise<Pooled> {
    const origin = `https://localhost:${await freePort()}`;
    const keycloak = await RunningKeycloak.start({ origin, isOurs: true });
    this.#all.add(keycloak);
    if (this.#isOver) {
      await keycloak[Symbol.asyncDispose]();
      throw new Error("the pool is closed");
    }
    this.#onStart(keycloak.pid);
    const { admin } = keycloak;
    const ids = new Map<Kind, ReadonlySet<string>>();
    for (const kind of KINDS) ids.set(kind, await idsOf(admin, kind));
    return { keycloak, own: { ids, settings: await admin.get<object>("/master") } };
  }

  /** One that can't be put back is no longer lent. */
  async #giveBack(pooled: Pooled): Promise<void> {
    if (this.#isOver) return;
    try {
      await putBack(pooled);
      this.#pass(pooled);
    } catch (error) {
      if (this.#isOver) return;
      process.emitWarning(`a Keycloak of the pool is thrown away: ${String(error)}`);
      this.#all.delete(pooled.keycloak);
      await pooled.keycloak[Symbol.asyncDispose]();
      this.#count--;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#take().then(next.resolve, next.reject);
    }
  }

  #pass(pooled: Pooled): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(pooled);
    else next.resolve(pooled);
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
  for (const [kind, kept] of own.ids)
    for (const id of await idsOf(admin, kind))
      if (!kept.has(id)) await admin.delete(`/master/${kind}/${id}`);
  await admin.put("/master", own.settings);
  await admin.delete("/master/events");
  await admin.delete("/master/attack-detection/brute-force/users");
}

async function idsOf(admin: KeycloakAdmin, kind: Kind): Promise<Set<string>> {
  const found = await admin.get<{ id: string; alias?: string }[]>(`/master/${kind}?max=100000`);
  return new Set(found.map(({ id, alias }) => alias ?? id));
}
