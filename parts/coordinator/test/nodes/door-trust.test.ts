/** Who vouches for the doors: read from a file that changes, told to agents that say something else, and shown to the operator. */
import { hash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AGENT_PROTOCOL,
  type BeatRequest,
  type Inventory,
} from "@resontech/contracts/agent-protocol";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import t from "tap";
import { DoorTrust } from "../../src/nodes/door-trust.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const pem = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

t.test(
  "what a node trusts is told, and it is told what it lacks as soon as the file has it",
  async (t) => {
    const file = join(t.testdir({ "trust.crt": pem("root") }), "trust.crt");
    const world = new KernelWorld(undefined, new DoorTrust(file));
    t.teardown(() => world[Symbol.dispose]());
    world.admit("node-a");
    const { commit, registry, fleetViews } = world.parts;
    const inventory: Inventory = {
      ...{ hostname: "a", os: "o", kernel: "k", cpuModel: "c", cpuCores: 2, memoryBytes: 17e9 },
      ...{ diskFreeBytes: 1e11, containerEngine: "podman", workers: [] },
    };
    const request = { bootId: "b", agentVersion: "1", inventory, held: [] };
    const { nodeEpoch } = await commit.run(() =>
      registry.register("node-a", { ...request, protocol: versionsOf(AGENT_PROTOCOL) }),
    );
    const told = async (trusts?: string): Promise<string | undefined> => {
      const beat: BeatRequest = {
        ...{ nodeEpoch, nonce: "n", leaseOf: null, bootId: "b", held: [], loopLagMs: 0 },
        ...{ inventoryDigest: "0".repeat(64), diskFreeBytes: 1e11 },
        ...(trusts === undefined ? {} : { trusts }),
      };
      await commit.run(() => registry.hear("node-a", beat));
      return registry.beatReply("node-a", beat).doorAuthorities;
    };
    const none = hash("sha256", "");
    t.equal(await told(none), undefined, "the root alone");
    t.equal(fleetViews.nodeHealth()[0]?.trusts, none);

    writeFileSync(`${file}.part`, pem("root") + pem("customer"));
    renameSync(`${file}.part`, file);
    t.equal(await told(none), pem("customer"), "without the root, which nobody tells it");
    const knows = hash("sha256", pem("customer"));
    t.equal(await told(knows), undefined);
    t.equal(fleetViews.nodeHealth()[0]?.trusts, knows);

    t.equal(await told(), undefined, "an older agent does not say, and is told nothing");
    t.notOk("trusts" in fleetViews.nodeHealth()[0]!);
    writeFileSync(`${file}.part`, pem("root"));
    renameSync(`${file}.part`, file);
    t.equal(await told(knows), "", "it is taken back");
  },
);
