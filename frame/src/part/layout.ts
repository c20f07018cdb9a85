import { join } from "node:path";

/** What is the supervisor's own below `data`. */
export const SUPERVISOR_FOLDERS = ["backup", "supervisor"];

/** Every path of one appliance, from its root and instance. Nothing else in the room joins paths of these folders. */
export class Layout {
  readonly root: string;
  readonly instance: string;

  constructor(root: string, instance: string) {
    this.root = root;
    this.instance = instance;
  }

  get current(): string {
    return join(this.root, "current");
  }
  /** A file of the release that runs. */
  release(...path: string[]): string {
    return join(this.current, ...path);
  }
  get etc(): string {
    return join(this.root, "etc");
  }
  get configFile(): string {
    return join(this.etc, "appliance.json");
  }
  /** What the customer connected to sign people in. */
  get identityFile(): string {
    return join(this.etc, "identity.json");
  }
  /** Certificates of authorities that vouch for what the customer connected; Keycloak trusts them. */
  directoryCa(...path: string[]): string {
    return join(this.etc, "directories", ...path);
  }
  /** One process's own configuration. */
  processConfig(process: string): string {
    return join(this.etc, `${process}.json`);
  }
  /** What the operator set for a part, by the name of its file; no secret is in it. */
  setting(file: string): string {
    return join(this.etc, file);
  }
  /** Secrets of one process: root's, readable by its group alone. */
  secrets(process: string, ...path: string[]): string {
    return join(this.etc, "secrets", process, ...path);
  }
  /** By whose signatures people are believed to have agreed: root's own. */
  get stepUpKeysFile(): string {
    return join(this.etc, "step-up-keys.json");
  }
  get caDir(): string {
    return join(this.etc, "ca");
  }
  /** Readable by all: every client of this appliance trusts it. */
  get rootCert(): string {
    return join(this.caDir, "root.crt");
  }
  /** Whom to trust where a door of the appliance is dialled: the root first, then whoever vouches for the customer's certificate. */
  get trustCert(): string {
    return join(this.caDir, "trust.crt");
  }
  /** The customer's own certificate of the doors, its key and who vouches for it. Root's. */
  doorCertificate(...path: string[]): string {
    return join(this.etc, "door-certificate", ...path);
  }
  data(...path: string[]): string {
    return join(this.root, "data", ...path);
  }
  log(part: string): string {
    return join(this.root, "log", part);
  }
  get blobs(): string {
    return join(this.root, "blobs", "sha256");
  }
  /** Sockets and pid files; short, because a socket's path holds at most 107 bytes. */
  run(...path: string[]): string {
    return join("/run/resontech", this.instance, ...path);
  }
  /** What the supervisor tells the coordinator for `GET /metrics`. */
  get factsFile(): string {
    return this.run("facts", "appliance.json");
  }
  /** Which backups are taken by themselves. */
  get backupScheduleFile(): string {
    return this.setting("backup-schedule.json");
  }
  /** How far the coordinator's database is followed; gone with a start of the host. */
  get followedFile(): string {
    return this.run("follower.json");
  }
  /** Where root's commands ask the supervisor. */
  get supervisorSocket(): string {
    return this.run("supervisor", "control", "sock");
  }
  get podmanSocket(): string {
    return this.run("podman", "sock");
  }
}
