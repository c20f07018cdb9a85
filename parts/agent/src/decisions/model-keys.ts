/** Below which keys the model that a payload names is stored. Pure. */
import { posix } from "node:path";

const CHECKPOINT = "checkpoint.pt";
/** A name that is a key without escaping; any other is left out, the checkpoint holds the same bytes. */
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;

/** Keys of the model: the checkpoint, and beside it the name that the payload gave. */
export function modelKeys(folder: string, givenName: string): string[] {
  const name = posix.basename(givenName);
  const key = `${folder}/${CHECKPOINT}`;
  return PLAIN_NAME.test(name) && name !== CHECKPOINT ? [key, `${folder}/${name}`] : [key];
}
