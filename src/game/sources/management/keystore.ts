import { execFile } from 'node:child_process'

/** Milliseconds for decoding a keystore. Most take less than 100 in all. */
const maxMs = 5_000

/** Reads a keystore and its password as JSON, and writes the SHA-256 fingerprint of the certificate. Fails if it cannot be read. */
const program = `
  const { Duplex } = require('node:stream')
  const { createSecureContext, TLSSocket } = require('node:tls')
  const { pfx, passphrase } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
  const secureContext = createSecureContext({ pfx: Buffer.from(pfx, 'base64'), passphrase })
  const { raw } = new TLSSocket(new Duplex({ read() {} }), { isServer: true, secureContext }).getCertificate()
  process.stdout.write(new (require('node:crypto').X509Certificate)(raw).fingerprint256, () => process.exit())
`

interface Decoded {
  readonly passphrase: string | undefined
  readonly fingerprint: Promise<string | undefined>
}

/** Every poll passes the same keystore until it changes. */
const decoded = new WeakMap<Buffer, Decoded>()

/** Returns the SHA-256 fingerprint of the certificate in a PKCS#12 keystore: 64 hexadecimal digits; undefined if it cannot be read. */
export function keystoreFingerprint(pfx: Buffer, passphrase: string | undefined): Promise<string | undefined> {
  const before = decoded.get(pfx)
  if (before !== undefined && before.passphrase === passphrase) return before.fingerprint
  const fingerprint = decode(pfx, passphrase)
  decoded.set(pfx, { passphrase, fingerprint })
  return fingerprint
}

/** In a process that can be ended: the file itself says how many rounds its decryption takes, up to hours. */
function decode(pfx: Buffer, passphrase: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: maxMs, killSignal: 'SIGKILL' } as const
    const child = execFile(process.execPath, ['--eval', program], options, (error, fingerprint) => {
      // The process could not be started, which says nothing about the keystore.
      if (typeof error?.code === 'string') decoded.delete(pfx)
      resolve(error ? undefined : fingerprint.replaceAll(':', '').toLowerCase())
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(JSON.stringify({ pfx: pfx.toString('base64'), passphrase }))
  })
}
