/** `<root>/etc/coordinator.json` (0400, rt-coord): written by appliance/, read and validated by coordinator/. Paths are absolute. */
import { type Static, Type } from "typebox";
import { ImageNeeds } from "../image/image-needs.ts";
import { closed } from "../closed.ts";

const Path = Type.String({ minLength: 1, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

/**
 * How its Node is started. The policy engine is WebAssembly: V8's first compiler is enough for it, because answers are kept, and leaves out
 * some 40 MB of code that the second would make. Its young objects have 12 MB at most: reading its own program fills what it is given, and
 * the 48 MB of Node's default stay with it (160 MB in all; 128 with this).
 */
export const COORDINATOR_NODE_FLAGS = ["--liftoff-only", "--max-semi-space-size=4"] as const;

/** `iss` of the tokens that the registry engine must accept (its `auth.token.issuer`). */
export const REGISTRY_TOKEN_ISSUER = "resontech-coordinator";
/** The account on the bus that the coordinator and the admitted nodes share. */
export const BUS_ACCOUNT = "FLEET";
/** `aud` of these tokens (`auth.token.service`). */
export const REGISTRY_SERVICE = "resontech-registry";

/** One job image of the release: where the registry has it and what `requirements.txt` lines it can satisfy. */
export const JobImage = Type.Object(
  {
    /** `fl-cpu`, `fl-cuda`, … */
    profile: Type.String({ maxLength: 64 }),
    /** `<name>:<port>/resontech/<profile>@sha256:<digest>` */
    reference: Type.String({ maxLength: 512 }),
    sizeBytes: Type.Integer({ minimum: 0 }),
    /** Python distributions inside, normalized name → version. */
    packages: Type.Record(Type.String(), Type.String()),
    /** Top-level modules that can be imported, the standard library's among them. Absent in releases before 0.2. */
    modules: Type.Optional(Type.Array(Type.String({ maxLength: 256 }))),
    pythonVersion: Type.String({ maxLength: 32 }),
    /** What it asks of a device; absent for an image that runs on processors. */
    needs: Type.Optional(ImageNeeds),
  },
  closed,
);
export type JobImage = Static<typeof JobImage>;

export const CoordinatorConfig = Type.Object(
  {
    /** Where the front door asks, plain HTTP; the socket's folder lets in the front door alone. */
    listen: Type.Object({ socket: SocketPath }, closed),
    publicUrl: Type.String(),
    databaseFile: Path,
    /** Unix socket of the `appliance` command: the API over HTTP, root alone. */
    controlSocket: Path,
    /** Unix socket where the S3 front asks whose a bucket and a key are and what a bucket holds; its folder lets in the front alone. */
    frontSocket: Path,
    /** auditd's two sockets, and the one where audit-out answers searches. */
    audit: Type.Object({ gateSocket: Path, recordSocket: Path, searchSocket: Path }, closed),
    nats: Type.Object(
      {
        url: Type.String(),
        caFile: Path,
        certFile: Path,
        keyFile: Path,
        /** NKey seed of the coordinator's own NATS user. */
        userSeedFile: Path,
        /** NKey seed of the account that signs auth-callout answers. */
        accountSeedFile: Path,
        /** Account that admitted nodes are placed in. */
        account: Type.String(),
      },
      closed,
    ),
    s3: Type.Object(
      {
        /** The one name that URLs are signed for, with port: `https://<name>:3900`. */
        endpoint: Type.String(),
        region: Type.String(),
        caFile: Path,
        /** JSON `{ accessKeyId, secretAccessKey }` of the engine's admin. */
        adminKeyFile: Path,
        /** A readable path on the engine's volume, for `sync -f`. */
        volumePath: Path,
        bucketQuotaBytes: Type.Integer({ minimum: 0 }),
        /** As the S3 front has it: whether people may read models. @default "open" */
        outputExport: Type.Optional(Type.Union([Type.Literal("open"), Type.Literal("controlled")])),
      },
      closed,
    ),
    registry: Type.Object(
      {
        host: Type.String(),
        service: Type.String(),
        /** ES256 key and its certificate (x5c) for the tokens. */
        tokenKeyFile: Path,
        tokenCertFile: Path,
      },
      closed,
    ),
    /** For node certificates and attempt CAs. */
    ca: Type.Object(
      {
        rootCertFile: Path,
        /** The root first, then who else vouches for the appliance's doors: what nodes are told. Absent: the root alone. */
        trustFile: Type.Optional(Path),
        intermediateCertFile: Path,
        intermediateKeyFile: Path,
      },
      closed,
    ),
    /** Keycloak, by which people sign in. Absent: nobody does. */
    identity: Type.Optional(
      Type.Object(
        {
          /** Of 127.0.0.1. */
          port: Type.Integer(),
          caFile: Path,
          /** What it shows Keycloak, which takes no connection without. */
          clientCertFile: Path,
          clientKeyFile: Path,
          /** PKCS #8 keys of the two clients that the coordinator is to Keycloak. */
          dashboardKeyFile: Path,
          coordinatorKeyFile: Path,
          /** 32 bytes, base64url: what sessions are sealed with. */
          sessionKeyFile: Path,
          /** Seconds without a key or the pointer after which a person is signed out. Absent: a quarter of an hour. */
          idleS: Type.Optional(Type.Integer({ minimum: 60, maximum: 8 * 3_600 })),
        },
        closed,
      ),
    ),
    /** Who reads `GET /metrics`, and what the supervisor tells there. Absent: nobody reads it. */
    metrics: Type.Optional(
      Type.Object(
        {
          /** A token each, base64url. */
          tokenFiles: Type.Array(Path, { maxItems: 8 }),
          /** See `appliance-facts`. */
          factsFile: Path,
        },
        closed,
      ),
    ),
    /** Where figures are read that were kept. Absent: none are shown. */
    prometheus: Type.Optional(
      Type.Object(
        {
          /** Of 127.0.0.1. */
          port: Type.Integer(),
          caFile: Path,
          /** By which Prometheus knows a reader. */
          certFile: Path,
          keyFile: Path,
        },
        closed,
      ),
    ),
    /** Where the notifier takes mails about ends of jobs. Absent: nobody gets one. */
    mailSocket: Type.Optional(SocketPath),
    /** Deployments of predictors. Absent: none is reached. */
    inference: Type.Optional(
      Type.Object(
        {
          /** Where the gateway hears who answers. */
          routesSocket: SocketPath,
          /** By which agents know the gateway, hex. */
          gatewayCertificateSha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
        },
        closed,
      ),
    ),
    images: Type.Array(JobImage),
    /** Folder of the release that runs; what a node needs of it is given out to whoever asks. Absent: nothing is. */
    releaseDir: Type.Optional(Path),
    /** The built dashboard. Absent: its pages say that there is none. */
    dashboardDir: Type.Optional(Path),
    /** `resontech` for laptops (cli-downloads.ts). Absent: none is given out. */
    downloadsDir: Type.Optional(Path),
    keyKind: Type.Union([Type.Literal("live"), Type.Literal("dev")]),
    /** What NATS URL a joining node is told. */
    natsPublicUrl: Type.String(),
    /** Of a running job without any step, round, log or metric: after so long it is reported as hanging. @default 60 */
    hangAfterMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type CoordinatorConfig = Static<typeof CoordinatorConfig>;
