/** What of an appliance a restore replaces, and what of it stays. Pure. */

/** Of `data/`: a release's images and the container engine's store are no state of the appliance. */
const ALWAYS_STAYS = ["registry", "podman", "backup"];
/**
 * Of `data/`, where the host is the one that the backup was taken of: what others have seen of its log, its node's identity, and the vault with its keys.
 * A vault that is put back to an older state would need its holds confirmed again.
 */
const STAYS_AT_HOME = [
  ...["audit-out", "supervisor", "agent", "keycloak"],
  ...["vault", "vault-keys", "vault-epochs", "vault-key-copies"],
];
/** Of the vault's parts none can be opened without the keys that stayed on another host. */
const VAULT = ["vault", "vault-key-copies"];
/** Below `etc/`. */
const KEYS_AT_HOME = ["secrets/auditd", "secrets/vault"];

export type PutBackPlan = {
  /** The log on this host is signed by the same keys. */
  isHome: boolean;
  /** Of `data/`: what is put aside. */
  aside: string[];
  /** Of `data/`: what takes its place. */
  in: string[];
  /** Below `etc/`: what stays of the configuration that is put aside. */
  carried: string[];
};

/**
 * @param unkept of `data/`: what of declared parts is in no backup
 * @param here names in `data/` now
 * @param staged names in the backup's `data/`
 */
export function putBackPlan(
  here: readonly string[],
  staged: readonly string[],
  { isHome, unkept }: { isHome: boolean; unkept: readonly string[] },
): PutBackPlan {
  const stays = new Set(isHome ? [...ALWAYS_STAYS, ...STAYS_AT_HOME, ...unkept] : ALWAYS_STAYS);
  const isIn = (name: string): boolean =>
    isHome ? !(stays.has(name) && here.includes(name)) : !VAULT.includes(name);
  return {
    isHome,
    aside: here.filter((name) => !stays.has(name)),
    in: staged.filter(isIn),
    carried: isHome ? KEYS_AT_HOME : [],
  };
}

/** Whether two policies of the log name one key for one origin. @param policies texts of `audit.policy` */
export function hasSameLogKey(one: string, other: string): boolean {
  const keysOf = (policy: string): Set<string> =>
    new Set(policy.split("\n").filter((line) => line.startsWith("log ")));
  const [mine, theirs] = [keysOf(one), keysOf(other)];
  return [...mine].some((line) => theirs.has(line));
}

/** Of the configuration, what belongs to the host and not to the appliance. */
export type OfTheHost = {
  instance: unknown;
  address: unknown;
  ports: unknown;
  containerEngine: unknown;
  hostTools?: unknown;
};

/** The backup's configuration on this host. */
export function configOnHost<T extends OfTheHost>(staged: T, here: T): T {
  const { instance, address, ports, containerEngine, hostTools } = here;
  const { hostTools: _other, ...rest } = staged;
  return {
    ...rest,
    ...{ instance, address, ports, containerEngine },
    ...(hostTools === undefined ? {} : { hostTools }),
  } as T;
}
