/** Subject and extensions of a certificate that the coordinator signs for an attempt; whose certificates they are says what is in them. */
export type CertificateProfile = {
  /** In this order. CN at most 64 characters (X.520), all values UTF8String or PrintableString. */
  subject: { commonName: string; organization?: string; unstructuredName?: string };
  /** subjectAltName dNSName, not critical; the root has none. */
  dnsNames: string[];
  /** Critical. */
  basicConstraints: { ca: true; pathLength: 0 } | { ca: false };
  /** Critical. */
  keyUsage: ("digitalSignature" | "keyEncipherment" | "keyCertSign" | "cRLSign")[];
  /** Not critical; absent in the root. */
  extendedKeyUsage: ("serverAuth" | "clientAuth")[];
  // Every certificate carries subjectKeyIdentifier, every leaf authorityKeyIdentifier too (neither critical).
  // Serial numbers: 16 random bytes, positive.
};
