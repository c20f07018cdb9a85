/** What the name of a field says of its value, in JSON and in `name=value`. Pure. */

const SECRET =
  /passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization|cookie|session|signature|seed|(?:^|[-_.])pin$|^(?:key|nonce|otp)$/i;
/** Where a secret lies, or how long it lives, is none. */
const ABOUT_A_SECRET =
  /(?:files?|dir|folder|path|socket|kind|url|port|ms|days|minutes|sha256|count)$/i;
const PERSON =
  /^(?:user|user[-_.]?(?:name|id)|login|loginuid|sub|subject|actor|person|people|principal|owner|leads?|e?mail(?:[-_]?address)?|(?:first|last|display|given|family|full)[-_]?name|bind[-_]?dn|(?:job)?usersinrange)$/i;
const PLACE = /^(?:bucket|objects?|prefix|keys|file[-_]?name)$/i;

/** The value is a secret, or would open something. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) && !ABOUT_A_SECRET.test(name);
}

/** The value names a person. */
export function isPersonsName(name: string): boolean {
  return PERSON.test(name);
}

/** The value names what people keep. */
export function isPlaceName(name: string): boolean {
  return PLACE.test(name);
}
