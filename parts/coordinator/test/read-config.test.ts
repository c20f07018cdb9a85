import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { ConfigError, readConfig, readSecrets } from "../src/read-config.ts";

const dir = t.testdir({
  "admin.json": '{"accessKeyId":"A","secretAccessKey":"topsecret"}',
  pem: "PEM",
});
const at = (name: string) => join(dir, name);
const good = {
  listen: { socket: "/run/api/sock" },
  publicUrl: "http://127.0.0.1:8000",
  databaseFile: at("coordinator.db"),
  controlSocket: at("control"),
  frontSocket: at("front"),
  audit: { gateSocket: at("gate"), recordSocket: at("record"), searchSocket: at("search") },
  nats: {
    ...{ url: "tls://x:4222", caFile: at("pem"), certFile: at("pem"), keyFile: at("pem") },
    ...{ userSeedFile: at("pem"), accountSeedFile: at("pem"), account: "RT" },
  },
  s3: {
    ...{
      endpoint: "https://x:3900",
      region: "garage",
      caFile: at("pem"),
      adminKeyFile: at("admin.json"),
    },
    ...{ volumePath: dir, bucketQuotaBytes: 1 },
  },
  registry: { host: "x:5000", service: "x", tokenKeyFile: at("pem"), tokenCertFile: at("pem") },
  ca: { rootCertFile: at("pem"), intermediateCertFile: at("pem"), intermediateKeyFile: at("pem") },
  images: [],
  keyKind: "dev",
  natsPublicUrl: "tls://x:4222",
  logLevel: "info",
};
const write = (value: unknown) => {
  writeFileSync(at("coordinator.json"), typeof value === "string" ? value : JSON.stringify(value));
  return at("coordinator.json");
};
const messageOf = (file: string): string => {
  try {
    readConfig(file);
    return "read";
  } catch (error) {
    return error instanceof ConfigError ? error.message : `not a ConfigError: ${String(error)}`;
  }
};

t.test("a good file is read, frozen, with its secrets apart", async (t) => {
  const config = readConfig(write(good));
  t.ok(Object.isFrozen(config));
  t.same(readSecrets(config).s3Admin, { accessKeyId: "A", secretAccessKey: "topsecret" });
  t.notMatch(JSON.stringify(config), /topsecret/);
  t.throws(
    () => readSecrets({ ...config, s3: { ...config.s3, adminKeyFile: at("missing") } }),
    ConfigError,
  );
});

t.test("what is wrong is named and stops the start", async (t) => {
  t.match(messageOf(at("nowhere.json")), /nowhere\.json: can't be read/);
  t.match(messageOf(write("{")), /is not JSON/);
  t.match(messageOf(write({ ...good, keyKind: "prod" })), /keyKind/);
  t.match(messageOf(write({ ...good, extra: 1 })), /additional properties|extra/i);
  t.match(
    messageOf(write({ ...good, s3: { ...good.s3, bucketQuotaBytes: "1" } })),
    /s3\.bucketQuotaBytes/,
  );
  t.match(
    messageOf(write({ ...good, listen: { host: "10.0.0.1", port: 1, tls: null } })),
    /listen/,
  );
  t.match(
    messageOf(write({ ...good, listen: { socket: `/${"s".repeat(107)}` } })),
    /listen\.socket/,
  );
});
