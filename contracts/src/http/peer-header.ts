/** Whom the front door speaks for, as a bare IP address. It sets this header anew in each request, whatever a client sent. */
export const PEER_HEADER = "x-rt-peer";
