import { type ExecFileException, execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createLimiter } from '../../../util/limiter.ts'

/** Milliseconds of CPU time for decoding a keystore, however busy the machine is and long Node.js takes to start. Most take less than 100. */
const maxCpuMs = 2_000
/** Milliseconds after which a keystore is decoded again whose process was killed: the machine may have run out of memory. */
const retryMs = 600_000
/** More keystores than a service reads. */
const maxKeystores = 1_000

/**
 * Reads a line with the password in base64, then the keystore, and writes the SHA-256 fingerprint of the certificate. Fails if it cannot be
 * read. Decoding blocks its thread, so another one ends the process at the limit.
 */
const program = `
  import { X509Certificate } from 'node:crypto'
  import { Duplex } from 'node:stream'
  import { createSecureContext, TLSSocket } from 'node:tls'
  import { Worker } from 'node:worker_threads'
  const limit = () => {
    const begun = process.cpuUsage()
    setInterval(() => {
      const { user, system } = process.cpuUsage(begun)
      if (user + system > ${maxCpuMs * 1_000}) process.kill(process.pid, 'SIGKILL')
    }, 100)
  }
  new Worker(\`(\${limit})()\`, { eval: true }).unref()
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
  const fingerprint = limit(() => decode(input)).catch((error: ExecFileException) => {
    // The process could not be started, which says nothing about the keystore.
    if (typeof error.code === 'string') decoded.delete(key)
    else if (error.signal === 'SIGKILL') decoded.set(key, fingerprint, { ttl: retryMs })
    return undefined
  })
  decoded.set(key, fingerprint)
  return fingerprint
}

/** In a process that can be ended: the file itself says how many rounds its decryption takes, up to hours. */
function decode(input: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ['--input-type=module', '--eval', program]
    const child = execFile(process.execPath, args, { windowsHide: true }, (error, fingerprint) => {
      process.off('exit', end)
      if (error) reject(error)
      else resolve(fingerprint.replaceAll(':', '').toLowerCase())
    })
    const end = () => void child.kill('SIGKILL')
    // It would outlive the service otherwise.
    process.on('exit', end)
    child.stdin?.on('error', () => {}).end(input)
  })
}
