/** A syslog message framed by the count of its octets, `MSG-LEN SP MSG` (RFC 5425 §4.3): of octets, not of characters. */
export function octetCounted(message: string): Buffer {
  const bytes = Buffer.from(message, "utf8");
  return Buffer.concat([Buffer.from(`${bytes.length} `, "latin1"), bytes]);
}
