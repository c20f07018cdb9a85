import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { LdapConnection } from "@resontech/contracts/identity-connections";
import {
  type CertificateFiles,
  copyCertificate,
  makeCertificate,
} from "@resontech/house/make-certificate";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);
const START_MS = 120_000;
const LDAP_BASE = "dc=hospital,dc=test";
const ROOT_DN = `cn=root,${LDAP_BASE}`;
const ROOT_PASSWORD = "root-of-the-test";
/** What the appliance searches as; it may read and nothing else. */
export const LDAP_READER = { dn: `cn=reader,${LDAP_BASE}`, password: "reader-of-the-test" };

/** A real OpenLDAP server with TLS, an empty directory and a reader of its own. */
export class RunningSlapd implements AsyncDisposable {
  readonly port: number;
  /** PEM of what vouches for it. */
  readonly caFile: string;
  readonly #dir: string;
  #child: ChildProcess;

  private constructor(port: number, dir: string, child: ChildProcess) {
    this.port = port;
    this.caFile = join(dir, "server.crt");
    this.#dir = dir;
    this.#child = child;
  }

  /** @param sameAs a certificate that whoever asks it trusts already; without, one of its own */
  static async start(sameAs?: CertificateFiles): Promise<RunningSlapd> {
    const dir = mkdtempSync(join(tmpdir(), "rt-slapd-"));
    await (sameAs === undefined ? makeCertificate(dir) : copyCertificate(sameAs, dir));
    mkdirSync(join(dir, "db"));
    writeFileSync(
      join(dir, "slapd.conf"),
      [
        ...["core", "cosine", "inetorgperson"].map(
          (name) => `include /etc/ldap/schema/${name}.schema`,
        ),
        "modulepath /usr/lib/ldap",
        "moduleload back_mdb",
        `TLSCertificateFile ${join(dir, "server.crt")}`,
        `TLSCertificateKeyFile ${join(dir, "server.key")}`,
        "database mdb",
        "maxsize 16777216",
        `suffix "${LDAP_BASE}"`,
        `rootdn "${ROOT_DN}"`,
        `rootpw ${ROOT_PASSWORD}`,
        `directory ${join(dir, "db")}`,
        "index objectClass,uid,entryUUID eq",
        `access to attrs=userPassword by anonymous auth by * none`,
        "access to * by users read by * none",
        "",
      ].join("\n"),
    );
    const port = await freePort();
    const child = await startServer(dir, port);
    const slapd = new RunningSlapd(port, dir, child);
    await slapd.#add([
      `dn: ${LDAP_BASE}\nobjectClass: dcObject\nobjectClass: organization\no: Hospital\ndc: hospital`,
      ...["people", "groups"].map(
        (ou) => `dn: ou=${ou},${LDAP_BASE}\nobjectClass: organizationalUnit\nou: ${ou}`,
      ),
      `dn: ${LDAP_READER.dn}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\nuserPassword: ${LDAP_READER.password}`,
    ]);
    return slapd;
  }

  get url(): string {
    return `ldaps://localhost:${this.port}`;
  }

  /** As a customer connects it. @param readAgainMs how long Keycloak believes what it read */
  connection(name: string, readAgainMs = 1_000): LdapConnection {
    return {
      ...{ kind: "ldap", name, vendor: "other", url: this.url, readAgainMs },
      ...{ peopleDn: `ou=people,${LDAP_BASE}`, bindDn: LDAP_READER.dn, filter: null },
      ...{ usernameAttribute: "uid", idAttribute: "entryUUID", objectClass: "inetOrgPerson" },
      groups: {
        ...{ dn: `ou=groups,${LDAP_BASE}`, objectClass: "groupOfNames" },
        ...{ memberAttribute: "member", filter: null },
      },
    };
  }

  async addPerson(uid: string, password: string): Promise<void> {
    await this.#add([
      `dn: ${personDn(uid)}\nobjectClass: inetOrgPerson\nuid: ${uid}\ncn: ${uid}\nsn: ${uid}\nmail: ${uid}@hospital.test\nuserPassword: ${password}`,
    ]);
  }

  async removePerson(uid: string): Promise<void> {
    await this.#ldap("ldapdelete", [personDn(uid)]);
  }

  /** Replaces the group's members; a group without any is removed. */
  async setGroup(name: string, uids: readonly string[]): Promise<void> {
    const dn = `cn=${name},ou=groups,${LDAP_BASE}`;
    await this.#ldap("ldapdelete", [dn]).catch(() => {});
    if (uids.length === 0) return;
    const members = uids.map((uid) => `member: ${personDn(uid)}`).join("\n");
    await this.#add([`dn: ${dn}\nobjectClass: groupOfNames\ncn: ${name}\n${members}`]);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGTERM");
    await once(this.#child, "close");
  }

  /** With all that it had. */
  async startAgain(): Promise<void> {
    this.#child = await startServer(this.#dir, this.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #add(entries: readonly string[]): Promise<void> {
    const file = join(this.#dir, "add.ldif");
    writeFileSync(file, `${entries.join("\n\n")}\n`);
    await this.#ldap("ldapadd", ["-f", file]);
  }

  async #ldap(command: "ldapadd" | "ldapdelete", args: readonly string[]): Promise<void> {
    await run(
      command,
      ["-x", "-H", loopback(this.port), "-D", ROOT_DN, "-w", ROOT_PASSWORD, ...args],
      {
        env: { ...process.env, LDAPTLS_CACERT: this.caFile },
      },
    );
  }
}

function personDn(uid: string): string {
  return `uid=${uid},ou=people,${LDAP_BASE}`;
}

/** The tools take `localhost` for the host's own name. */
function loopback(port: number): string {
  return `ldaps://127.0.0.1:${port}`;
}

async function startServer(dir: string, port: number): Promise<ChildProcess> {
  const child = spawn(
    "/usr/sbin/slapd",
    ["-f", join(dir, "slapd.conf"), "-h", loopback(port), "-d", "0"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const deadline = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`slapd does not start:\n${output}`);
    }
    const asked = await run("ldapsearch", ["-x", "-H", loopback(port), "-b", "", "-s", "base"], {
      env: { ...process.env, LDAPTLS_CACERT: join(dir, "server.crt") },
    }).catch(() => null);
    if (asked !== null) return child;
    await sleep(100);
  }
}
