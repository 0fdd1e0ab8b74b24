import { basePath, host, integer, list, oneOf, origin } from '../settings/kinds/index.ts'
import { setting } from '../settings/setting.ts'
import { proxyRange } from './clients/trusted-proxies.ts'

/** The address of the service. */
export const listen = {
  host: setting({ env: 'HOST', file: 'host', kind: host, default: '127.0.0.1', meaning: 'address to listen on' }),
  port: setting({
    env: 'PORT',
    file: 'port',
    kind: integer(0, 65535),
    default: '8080',
    meaning: 'port to listen on; 0 chooses a free one',
  }),
} as const

/** HTTP settings of all routes. */
export const http = {
  basePath: setting({
    env: 'BASE_PATH',
    file: 'http.basePath',
    kind: basePath,
    default: '/',
    meaning: 'path under which a reverse proxy serves everything, such as /mc',
  }),
  trustProxy: setting({
    env: 'TRUST_PROXY',
    file: 'http.trustProxy',
    kind: list(proxyRange),
    default: '',
    meaning: 'reverse proxies whose X-Forwarded-For, -Prefix, -Proto and -Host are trusted: loopback, addresses, CIDR ranges',
  }),
  corsOrigin: setting({
    env: 'CORS_ORIGIN',
    file: 'cors.origin',
    kind: origin,
    default: '*',
    meaning: 'origin whose pages may read the API',
  }),
} as const

export const log = {
  logLevel: setting({
    env: 'LOG_LEVEL',
    file: 'log.level',
    kind: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    meaning: 'log level',
  }),
} as const
