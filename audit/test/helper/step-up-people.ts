/** People who sign as they would at Keycloak's page: real ES256 keys, and a file of those that are pinned. */
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ApprovalProof,
  StepUpSignature,
  StepUpStatement,
} from "@resontech/contracts/approval-proof";
import type { StepUpKey, StepUpKeys } from "@resontech/contracts/step-up-keys";
import { stepUpNonce } from "../../src/format/approval/step-up-nonce.ts";

export const ISSUER = "https://appliance.test:8000/realms/resontech";
export const AUDIENCE = "resontech-dashboard";

/** @property by pseudonym in the log; Keycloak's subject is `kc-` and that */
export type Person = { by: string; roles: readonly string[] };
export const ADMIN: Person = { by: "usr-admin", roles: ["platform-admin"] };
export const OFFICER: Person = { by: "usr-officer", roles: ["security-officer"] };
export const STEWARD: Person = { by: "usr-steward", roles: ["data-steward"] };

export type RealmKey = { kid: string; privateKey: KeyObject; publicKey: KeyObject };

export function newRealmKey(kid = "k1"): RealmKey {
  return { kid, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) };
}

export const pinnedKey = (
  { kid, publicKey }: RealmKey,
  notAfter: number | null = null,
): StepUpKey => {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return { kid, x, y, notAfter };
};

/** As the realm signs an ID token. @param changes of claims, and of header */
export function idToken(
  key: RealmKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const whole = { alg: "ES256", typ: "JWT", kid: key.kid, ...header };
  const signed = `${part(whole)}.${part(claims)}`;
  return `${signed}.${signature(key, whole["alg"], signed)}`;
}

function signature({ privateKey, publicKey }: RealmKey, alg: unknown, signed: string): string {
  if (alg === "none") return "AA";
  if (alg === "HS256")
    return createHmac("sha256", publicKey.export({ format: "pem", type: "spki" }))
      .update(signed)
      .digest("base64url");
  return sign("sha256", Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
  }).toString("base64url");
}

/** The realm of a test: one key, and who holds which role. */
export class StepUpPeople {
  readonly key: RealmKey;
  trusted: StepUpKeys;

  constructor(kid?: string) {
    this.key = newRealmKey(kid);
    this.trusted = this.#ofTheTest();
  }

  /**
   * Whom a running appliance believes from now on, beside its own realm: root may write its file. The supervisor gives the key up at its next look, and what
   * was signed before stays good.
   * @param of root of the installation, and the issuer that tokens of its realm name, which the supervisor pins once the realm has a key: the tokens are to be good before and after
   */
  static besideRealm({ root, issuer }: { root: string; issuer: string }): StepUpPeople {
    const file = join(root, "etc", "step-up-keys.json");
    const people = new StepUpPeople(`of-the-test-${randomBytes(6).toString("hex")}`);
    people.trusted = { ...people.trusted, issuer };
    if (existsSync(file)) {
      const pinned = JSON.parse(readFileSync(file, "utf8")) as StepUpKeys;
      people.trusted = { ...pinned, keys: [...pinned.keys, pinnedKey(people.key)] };
    }
    people.pin(file);
    return people;
  }

  #ofTheTest(): StepUpKeys {
    return {
      ...{ issuer: ISSUER, audience: AUDIENCE, keys: [pinnedKey(this.key)] },
      holders: {
        "platform-admin": ["kc-usr-admin"],
        "security-officer": ["kc-usr-officer"],
        "data-steward": ["kc-usr-steward"],
      },
    };
  }

  /** As root pins them. */
  pin(file: string): void {
    rmSync(file, { force: true });
    writeFileSync(file, JSON.stringify(this.trusted), { mode: 0o444 });
  }

  sign(
    { by, roles }: Person,
    statement: Omit<StepUpStatement, "by" | "salt">,
    changes: {
      claims?: object;
      header?: Record<string, unknown>;
      key?: RealmKey;
      atS?: number;
    } = {},
  ): StepUpSignature {
    const salt = randomBytes(32).toString("hex");
    const atS = changes.atS ?? Math.floor(Date.now() / 1000);
    const { issuer: iss, audience } = this.trusted;
    const claims = {
      ...{ iss, aud: audience, azp: audience, typ: "ID", sub: `kc-${by}`, acr: "2" },
      ...{ auth_time: atS, iat: atS, exp: atS + 300, roles },
      nonce: stepUpNonce({ ...statement, by, salt }),
      ...changes.claims,
    };
    return { by, salt, token: idToken(changes.key ?? this.key, claims, changes.header) };
  }

  /** @param approver null: the requester is alone */
  proof(
    what: StepUpStatement["what"],
    {
      requester,
      approver,
      approval = `a_${randomBytes(12).toString("hex")}`,
      atS,
    }: { requester: Person; approver: Person | null; approval?: string; atS?: number },
  ): ApprovalProof {
    const at = atS === undefined ? {} : { atS };
    return {
      approval,
      requested: this.sign(requester, { approval, answer: "request", what }, at),
      approved:
        approver === null ? null : this.sign(approver, { approval, answer: "approve", what }, at),
    };
  }

  policyProof(policy: string, options: { approval?: string; atS?: number } = {}): ApprovalProof {
    return this.proof(
      { kind: "audit-policy", policy },
      { requester: ADMIN, approver: OFFICER, ...options },
    );
  }

  erasureProof(asked: { subject: string; request: string; legalBasis: string }): ApprovalProof {
    const { subject, request, legalBasis } = asked;
    return this.proof(
      { kind: "erasure", subject, request, legalBasis },
      { requester: STEWARD, approver: OFFICER },
    );
  }

  /** An officer's own word. */
  holdProof(subject: string, hold: string): ApprovalProof {
    return this.proof({ kind: "hold", subject, hold }, { requester: OFFICER, approver: null });
  }

  liftProof(subject: string, hold: string): ApprovalProof {
    return this.proof({ kind: "lift", subject, hold }, { requester: STEWARD, approver: OFFICER });
  }

  /** @param origin of the shard */
  disclosureProof(asked: {
    origin: string;
    subjects: readonly string[];
    receiver: string;
  }): ApprovalProof {
    const { origin, subjects, receiver } = asked;
    return this.proof(
      {
        ...{ kind: "disclosure", shard: origin.slice(origin.indexOf("/") + 1) },
        ...{ subjects: [...subjects].sort(), receiver },
      },
      { requester: STEWARD, approver: OFFICER },
    );
  }
}

/** Whom the fixtures of auditd and vault believe. */
export const PEOPLE = new StepUpPeople();

/** Pins {@link PEOPLE} in a folder. @returns the file */
export function pinnedIn(root: string): string {
  const file = join(root, "step-up-keys.json");
  PEOPLE.pin(file);
  return file;
}
