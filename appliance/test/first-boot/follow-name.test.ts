/** Files that name the appliance, after it got another name. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import t from "tap";
import { followNameInAgent, followNameInCredentials } from "../../src/first-boot/follow-name.ts";
import { Layout } from "@resontech/frame/layout";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const until = "2026-12-27T00:00:00.000Z";
const config = {
  ...{ name: "new.example", ports: { nats: 4222 } },
  formerName: { name: "old.example", until },
} as ApplianceConfig;

t.test(
  "credentials and agent lead to the new name, and nothing else of them changes",
  asRoot,
  async (t) => {
    const root = t.testdir({
      data: {
        "credentials.txt":
          "url = https://old.example:8000/\nnote = old.example\nkey = 'https://old.example:3900'\n",
        agent: { "nats-url": "tls://old.example:4222" },
      },
    });
    const file = join(root, "data", "credentials.txt");
    for (let times = 0; times < 2; times += 1) {
      followNameInCredentials(file, config);
      followNameInAgent(new Layout(root, "follow"), config);
      t.equal(
        readFileSync(file, "utf8"),
        "url = https://new.example:8000/\nnote = old.example\nkey = 'https://new.example:3900'\n",
      );
      t.equal(statSync(file).mode & 0o777, 0o600);
      t.equal(
        readFileSync(join(root, "data", "agent", "nats-url"), "utf8"),
        "tls://new.example:4222",
      );
    }
  },
);
