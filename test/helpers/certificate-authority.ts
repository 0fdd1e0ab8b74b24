import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { needTool } from './require-tool.ts'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

/** A private certificate authority in a folder. */
export interface CertificateAuthority {
  readonly certFile: string
  /**
   * Signs a certificate.
   * @param names as for subjectAltName; default: localhost and 127.0.0.1
   * @param days for which it is valid; negative: it has expired
   */
  sign(name: string, options?: { readonly names?: string; readonly days?: number }): Certificate
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export function createAuthority(folder: string, name = 'ca'): CertificateAuthority {
  needTool('openssl')
  const path = (file: string) => join(folder, file)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const [certFile, keyFile] = [path(`${name}.pem`), path(`${name}.key`)]
  openssl('req', '-x509', ...curve, '-days', '30', '-keyout', keyFile, '-out', certFile, '-subj', `/CN=${name}`)
  return {
    certFile,
    sign(name, { names = 'DNS:localhost,IP:127.0.0.1', days = 30 } = {}) {
      const [request, signed, key] = [path(`${name}.csr`), path(`${name}.pem`), path(`${name}.key`)]
      openssl('req', ...curve, '-keyout', key, '-out', request, '-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`)
      openssl(
        ...['x509', '-req', '-in', request, '-CA', certFile, '-CAkey', keyFile, '-CAcreateserial'],
        ...['-days', String(days), '-copy_extensions', 'copyall', '-out', signed],
      )
      return { certFile: signed, keyFile: key }
    },
  }
}
