/**
 * SHA-256 (FIPS 180-4) for runtimes whose own is asynchronous: a page hashes every entry by itself, and a promise for each would cost more than
 * the hash. Compared with the runtime's own at every length around a block in its test.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2); of the square roots of the first 8 (§5.3.3). */
const K = new Int32Array(64);
const INITIAL = new Int32Array(8);
const state = new Int32Array(8);
const schedule = new Int32Array(64);
const lastBlocks = new Uint8Array(2 * BLOCK_BYTES);
const lastView = new DataView(lastBlocks.buffer);

for (let candidate = 2, found = 0; found < K.length; candidate++) {
  if (!isPrime(candidate)) continue;
  K[found] = fraction(Math.cbrt(candidate));
  if (found < INITIAL.length) INITIAL[found] = fraction(Math.sqrt(candidate));
  found += 1;
}

export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = new Uint8Array(32);
  sha256Into(bytes, digest, 0);
  return digest;
}

export function sha256Into(bytes: Uint8Array, into: Uint8Array, at: number): void {
  state.set(INITIAL);
  const whole = bytes.length - (bytes.length % BLOCK_BYTES);
  for (let block = 0; block < whole; block += BLOCK_BYTES) compress(bytes, block);
  const rest = bytes.length - whole;
  const padded = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  lastBlocks.fill(0);
  for (let byte = 0; byte < rest; byte++) lastBlocks[byte] = bytes[whole + byte]!;
  lastBlocks[rest] = 0x80;
  lastView.setUint32(padded - 8, Math.floor(bytes.length / 2 ** 29));
  lastView.setUint32(padded - 4, (bytes.length << 3) >>> 0);
  for (let block = 0; block < padded; block += BLOCK_BYTES) compress(lastBlocks, block);
  for (let byte = 0; byte < 32; byte++)
    into[at + byte] = state[byte >>> 2]! >>> (24 - 8 * (byte & 3));
}

/** §6.2.2 */
function compress(bytes: Uint8Array, from: number): void {
  const w = schedule;
  for (let t = 0, at = from; t < 16; t++, at += 4)
    w[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15]!;
    const y = w[t - 2]!;
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = (small1 + w[t - 7]! + small0 + w[t - 16]!) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let t = 0; t < 64; t++) {
    const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + big1 + ((e & f) ^ (~e & g)) + K[t]! + w[t]!) | 0;
    const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++)
    if (candidate % divisor === 0) return false;
  return true;
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}
