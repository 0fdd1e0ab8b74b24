import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CertificateAuthority, createAuthority } from '../helpers/certificate-authority.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { createLossyLine } from '../helpers/lossy-line.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { type ServiceProcess, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'
import { until } from '../helpers/until.ts'

interface SecureRedis {
  readonly folder: string
  readonly authority: CertificateAuthority
  /** The port with TLS. */
  readonly port: number
  readonly plainPort: number
}

type SignOptions = Parameters<CertificateAuthority['sign']>[1]

async function startSecureRedis(signing: SignOptions = {}, ...more: readonly string[]): Promise<SecureRedis> {
  const folder = temporaryFolder()
  const authority = createAuthority(folder)
  const { certFile, keyFile } = authority.sign('redis', signing)
  const port = await freePort()
  const tls = [
    '--tls-port',
    String(port),
    '--tls-cert-file',
    certFile,
    '--tls-key-file',
    keyFile,
    '--tls-ca-cert-file',
    authority.certFile,
  ]
  const redis = await startRedis(...tls, ...(more.length > 0 ? more : ['--tls-auth-clients', 'no']))
  return { folder, authority, port, plainPort: redis.port }
}

const startReplica = (env: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
  startService('replica', undefined, { STATE_HEARTBEAT: '500ms', ...env })

const isUp = async (service: ServiceProcess) => (await service.metric('tickwarden_replica_state_up')) === 1
const problems = (service: ServiceProcess): readonly string[] => service.output().match(/is unavailable: [^"]*/g) ?? []

// Concurrent, because these tests mostly wait for processes.
describe.skipIf(!hasTool('redis-server') || !hasTool('openssl')).concurrent('rediss://', () => {
  separateTestEnds()

  it('works with a private certificate authority, with the password in a file', async () => {
    const { folder, authority, port } = await startSecureRedis({}, '--tls-auth-clients', 'no', '--requirepass', 'right secret')
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, 'right secret\n')
    const state = `servers: [{ name: a, address: "127.0.0.1:1" }]\nstate: { url: "rediss://localhost:${port}", passwordFile: ${passwordFile}, heartbeat: 500ms }\n`
    const services = await Promise.all([
      startReplica({
        STATE_URL: `rediss://127.0.0.1:${port}`,
        STATE_PASSWORD_FILE: passwordFile,
        NODE_EXTRA_CA_CERTS: authority.certFile,
      }),
      startReplica({ STATE_URL: `rediss://:right%20secret@localhost:${port}`, NODE_EXTRA_CA_CERTS: authority.certFile }),
      startService('from its file', state, { NODE_EXTRA_CA_CERTS: authority.certFile }),
    ])
    for (const service of services) await until(async () => (await service.metric('tickwarden_replica_members')) === 3)
  })

  it('logs once what to do about a certificate that is not valid', async () => {
    const cases: readonly (readonly [signing: SignOptions, knowsAuthority: boolean, expected: RegExp])[] = [
      [{}, false, /signed by an unknown authority: set NODE_EXTRA_CA_CERTS/],
      [{ days: -1 }, true, /has expired or is not valid yet: renew it/],
      [{ names: 'DNS:other.test' }, true, /is for another host: use a host name/],
    ]
    const check = async ([signing, knowsAuthority, expected]: (typeof cases)[number]) => {
      const { authority, port } = await startSecureRedis(signing)
      const trusted = knowsAuthority ? { NODE_EXTRA_CA_CERTS: authority.certFile } : {}
      const line = await createLossyLine(port, { onTestFinished })
      const service = await startReplica({ STATE_URL: `rediss://:a-secret@localhost:${line.port}`, ...trusted })
      await until(() => problems(service).length > 0 && line.accepted >= 5)
      expect(problems(service)).toEqual([expect.stringMatching(expected)])
      expect(service.output()).not.toContain('a-secret')
      expect(await isUp(service)).toBe(false)
    }
    await Promise.all(cases.map(check))
  })

  it('logs what to do if client certificates are required, or only one side uses TLS', async () => {
    const { authority, port, plainPort } = await startSecureRedis({}, '--tls-auth-clients', 'yes')
    const trusted = { NODE_EXTRA_CA_CERTS: authority.certFile }
    const [withoutCertificate, withoutTls, toPlain] = await Promise.all([
      startReplica({ STATE_URL: `rediss://localhost:${port}`, ...trusted }),
      startReplica({ STATE_URL: `redis://localhost:${port}` }),
      startReplica({ STATE_URL: `rediss://localhost:${plainPort}`, ...trusted }),
    ])
    // Without the certificate, the reason may be lost with the connection: then another attempt shows it.
    const expectations = [
      [withoutCertificate, 'set tls-auth-clients no'],
      [withoutTls, 'If it requires TLS, STATE_URL must start with rediss://'],
      [toPlain, 'TLS'],
    ] as const
    for (const [service, expected] of expectations)
      await until(() => problems(service).some((problem) => problem.includes(expected)))
  })
})
