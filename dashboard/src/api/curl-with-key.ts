/** How code that a page shows calls by curl: a key in a command line could be read by everybody on the host. Pure. */

/** @param header with `%s` where the key stands @param variable of the environment that holds the key */
export function curlWithKey(header: string, variable: string): string[] {
  return [
    "export SSL_CERT_FILE=root.crt",
    `(umask 077; printf '${header}\\n' "$${variable}" > key.header)`,
    'curl --fail-with-body --cacert "$SSL_CERT_FILE" --header @key.header \\',
  ];
}
