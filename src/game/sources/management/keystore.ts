import { X509Certificate } from 'node:crypto'
import { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'

interface Decoded {
  readonly passphrase: string | undefined
  readonly fingerprint: string | undefined
}

/** Decoding a keystore takes milliseconds by design, and every poll passes the same one. */
const decoded = new WeakMap<Buffer, Decoded>()

/** Returns the SHA-256 fingerprint of the certificate in a PKCS#12 keystore: 64 hexadecimal digits; undefined if it cannot be read. */
export function keystoreFingerprint(pfx: Buffer, passphrase: string | undefined): string | undefined {
  const before = decoded.get(pfx)
  if (before !== undefined && before.passphrase === passphrase) return before.fingerprint
  const fingerprint = decode(pfx, passphrase)
  decoded.set(pfx, { passphrase, fingerprint })
  return fingerprint
}

function decode(pfx: Buffer, passphrase: string | undefined): string | undefined {
  const sink = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  try {
    const secureContext = createSecureContext({ pfx, ...(passphrase !== undefined && { passphrase }) })
    const certificate = new TLSSocket(sink, { isServer: true, secureContext }).getCertificate()
    if (certificate === null || !('raw' in certificate)) return undefined
    return new X509Certificate(certificate.raw as Buffer).fingerprint256.replaceAll(':', '').toLowerCase()
  } catch {
    return undefined
  } finally {
    sink.destroy()
  }
}
