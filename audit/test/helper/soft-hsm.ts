/** A token of SoftHSM in a folder of the test's own. One at a time in a process: SoftHSM finds it by the environment. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import pkcs11js from "pkcs11js";

const MODULE = "/usr/lib/softhsm/libsofthsm2.so";
const PIN = "4711-0815";

export class SoftHsm {
  /** What a configuration says of it. */
  readonly config: Pkcs11Token;

  /**
   * @param pin what the PIN's file holds
   * @param mechanisms all that it has, as SoftHSM names them; so without it what SoftHSM has
   */
  constructor(
    root: string,
    label: string,
    { pin = PIN, mechanisms = "ALL" }: { pin?: string; mechanisms?: string } = {},
  ) {
    const tokens = join(root, "tokens");
    mkdirSync(tokens, { mode: 0o700 });
    const conf = join(root, "softhsm2.conf");
    writeFileSync(conf, `directories.tokendir = ${tokens}\nslots.mechanisms = ${mechanisms}\n`);
    // The processes that the test starts take it over.
    process.env["SOFTHSM2_CONF"] = conf;
    const pinFile = join(root, "pin");
    writeFileSync(pinFile, `${pin}\n`, { mode: 0o400 });
    this.config = { module: MODULE, label, pinFile };
    this.#init();
  }

  /** The same token as it came from its maker. */
  reset(): void {
    execFileSync("softhsm2-util", ["--delete-token", "--token", this.config.label]);
    this.#init();
  }

  /** What the token itself says, by a session of the test's own. */
  keys(kind: number): { label: string; extractable: boolean; sensitive: boolean }[] {
    return this.inSession((module, session) => {
      module.C_FindObjectsInit(session, [{ type: pkcs11js.CKA_CLASS, value: kind }]);
      const found = module.C_FindObjects(session, 10);
      module.C_FindObjectsFinal(session);
      const types = [pkcs11js.CKA_LABEL, pkcs11js.CKA_EXTRACTABLE, pkcs11js.CKA_SENSITIVE].map(
        (type) => ({ type }),
      );
      return found.map((key) => {
        const values = module.C_GetAttributeValue(session, key, types).map(({ value }) => value);
        return {
          label: values[0]!.toString(),
          extractable: values[1]![0] === 1,
          sensitive: values[2]![0] === 1,
        };
      });
    });
  }

  /** Logged in. */
  inSession<T>(work: (module: pkcs11js.PKCS11, session: Buffer) => T): T {
    const module = new pkcs11js.PKCS11();
    module.load(MODULE);
    module.C_Initialize();
    try {
      const slot = module
        .C_GetSlotList(true)
        .find((one) => module.C_GetTokenInfo(one).label.trim() === this.config.label)!;
      const session = module.C_OpenSession(
        slot,
        pkcs11js.CKF_SERIAL_SESSION | pkcs11js.CKF_RW_SESSION,
      );
      module.C_Login(session, pkcs11js.CKU_USER, PIN);
      return work(module, session);
    } finally {
      module.C_Finalize();
      module.close();
    }
  }

  #init(): void {
    const { label } = this.config;
    execFileSync("softhsm2-util", [
      "--init-token",
      "--free",
      "--label",
      label,
      "--pin",
      PIN,
      "--so-pin",
      "so-pin-9",
    ]);
  }
}
