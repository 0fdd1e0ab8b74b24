/** Other protocols by their first bytes. The name completes `this looks like ...`. */
const protocols: readonly (readonly [what: string, begins: RegExp])[] = [
  ['a web server', /^(HTTP\/\d|<!doctype html|<html)/i],
  ['an SSH server', /^SSH-\d/],
  // A TLS or SSL 3 record: an alert or a handshake.
  ['a TLS server', /^[\x15\x16]\x03[\x00-\x04]/],
  ['a mail or FTP server', /^220[ -]/],
]

/** Recognises a server of another protocol by its first bytes; undefined if it is not known. */
export function recogniseOther(bytes: Buffer): string | undefined {
  // A status reply begins with its length and the packet id 0; the regular expressions take 4 % of a poll (`npm run bench -- status`).
  if ((bytes[0] ?? 0) > 0x7f || bytes[1] === 0) return undefined
  const text = bytes.toString('latin1', 0, 16)
  return protocols.find(([, begins]) => begins.test(text))?.[0]
}
