import { type KeycloakAdmin, KeycloakRefusedError } from "@resontech/keycloak/admin-api";
import { freePort } from "../network/free-port.ts";
import type { KeycloakPlace } from "../pool-client.ts";
import { RealmState } from "./realm-state.ts";
import { RunningKeycloak } from "./running-keycloak.ts";
import { applyRealmOfNobody } from "./started-keycloak.ts";

export type KeycloakLease = {
  place: KeycloakPlace;
  /** Puts it back to what it was, for the next one. */
  end(): Promise<void>;
};

/** What a Keycloak has before anybody uses it: in its own realm kind → ids, and the settings; and all of ours. */
type Own = {
  ids: ReadonlyMap<Kind, ReadonlySet<string>>;
  settings: object;
  ours: RealmState;
};
type Pooled = { keycloak: RunningKeycloak; own: Own };

const MASTER = "master";
const OURS = "resontech";

/** Kinds of what a realm holds, by their paths; one of a kind goes with its id or, where it has none below its path, its alias. */
const KINDS = ["users", "clients", "groups", "components", "identity-provider/instances"] as const;
type Kind = (typeof KINDS)[number];

/** Keycloaks with TLS towards every caller, as the appliance's, and with our realm for nobody: whoever leases one applies it with keys of its own. */
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
    return { keycloak, own: await ownOf(keycloak.admin) };
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

async function ownOf(admin: KeycloakAdmin): Promise<Own> {
  const ids = new Map<Kind, ReadonlySet<string>>();
  for (const kind of KINDS) ids.set(kind, await idsOf(admin, kind));
  const settings = await admin.get<object>(`/${MASTER}`);
  return { ids, settings, ours: await RealmState.read(admin, OURS) };
}

/**
 * Other realms go with everything in them: people, sessions, keys, directories, events, counters of wrong passwords. Ours is put back, and made anew
 * where anything of it is another then: that takes 3 to 5 s of CPU, most of it for keys.
 */
async function putBack(pooled: Pooled): Promise<void> {
  const { own, keycloak } = pooled;
  const { admin, address } = keycloak;
  await admin.renew();
  const isOurs = await isPutBack(own.ours);
  const realms = await admin.get<{ realm: string }[]>("");
  for (const { realm } of realms)
    if (realm !== MASTER && !(realm === OURS && isOurs)) await admin.delete(`/${realm}`);
  for (const [kind, kept] of own.ids)
    for (const id of await idsOf(admin, kind))
      if (!kept.has(id)) await admin.delete(`/master/${kind}/${id}`);
  await admin.put("/master", own.settings);
  await admin.delete("/master/events");
  await admin.delete("/master/attack-detection/brute-force/users");
  if (isOurs) return;
  await applyRealmOfNobody(admin, address.origin);
  await admin.renew();
  pooled.own = await ownOf(admin);
}

/** What Keycloak refuses of the way back is no way back. */
async function isPutBack(state: RealmState): Promise<boolean> {
  try {
    return await state.putBack();
  } catch (error) {
    if (error instanceof KeycloakRefusedError) return false;
    throw error;
  }
}

async function idsOf(admin: KeycloakAdmin, kind: Kind): Promise<Set<string>> {
  const found = await admin.get<{ id: string; alias?: string }[]>(`/master/${kind}?max=100000`);
  return new Set(found.map(({ id, alias }) => alias ?? id));
}
