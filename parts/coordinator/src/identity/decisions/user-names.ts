/** Lower case, a letter first; it becomes part of a bucket's name. */
export function isUsername(text: string): boolean {
  return /^[a-z][a-z0-9._-]{0,30}[a-z0-9]$/.test(text);
}

/** The user name of a person whom a directory names otherwise: the same letters, as far as names here have them. */
export function usernameFor(directoryName: string): string {
  const plain = directoryName
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 32)
    .replace(/[^a-z0-9]+$/, "");
  return isUsername(plain) ? plain : `user-${plain}`.replace(/-$/, "");
}

/** A readable S3 bucket name of at most 63 characters; `suffix` keeps two that read alike apart. */
export function bucketNameFor(username: string, suffix: string): string {
  return `${username.replaceAll(/[._-]+/g, "-").slice(0, 63 - suffix.length - 1)}-${suffix}`;
}
