import { baseUrl, existingFile, fingerprint, text } from '../../../settings/kinds/index.ts'
import { networkHints } from '../hints.ts'
import type { SourceDescriptor } from '../source.ts'
import { discoverManagement, whyUndiscovered } from './discover.ts'
import { ManagementSource } from './management-source.ts'
import type { ManagementSettings } from './settings.ts'

export const management: SourceDescriptor<'management', ManagementSettings> = {
  name: 'management',
  title: 'Management protocol',
  settings: {
    url: {
      env: 'MC_MANAGEMENT',
      file: 'management.url',
      kind: baseUrl('ws:', 'wss:'),
      required: true,
      otherwise: 'off',
      meaning: 'management protocol URL',
    },
    secret: {
      env: 'MC_MANAGEMENT_SECRET',
      file: 'management.secret',
      kind: text,
      required: true,
      secret: true,
      meaning: 'management protocol secret',
    },
    caFile: {
      env: 'MC_MANAGEMENT_CA',
      file: 'management.ca',
      kind: existingFile('a PEM file that exists'),
      meaning: 'PEM file of the authority that signed the certificate of the management protocol',
    },
    fingerprint: {
      env: 'MC_MANAGEMENT_FINGERPRINT',
      file: 'management.fingerprint',
      kind: fingerprint,
      meaning: 'SHA-256 fingerprint of the certificate of the management protocol',
    },
  },
  fields: {
    edition: 20,
    version: 10,
    protocol: 10,
    motd: 10,
    // The count follows the list, so that a join reported by an event is in both.
    playersOnline: 10,
    playersMax: 10,
    players: 10,
    defaultGameMode: 10,
    difficulty: 10,
    viewDistance: 10,
    pauseWhenEmpty: 10,
    worldUpgrade: 10,
  },
  requires: { worldUpgrade: '26.2 or later, while it starts' },
  hints: {
    notConfigured: 'management-server-enabled=true, MC_MANAGEMENT and MC_MANAGEMENT_SECRET',
    ...networkHints('are management-server-enabled=true and this management-server-port in its server.properties?'),
    closed:
      'is this the management-server-port of its server.properties? With management-server-tls-enabled=true its URL starts with wss://',
    malformed: 'is this the management-server-port of its server.properties?',
    unsupported: 'is this the management-server-port of its server.properties?',
    auth: 'the secret (MC_MANAGEMENT_SECRET) must be the management-server-secret of its server.properties',
    tls: 'trust its certificate by MC_MANAGEMENT_FINGERPRINT or MC_MANAGEMENT_CA, or use ws:// where management-server-tls-enabled=false',
  },
  timeoutHints: {
    connected: 'the connection is accepted, but not the WebSocket: is this the management-server-port of its server.properties?',
    accepted:
      'the secret is accepted, but no request is answered; the main thread answers them: is the server hung or overloaded?',
  },
  cost: 'one connection, eight small requests per poll',
  network: true,
  pushes: true,
  editions: ['java'],
  discover: discoverManagement,
  whyUndiscovered,
  create: (settings, context) => new ManagementSource(settings, context),
}
