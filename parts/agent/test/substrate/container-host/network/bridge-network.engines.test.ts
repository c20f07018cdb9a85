import { randomBytes } from "node:crypto";
import { pino } from "pino";
import t from "tap";
import { BridgeNetwork } from "../../../../src/substrate/container-host/network/bridge-network.ts";
import { Firewall } from "../../../../src/substrate/container-host/network/firewall.ts";
import { engineThatSays } from "../../../helper/scripted-engine.ts";

/** As Podman 4.3 said it, while another container's end of a cable went. */
const gone = {
  cause: "no such network interface",
  message: "route ip+net: no such network interface",
  response: 500,
};
const none: [number, unknown] = [200, []];
const made: [number, unknown] = [201, { Id: "n" }];

t.test(
  "a job's network is asked for again where another interface of the host went away meanwhile",
  async (t) => {
    const instance = `bn${randomBytes(3).toString("hex")}`;
    t.teardown(() => new Firewall(instance).unload());
    // Attempts, subnets in use, then the network itself.
    const engine = await engineThatSays(t, [none, none, [500, gone], [500, gone], made]);
    const identity = { certPem: "", keyPem: "", rootCertPem: "" };
    const log = pino({ level: "silent" });
    const network = new BridgeNetwork({ engine, instance, address: "127.0.0.1", identity, log });
    await t.resolves(network.create("one"));
  },
);
