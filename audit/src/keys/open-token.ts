/**
 * A PKCS#11 token that was opened with its PIN.
 *
 * A token counts wrong PINs and locks itself; whoever starts its process again and again with a wrong one would lock it. So no PIN is tried on a token
 * that has counted one.
 */
import { readFile, stat } from "node:fs/promises";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import type pkcs11js from "pkcs11js";

/** The token, its module or its PIN is not what the configuration says, or it does not let us in. */
export class TokenFault extends Error {
  override readonly name = "TokenFault";
  readonly code = "token_fault";
}

const OTHERS = 0o077;
const MAX_FOUND = 4;

export class OpenToken implements Disposable {
  readonly api: typeof pkcs11js;
  readonly module: pkcs11js.PKCS11;
  readonly slot: Buffer;
  /** Reads and writes; the user is logged in. */
  readonly session: Buffer;
  readonly label: string;

  private constructor(
    api: typeof pkcs11js,
    module: pkcs11js.PKCS11,
    slot: Buffer,
    session: Buffer,
    label: string,
  ) {
    this.api = api;
    this.module = module;
    this.slot = slot;
    this.session = session;
    this.label = label;
  }

  /** @throws TokenFault naming the module */
  static async open({ module: file, label, pinFile }: Pkcs11Token): Promise<OpenToken> {
    // It brings a native module along: loaded only where a token is.
    const { default: api } = await import("pkcs11js");
    const module = new api.PKCS11();
    try {
      const pin = await readPin(pinFile);
      module.load(file);
      module.C_Initialize();
      const slot = module
        .C_GetSlotList(true)
        .find((one) => module.C_GetTokenInfo(one).label.trim() === label);
      if (slot === undefined) throw new Error(`there is no token ${label}`);
      if (
        (module.C_GetTokenInfo(slot).flags &
          (api.CKF_USER_PIN_COUNT_LOW | api.CKF_USER_PIN_LOCKED)) !==
        0
      )
        throw new Error(
          `a wrong PIN was given for ${label}: mend ${pinFile}, then log in once by hand, which sets its count back`,
        );
      const session = module.C_OpenSession(slot, api.CKF_SERIAL_SESSION | api.CKF_RW_SESSION);
      module.C_Login(session, api.CKU_USER, pin);
      return new OpenToken(api, module, slot, session, label);
    } catch (error) {
      module.close();
      throw new TokenFault(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Objects of a class (`CKO_…`) with this label, four at most. */
  findAll(kind: number, label: string): Buffer[] {
    this.module.C_FindObjectsInit(this.session, [
      { type: this.api.CKA_CLASS, value: kind },
      { type: this.api.CKA_LABEL, value: label },
    ]);
    try {
      return this.module.C_FindObjects(this.session, MAX_FOUND);
    } finally {
      this.module.C_FindObjectsFinal(this.session);
    }
  }

  /** Ends every session that this process has with the module. */
  [Symbol.dispose](): void {
    this.module.C_Finalize();
    this.module.close();
  }
}

async function readPin(file: string): Promise<string> {
  if (((await stat(file)).mode & OTHERS) !== 0)
    throw new Error(`${file} is open to others: its mode must be 0400`);
  return (await readFile(file, "utf8")).trimEnd();
}
