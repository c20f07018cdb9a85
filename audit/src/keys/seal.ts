/** How the bytes of a file keep a key. */
export type Seal = {
  /** Of the file's name. */
  suffix: string;
  /** @param name bound to what is sealed: another file's content does not stand for this one's */
  seal: (plain: Uint8Array, name: string) => Promise<Buffer>;
  /** @throws an error that says what TPM or token did not like */
  unseal: (bytes: Buffer, name: string) => Promise<Buffer>;
};
