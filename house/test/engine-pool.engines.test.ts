import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import t from "tap";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { EnginePool } from "@resontech/house/engine-pool";
import { leaseKeycloak, POOL_VARIABLE } from "../src/pool-client.ts";

t.setTimeout(600_000);
const started: number[] = [];
const pool = await EnginePool.start({ keycloaks: 1, onStart: (pid) => started.push(pid) });
t.teardown(() => pool[Symbol.asyncDispose]());
Object.assign(process.env, pool.environment);

/** A process that leases one and is killed with it in its hands. */
async function leaseAndDie(): Promise<void> {
  const module = JSON.stringify(join(import.meta.dirname, "..", "src", "pool-client.ts"));
  const program = `const { leaseKeycloak } = await import(${module});
const { socket } = await leaseKeycloak();
socket.ref();
process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: "inherit",
    env: process.env,
  });
  const [, signal] = await once(child, "exit");
  t.equal(signal, "SIGKILL");
}

t.test("what one file leaves in a Keycloak, the next one does not find", async (t) => {
  await leaseAndDie();
  const first = await RunningKeycloak.lease();
  const { admin, address } = first;
  const before = await everything(first);
  await admin.post("", { realm: "left", enabled: true, eventsEnabled: true });
  await admin.renew();
  for (const realm of ["resontech", "master"]) {
    await admin.post(`/${realm}/users`, { username: "left", enabled: true });
    await admin.post(`/${realm}/clients`, { clientId: "left", enabled: true });
    await admin.post(`/${realm}/groups`, { name: "left" });
    await admin.post(`/${realm}/identity-provider/instances`, {
      ...{ alias: "left", providerId: "oidc", enabled: true },
      config: {
        clientId: "a",
        tokenUrl: "https://a.example",
        authorizationUrl: "https://a.example",
      },
    });
    const settings = await admin.get<{ id: string }>(`/${realm}`);
    await admin.put(`/${realm}`, { ...settings, displayName: "left" });
    await admin.post(`/${realm}/components`, ldapOf(settings.id));
  }
  t.not((await everything(first)).join(), before.join());
  await first[Symbol.asyncDispose]();

  await using second = await RunningKeycloak.lease();
  t.same(second.address, address, "it is the same Keycloak");
  t.same(await everything(second), before);
  t.equal(started.length, 1);
});

t.test("where a file took our realm away, the next one finds it all the same", async (t) => {
  const first = await RunningKeycloak.lease();
  const before = await everything(first);
  await first.admin.delete("/resontech");
  await first[Symbol.asyncDispose]();
  await using second = await RunningKeycloak.lease();
  t.same(await everything(second), before);
});

t.test("a pool that has gone is as none", async (t) => {
  const socket = process.env[POOL_VARIABLE];
  t.teardown(() => (process.env[POOL_VARIABLE] = socket));
  process.env[POOL_VARIABLE] = "/tmp/no-such-pool";
  t.equal(await leaseKeycloak(), null);
});

t.test("without a pool there is one of one's own", async (t) => {
  const socket = process.env[POOL_VARIABLE];
  delete process.env[POOL_VARIABLE];
  t.teardown(() => (process.env[POOL_VARIABLE] = socket));
  await using own = await RunningKeycloak.lease();
  t.ok(own.pid > 0);
  t.ok((await everything(own)).includes("realm resontech"));
});

/** A directory that is nowhere. */
function ldapOf(realm: string): object {
  return {
    ...{ name: "left", parentId: realm, providerId: "ldap" },
    providerType: "org.keycloak.storage.UserStorageProvider",
    config: {
      ...{ vendor: ["other"], connectionUrl: ["ldap://a.example"], usersDn: ["dc=a"] },
      ...{ editMode: ["READ_ONLY"], usernameLDAPAttribute: ["uid"], rdnLDAPAttribute: ["uid"] },
      ...{ uuidLDAPAttribute: ["entryUUID"], userObjectClasses: ["person"], enabled: ["false"] },
    },
  };
}

/** Names of all that is there. */
async function everything({ admin }: RunningKeycloak): Promise<string[]> {
  await admin.renew();
  const found: string[] = [];
  for (const { realm } of await admin.get<{ realm: string }[]>("")) {
    const { displayName } = await admin.get<{ displayName?: string }>(`/${realm}`);
    found.push(`realm ${realm}`, `realm ${realm} is called ${displayName}`);
    for (const [path, field] of [
      ["users?max=1000", "username"],
      ["clients?max=1000", "clientId"],
      ["groups", "name"],
      ["components", "name"],
      ["identity-provider/instances", "alias"],
    ] as const)
      for (const one of await admin.get<Record<string, string>[]>(`/${realm}/${path}`))
        found.push(`realm ${realm} ${path.split("?")[0]} ${one[field]}`);
  }
  return found.sort();
}
