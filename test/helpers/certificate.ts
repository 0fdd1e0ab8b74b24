import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needTool } from './require-tool.ts'

/** A self-signed certificate for localhost and 127.0.0.1 in a temporary folder. */
export function selfSigned() {
  needTool('openssl')
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-tls-'))
  const [keyFile, certFile, keystore] = ['key.pem', 'cert.pem', 'keystore.p12'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'],
    ...['-keyout', keyFile, '-out', certFile, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  )
  openssl('pkcs12', '-export', '-inkey', keyFile, '-in', certFile, '-out', keystore, '-passout', 'pass:keystore password')
  const cert = readFileSync(certFile)
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  return { folder, certFile, keystore, keystorePassword: 'keystore password', key: readFileSync(keyFile), cert, fingerprint }
}
