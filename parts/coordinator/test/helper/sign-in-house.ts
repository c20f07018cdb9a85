import { createHmac, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { askKeycloak } from "@resontech/keycloak/address";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { realmDefinition } from "@resontech/keycloak/realm-definition";
import { shippedProgram } from "@resontech/house/shipped-program";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { ApprovalEffects } from "../../src/approvals/approval-effects.ts";
import { ApprovalChanges } from "../../src/approvals/approval-changes.ts";
import { Approvals } from "../../src/approvals/approvals.ts";
import { RoleChanges } from "../../src/approvals/role-changes.ts";
import { ChangedPolicies } from "../../src/policy-trial/changed-policies.ts";
import { AccountLinks } from "../../src/identity/accounts/account-links.ts";
import { CoordinatorAdmin } from "../../src/identity/accounts/coordinator-admin.ts";
import { KeycloakAccounts } from "../../src/identity/accounts/keycloak-accounts.ts";
import { DashboardFiles } from "../../src/http/pages/dashboard-files.ts";
import { ServiceClients } from "../../src/identity/accounts/service-clients.ts";
import { ServiceAccounts } from "../../src/identity/service-accounts/service-accounts.ts";
import { listenOnSocket } from "../../src/http/listen-on-socket.ts";
import { requestRoleOnRecord } from "../../src/identity/directories/request-role.ts";
import { PersonSessions } from "../../src/identity/sign-in/person-sessions.ts";
import { OpenIdProvider } from "../../src/identity/sign-in/open-id-provider.ts";
import { Seal } from "../../src/identity/seal.ts";
import { Sessions } from "../../src/identity/sign-in/sessions.ts";
import { SignIn } from "../../src/identity/sign-in/sign-in.ts";
import { type S3Engine, startS3Engine } from "./s3-engine.ts";
import { type IdentityParts, makeTestApp, type TestApp } from "./test-app.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** One request of a person. */
export type SignedInPerson = (
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "PATCH",
  url: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Record<string, unknown> }>;

/** A person whom Keycloak knows. */
export type Account = { username: string; password: string };

/** The real front door, the coordinator's HTTP app behind it, and a real Keycloak with our realm: all that a browser meets. */
export class SignInHouse implements AsyncDisposable {
  readonly origin: string;
  readonly caFile: string;
  readonly api: TestApp;
  readonly parts: IdentityParts;
  readonly accounts: KeycloakAccounts;
  /** What the coordinator itself may do at Keycloak. */
  readonly coordinator: CoordinatorAdmin;
  readonly keycloak: RunningKeycloak;
  readonly engine: S3Engine;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    api: TestApp,
    parts: IdentityParts,
    accounts: KeycloakAccounts,
    coordinator: CoordinatorAdmin,
    keycloak: RunningKeycloak,
    engine: S3Engine,
    cleanup: AsyncDisposableStack,
  ) {
    this.origin = keycloak.address.origin;
    this.caFile = keycloak.certFile;
    this.api = api;
    this.parts = parts;
    this.accounts = accounts;
    this.coordinator = coordinator;
    this.keycloak = keycloak;
    this.engine = engine;
    this.#cleanup = cleanup;
  }

  static async open(): Promise<SignInHouse> {
    await using stack = new AsyncDisposableStack();
    const dir = mkdtempSync(join(tmpdir(), "rt-house-"));
    stack.defer(() => rmSync(dir, { recursive: true, force: true }));
    const keycloak = stack.use(await RunningKeycloak.lease());
    const port = Number(new URL(keycloak.address.origin).port);
    const [dashboard, coordinator] = [newKey(), newKey()];
    await applyRealm(
      keycloak.admin,
      realmDefinition(
        readFileSync(
          join(import.meta.dirname, "..", "..", "..", "..", "policies", "realm.json"),
          "utf8",
        ),
        {
          origin: keycloak.address.origin,
          jwks: {
            dashboard: jwksOf(dashboard.publicKey, "resontech-dashboard"),
            coordinator: jwksOf(coordinator.publicKey, "resontech-coordinator"),
          },
        },
      ),
    );
    await keycloak.admin.renew();
    const engine = await startS3Engine(dir);
    stack.defer(() => engine.close());
    const provider = await OpenIdProvider.open({
      address: keycloak.address,
      realm: "resontech",
      clientKeyPem: dashboard.privateKey.export({ type: "pkcs8", format: "pem" }),
    });
    const admin = new CoordinatorAdmin({
      ...{ address: keycloak.address, realm: "resontech" },
      clientKeyPem: coordinator.privateKey.export({ type: "pkcs8", format: "pem" }),
    });
    const accounts = new KeycloakAccounts(admin);
    const seal = new Seal(randomBytes(32));
    const pages = DashboardFiles.load(join(dirname(shippedProgram("coordinator")), "dashboard"));
    const api = await makeTestApp(
      join(dir, "app"),
      engine,
      { publicUrl: keycloak.address.origin, dashboard: pages },
      (deps) => {
        const requestRole = requestRoleOnRecord(deps.record, deps.now);
        const sessions = new Sessions({
          ...{ ...deps, provider, seal, accounts, requestRole },
          onError: (error, what) => process.emitWarning(`${what}: ${String(error)}`),
        });
        const quotaBytes = 1024 ** 3;
        const changes = new ApprovalChanges(deps);
        const signIn = new SignIn({
          ...{ ...deps, provider, sessions, seal, accounts, quotaBytes },
          onSigned: (approval) => changes.note(approval),
        });
        const links = new AccountLinks({
          ...{ ...deps, accounts },
          onError: (error) => {
            throw error;
          },
        });
        const roleChanges = new RoleChanges({
          ...{ ...deps, links, sessions },
          onError: (error, what) => process.emitWarning(`${what}: ${String(error)}`),
        });
        const effects = new ApprovalEffects({
          ...{ ...deps, links, sessions, roleChanges },
          policies: new ChangedPolicies(join(dir, "policies")),
        });
        const approvals = new Approvals({ ...deps, effects, changes });
        const clients = new ServiceClients(admin);
        const serviceAccounts = new ServiceAccounts({ ...deps, clients, seal });
        const personSessions = new PersonSessions({ ...deps, sessions, accounts });
        return {
          ...{ provider, sessions, signIn, links, approvals, roleChanges },
          ...{ serviceAccounts, personSessions, accounts },
        };
      },
    );
    stack.defer(() => api.identity?.links[Symbol.dispose]());
    stack.defer(() => api.close());
    if (api.identity === null) throw new Error("the app has no identity");
    const socket = join(dir, "api.sock");
    await listenOnSocket(api.app, socket);
    stack.use(
      await RunningDoor.start(
        join(dir, "door"),
        { caFile: keycloak.certFile, certFile: keycloak.certFile, keyFile: keycloak.keyFile },
        {
          ...{ port, coordinatorSocket: socket },
          keycloak: { port: keycloak.address.port, caFile: keycloak.certFile },
        },
      ),
    );
    return new SignInHouse(api, api.identity, accounts, admin, keycloak, engine, stack.move());
  }

  get admin(): KeycloakAdmin {
    return this.keycloak.admin;
  }

  /** @param mustChange at the first sign-in */
  async addAccount(
    username: string,
    roles: readonly string[] = [],
    mustChange = false,
  ): Promise<Account & { subject: string }> {
    const password = randomBytes(18).toString("base64url");
    const subject = await this.admin.post("/resontech/users", {
      ...{ username, enabled: true },
      credentials: [{ type: "password", value: password, temporary: mustChange }],
    });
    if (subject === null) throw new Error(`keycloak has a user ${username} already`);
    const all = await this.admin.get<{ id: string; name: string }[]>("/resontech/roles");
    const given = all.filter(({ name }) => roles.includes(name));
    if (given.length > 0)
      await this.admin.post(`/resontech/users/${subject}/role-mappings/realm`, given);
    return { username, password, subject };
  }

  /** Somebody who has set up a code generator. @property secret base32, for {@link timeCode} @param hash SHA-256 of a release before */
  async addCodeAccount(
    username: string,
    roles: readonly string[],
    hash: CodeHash = "sha1",
  ): Promise<Account & { subject: string; secret: string }> {
    const account = await this.addAccount(username, roles);
    const secret = Array.from(randomBytes(32), (byte) => BASE32[byte % 32]).join("");
    const settings = { subType: "totp", digits: 6, counter: 0, period: 30 };
    const user = await this.admin.get<object>(`/resontech/users/${account.subject}`);
    await this.admin.put(`/resontech/users/${account.subject}`, {
      ...user,
      credentials: [
        {
          ...{ type: "otp", secretData: JSON.stringify({ value: secret }) },
          credentialData: JSON.stringify({
            ...{
              ...settings,
              algorithm: hash === "sha1" ? "HmacSHA1" : "HmacSHA256",
              secretEncoding: "BASE32",
            },
          }),
        },
      ],
    });
    return { ...account, secret };
  }

  /** The person's user exists from then on. Without a browser: what Keycloak would say of the person. */
  async firstSignIn({ username, subject }: Account & { subject: string }): Promise<string> {
    return await this.parts.signIn.userOf({ username, subject });
  }

  /** Tokens that Keycloak really signs, and that the API must not take: what each is → the token. */
  async foreignTokens({ username, password }: Account): Promise<Record<string, string>> {
    const client = {
      ...{ clientId: "intruder", enabled: true, publicClient: true },
      directAccessGrantsEnabled: true,
    };
    await this.admin.post("/resontech/clients", client);
    await this.admin.post("/master/clients", client);
    await this.admin.post("/master/users", {
      ...{ username, enabled: true, email: `${username}@a.example`, firstName: "A", lastName: "B" },
      credentials: [{ type: "password", value: password, temporary: false }],
    });
    const ask = async (realm: string) => {
      const { text } = await askKeycloak(
        this.keycloak.address,
        `/realms/${realm}/protocol/openid-connect/token`,
        {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({
            ...{ grant_type: "password", client_id: "intruder", username, password },
            scope: "openid",
          }).toString(),
        },
      );
      return JSON.parse(text) as { access_token: string; id_token: string; refresh_token: string };
    };
    const [own, other] = [await ask("resontech"), await ask("master")];
    return {
      "an access token of another client": own.access_token,
      "an identity token": own.id_token,
      "a refresh token": own.refresh_token,
      "an access token of another realm": other.access_token,
      "an identity token of another realm": other.id_token,
    };
  }

  /** Asks the API as the person, with a session of these roles that began just now. */
  async signedIn(
    userId: string,
    { roles = [], acr = "2" }: { roles?: readonly string[]; acr?: string } = {},
  ): Promise<SignedInPerson> {
    const { sessions } = this.parts;
    const cookie = await sessions.begin(
      userId,
      {
        ...{
          subject: "",
          username: "",
          sid: `sid-${userId}`,
          acr,
          roles: [...roles],
          groups: { paths: [], named: [] },
        },
        tokens: { refresh: "none", id: "none" },
      },
      null,
      () => {},
    );
    return async (method, url, body, more = {}) => {
      const answer = await this.api.app.inject({
        method,
        url,
        headers: {
          cookie: `__Host-rt=${cookie}`,
          [PEER_HEADER]: "10.0.0.1",
          "sec-fetch-site": "same-origin",
          "x-rt-csrf": sessions.csrfToken(cookie),
          ...more,
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      // A log is text, and empty at first; an answer to HEAD is nothing.
      const isText =
        method === "HEAD" || String(answer.headers["content-type"]).startsWith("text/plain");
      const said = isText ? { text: answer.body } : answer.json<Record<string, unknown>>();
      return { status: answer.statusCode, body: said };
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup[Symbol.asyncDispose]();
  }
}

type CodeHash = "sha1" | "sha256";

/** RFC 6238, by default as the realm asks for it. @param secret base32 */
export function timeCode(secret: string, at = Date.now(), hash: CodeHash = "sha1"): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac(hash, decodeBase32(secret)).update(counter).digest();
  const offset = mac.at(-1)! & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function decodeBase32(text: string): Buffer {
  const bits = Array.from(text.replaceAll(" ", "").toUpperCase())
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

function newKey() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function jwksOf(key: KeyObject, kid: string): string {
  return JSON.stringify({
    keys: [{ ...key.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" }],
  });
}
