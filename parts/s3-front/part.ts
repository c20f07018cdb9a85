/** The streaming door before the object store: whose key, whose bucket, quota, record. Nobody reaches the engine but through it. */
import { definePart } from "@resontech/frame/define-part";
import { lagFindings } from "@resontech/frame/finding";
import { S3FrontConfig } from "./src/config.ts";

const NAME = "s3-front";
/** So its folder has been named since the first release. */
const SECRETS = "s3Front";
/** Answered by the front itself, whatever it stands on: its own life, with `loopLagMs`. */
export const FRONT_HEALTH_PATH = "/healthz";

export const s3Front = definePart({
  name: NAME,
  user: 1,
  program: "s3-front.mjs",
  /**
   * Every 16 KiB of an upload is a buffer outside the heap whose few hundred bytes inside it are all that the collector of young objects sees: in a young
   * space of the usual 16 MiB buffers of 64 MB gather first, and that makes V8 mark the whole heap. In one of 2 MiB they go at 20 MB, and their memory is used
   * again while it is warm (measured: 1.05 CPU seconds for a gigabyte against 1.5). The collector's helper threads would take the cores that engine and
   * client need.
   */
  nodeFlags: ["--single-threaded-gc", "--max-semi-space-size=2"],
  // It asks the coordinator, and yet starts before it: the coordinator writes through it.
  after: ["s3", "auditd"],
  config: {
    schema: S3FrontConfig,
    from: ({ layout, socket, appliance: { address, name, ports, outputExport } }) => ({
      listen: {
        ...{ host: address, port: ports.s3 },
        tls: {
          certFile: layout.secrets(SECRETS, "server.crt"),
          keyFile: layout.secrets(SECRETS, "server.key"),
        },
      },
      engineSocket: socket("s3", "engine"),
      auditSocket: socket("auditd", NAME),
      coordinatorSocket: socket("coordinator", "front"),
      outputExport: outputExport ?? "open",
      pageOrigin: `https://${name}:${ports.api}`,
    }),
  },
  port: { of: "s3", on: "perimeter" },
  sockets: {},
  secretsFolder: SECRETS,
  certificates: [{ name: "server", isDoor: true }],
  health: { httpsPath: FRONT_HEALTH_PATH },
  settings: [],
  choices: ["outputExport"],
  data: null,
  firstBytes: 0,
  audit: [{ producer: NAME, family: NAME }],
  findings: {
    objects: ({ frontLagMs }) => lagFindings("s3_front_slow", "the S3 front", frontLagMs),
  },
  // Requests under way end.
  stop: { graceMs: 15_000 },
  inShortage: "last",
});
