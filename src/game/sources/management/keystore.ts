import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createLimiter } from '../../../util/limiter.ts'

/** Milliseconds for decoding a keystore. Most take less than 100 in all. */
const maxMs = 5_000
/** Milliseconds after which a keystore is decoded again that took longer: the machine may have been busy. */
const retryMs = 600_000
/** More keystores than a service reads. */
const maxKeystores = 1_000

/**
 * Reads a line with the password in base64, then the keystore, and writes the SHA-256 fingerprint of the certificate. Fails if it cannot be
 * read.
 */
const program = `
  import { X509Certificate } from 'node:crypto'
  import { Duplex } from 'node:stream'
  import { createSecureContext, TLSSocket } from 'node:tls'
  const input = Buffer.concat(await process.stdin.toArray())
  const end = input.indexOf('\\n')
  const passphrase = Buffer.from(input.toString('latin1', 0, end), 'base64').toString()
  const secureContext = createSecureContext({ pfx: input.subarray(end + 1), passphrase })
  const { raw } = new TLSSocket(new Duplex({ read() {} }), { isServer: true, secureContext }).getCertificate()
  process.stdout.write(new X509Certificate(raw).fingerprint256)
`

/** Fingerprints by a digest of keystore and password, which every poll and every probe passes again. */
const decoded = new LRUCache<string, Promise<string | undefined>>({ max: maxKeystores })

/** Hundreds of servers may be started at once, and a process takes 45 MB. */
const limit = createLimiter(() => 2)

/** Returns the SHA-256 fingerprint of the certificate in a PKCS#12 keystore: 64 hexadecimal digits; undefined if it cannot be read. */
export function keystoreFingerprint(pfx: Buffer, passphrase = ''): Promise<string | undefined> {
  const input = Buffer.concat([Buffer.from(`${Buffer.from(passphrase).toString('base64')}\n`), pfx])
  const key = hash('sha256', input)
  const before = decoded.get(key)
  if (before !== undefined) return before
  const fingerprint = limit(() => decode(input)).catch((error: NodeJS.ErrnoException) => {
    // The process could not be started, which says nothing about the keystore.
    if (typeof error.code === 'string') decoded.delete(key)
    else if (error instanceof LateError) decoded.set(key, fingerprint, { ttl: retryMs })
    return undefined
  })
  decoded.set(key, fingerprint)
  return fingerprint
}

class LateError extends Error {}

/** In a process that can be ended: the file itself says how many rounds its decryption takes, up to hours. */
function decode(input: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: maxMs, killSignal: 'SIGKILL', windowsHide: true } as const
    const child = execFile(process.execPath, ['--input-type=module', '--eval', program], options, (error, fingerprint) => {
      process.off('exit', end)
      // If it is killed as it ends, there is no error, and no output either.
      if (child.killed) reject(new LateError())
      else if (error) reject(error)
      else resolve(fingerprint.replaceAll(':', '').toLowerCase())
    })
    const end = () => void child.kill('SIGKILL')
    // It would outlive the service otherwise.
    process.on('exit', end)
    child.stdin?.on('error', () => {}).end(input)
  })
}
