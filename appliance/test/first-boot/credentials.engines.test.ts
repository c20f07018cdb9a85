import { spawnSync } from "node:child_process";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import t from "tap";
import { renderCredentials } from "../../src/first-boot/credentials.ts";

const FIRST = {
  ...{
    administrator: { username: "administrator", firstPassword: "of-the-administrator" },
    firstPassword: "first-password",
    username: "first",
    platformKey: "rsk_live_x",
    bucketAlias: "first-bucket",
  },
  ...{ accessKeyId: "AKIA1", secretAccessKey: "s3cret/+" },
};
const config = { name: "appliance.example", ports: { api: 8000, s3: 3900 } } as ApplianceConfig;
const text = renderCredentials(config, FIRST, "/etc/root.pem");

/** What a shell has in its environment after a block was pasted into it. */
function pasted(block: string): Record<string, string> {
  const body =
    new RegExp(`^\\[${block}\\]\\n((?:(?:export|unset) .*\\n)+)`, "m").exec(text)?.[1] ?? "";
  const { stdout } = spawnSync("sh", ["-c", `export AWS_CA_BUNDLE=outer; ${body} env`], {
    encoding: "utf8",
    env: {},
  });
  return Object.fromEntries(
    stdout
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

t.test("the quickstart has the names of the client and of the public examples", async (t) => {
  t.match(pasted("sdk quickstart"), {
    RESON_API_KEY: "rsk_live_x",
    RESON_BASE_URL: "https://appliance.example:8000",
    RESON_S3_ENDPOINT: "https://appliance.example:3900",
    RESON_S3_ACCESS_KEY_ID: "AKIA1",
    RESON_S3_KEY: "AKIA1",
    RESON_S3_SECRET: "s3cret/+",
    AWS_CA_BUNDLE: "/etc/root.pem",
  });
});

t.test("rclone has a block of its own, without AWS_CA_BUNDLE", async (t) => {
  const environment = pasted("rclone");
  t.match(environment, {
    RCLONE_CA_CERT: "/etc/root.pem",
    RCLONE_CONFIG_RESON_TYPE: "s3",
    RCLONE_CONFIG_RESON_ENDPOINT: "https://appliance.example:3900",
    RCLONE_CONFIG_RESON_ACCESS_KEY_ID: "AKIA1",
    RCLONE_CONFIG_RESON_SECRET_ACCESS_KEY: "s3cret/+",
  });
  t.notOk("AWS_CA_BUNDLE" in environment);
});
