/**
 * TLS of every server of ours: 1.2 with forward secrecy and AEAD suites alone, and 1.3, whose suites all are such.
 * Source: RFC 9325, section 4.2.
 */
export const SERVER_TLS = {
  minVersion: "TLSv1.2",
  ciphers: [
    ...["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"],
    ...[
      "ECDHE-ECDSA-AES256-GCM-SHA384",
      "ECDHE-RSA-AES256-GCM-SHA384",
      "ECDHE-ECDSA-CHACHA20-POLY1305",
    ],
    ...[
      "ECDHE-RSA-CHACHA20-POLY1305",
      "ECDHE-ECDSA-AES128-GCM-SHA256",
      "ECDHE-RSA-AES128-GCM-SHA256",
    ],
  ].join(":"),
} as const;
