/** versitygw: buckets and objects as files of this host. Nobody reaches it but through the S3 front. */
import { defineEngine } from "@resontech/frame/define-part";

const NAME = "s3";
const ADMIN_KEY = "admin-key.json";
const OBJECTS = "objects";
const VERSIONS = "versions";
const ACCOUNTS = "iam";

export const s3 = defineEngine({
  name: NAME,
  user: 11,
  engine: NAME,
  program: "versitygw",
  args: ({ layout, socket }) => [
    // On no network: the S3 front alone may open this socket.
    ...["--port", socket(NAME, "engine"), "--socket-perm", "0660", "--keep-alive"],
    ...["--region", "garage", "--iam-dir", layout.data(NAME, ACCOUNTS)],
    ...["--health", "/healthz", "--quiet"],
    ...["posix", "--versioning-dir", layout.data(NAME, VERSIONS), layout.data(NAME, OBJECTS)],
  ],
  // The engine takes its admin key from the environment alone: argv is for everybody to read.
  env: ({ read, secret }) => {
    const { accessKeyId, secretAccessKey } = JSON.parse(read(secret(NAME, ADMIN_KEY)) ?? "{}");
    return { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey };
  },
  files: [],
  after: [],
  sockets: { engine: { for: "s3-front", speaks: "S3" } },
  secrets: [{ name: ADMIN_KEY, kind: "s3-key-pair" }],
  certificates: [],
  health: { socket: "engine" },
  settings: [],
  data: {
    isBackedUp: "apart",
    folders: [
      { name: NAME, owner: "root", mode: 0o750 },
      ...[OBJECTS, VERSIONS, ACCOUNTS].map((folder) => ({
        ...{ name: `${NAME}/${folder}`, mode: 0o700 },
      })),
    ],
  },
  firstBytes: 0,
  stop: { graceMs: 15_000 },
  inShortage: "last",
});
