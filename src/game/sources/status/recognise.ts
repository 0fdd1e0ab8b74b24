/** What begins with these bytes, as the end of `this looks like ...`. */
const protocols: readonly (readonly [what: string, begins: RegExp])[] = [
  ['a web server', /^(HTTP\/\d|<!doctype html|<html)/i],
  ['an SSH server', /^SSH-\d/],
  // A record of TLS or SSL 3: an alert, or a handshake.
  ['a TLS server', /^[\x15\x16]\x03[\x00-\x04]/],
  ['a mail or FTP server', /^220[ -]/],
]

/** What a peer is whose first bytes are those of another protocol; undefined where they are of none that is known. */
export function recogniseOther(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, 16)
  return protocols.find(([, begins]) => begins.test(text))?.[0]
}
