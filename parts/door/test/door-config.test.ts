import { SERVER_TLS } from "@resontech/frame/tls-suites";
import fc from "fast-check";
import t from "tap";
import { type DoorSettings, renderDoorConfig } from "../src/door-config.ts";
import { SIGN_IN_PATHS } from "../src/sign-in-paths.ts";

const SETTINGS: DoorSettings = {
  ...{ address: "10.0.0.5", port: 8000, name: "appliance.example" },
  certFile: "/opt/my root's/etc/secrets/door/server.crt",
  coordinatorSocket: "/run/resontech/main/api/sock",
  servingSocket: "/run/resontech/main/serving/sock",
  keycloak: {
    ...{ port: 8443, caFile: "/opt/my root's/etc/ca/root.crt" },
    clientCertFile: "/opt/my root's/etc/secrets/door/keycloak-client.crt",
  },
  ...{ maxConnections: 1_200, threads: 2 },
};
const config = renderDoorConfig(SETTINGS);
const linesWith = (text: string): string[] =>
  config.split("\n").filter((line) => line.includes(text));

t.test("every suite of ours is named once, those of TLS 1.3 apart", async (t) => {
  const [newer = ""] = linesWith("ciphersuites");
  const [older = ""] = linesWith("bind-ciphers ");
  const named = [newer, older].flatMap((line) => line.trim().split(" ")[1]?.split(":") ?? []);
  t.same(named.sort(), SERVER_TLS.ciphers.split(":").sort());
  t.notMatch(older, /TLS_/);
  t.equal(linesWith("ssl-min-ver TLSv1.2").length, 2, "towards clients, and towards Keycloak");
});

t.test("a path with a blank and a quote is one word of the file", async (t) => {
  t.match(config, "crt '/opt/my root'\\''s/etc/secrets/door/server.crt' alpn h2,http/1.1\n");
  t.match(
    config,
    "ca-file '/opt/my root'\\''s/etc/ca/root.crt' crt '/opt/my root'\\''s/etc/secrets/door/keycloak-client.crt' sni str",
  );
});

t.test(
  "Keycloak is asked under TLS that the appliance's root vouches for, and alone there",
  async (t) => {
    t.equal(linesWith(":8443 ").length, 1);
    t.match(
      linesWith(":8443 ")[0],
      /127\.0\.0\.1:8443 ssl verify required .* verifyhost appliance\.example/,
    );
    t.notMatch(config, /verify none|stats |monitor|prometheus/);
  },
);

t.test("headers and bodies have ten seconds to come", async (t) => {
  t.equal(linesWith("timeout http-request 10s").length, 1);
  t.equal(linesWith("wait-for-body time 10s").length, 1);
});

t.test("what a replica answers is no page and no script of this host", async (t) => {
  const [, serving = ""] = config.split("backend serving\n");
  t.match(serving, /set-header content-type application\/octet-stream unless .*json\|text/);
  t.match(serving, /set-header x-content-type-options nosniff\n/);
  t.match(serving, /set-header content-security-policy 'default-src .*sandbox/);
  t.equal(linesWith("sandbox").length, 1, "people's pages have policies of their own");
});

t.test("no path that is let to Keycloak can be read as another one", async (t) => {
  const patterns = SIGN_IN_PATHS.map((source) => new RegExp(`^${source}$`));
  const passes = (path: string): boolean => patterns.some((pattern) => pattern.test(path));
  const part = fc.constantFrom(
    ...["realms", "resontech", "master", "admin", "resources", "login", "common", "broker"],
    ...["protocol", "openid-connect", "token", "auth", "device", "endpoint", "1a2b3", "x.css"],
    ...["..", ".", "", "%2e%2e", "%2f", ";", "\\", "a;b", "%00", "~", "\n", "%41", "é"],
  );
  let passed = 0;
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 7 }), (parts) => {
      const path = `/${parts.join("/")}`;
      if (!passes(path)) return;
      passed += 1;
      // What the next program makes of it, if it resolves and decodes all that it can.
      if (decodeURIComponent(new URL(`https://host${path}`).pathname) !== path)
        throw new Error(path);
    }),
    { numRuns: 50_000, examples: [[["realms", "resontech", "device"]]] },
  );
  t.ok(passed > 0);
  for (const path of ["/resources/1a2b3/admin/x/y.js", "/resources/resontech/login/en"])
    t.notOk(passes(path), path);
});

t.test(
  "calls of deployments go to their gateway, and may take as long as its own limit",
  async (t) => {
    t.match(linesWith("is_inference path_beg"), [/ \/inference\/ \/v1\/$/]);
    const [, serving = ""] = config.split("backend serving\n");
    t.match(serving, /timeout server 620s\n/);
    t.match(serving, /option abortonclose\n/);
    const errors = [...serving.matchAll(/http-error status (\d+) .*? string '(.*?)' /g)];
    t.same(
      errors.map(([, status, body = ""]) => [status, Object.keys(JSON.parse(body) as object)]),
      [502, 503, 504].map((status) => [String(status), ["error"]]),
    );
  },
);
