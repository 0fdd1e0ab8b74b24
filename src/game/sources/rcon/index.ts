import { hostPort, text } from '../../../settings/kinds/index.ts'
import { defaultPorts } from '../../../util/address.ts'
import { isOn, portIn } from '../directory/server-properties.ts'
import { networkHints } from '../hints.ts'
import type { SourceDescriptor } from '../source.ts'
import { RconSource } from './rcon-source.ts'
import type { RconSettings } from './session.ts'

export const rcon: SourceDescriptor<'rcon', RconSettings> = {
  name: 'rcon',
  title: 'RCON',
  settings: {
    address: {
      env: 'MC_RCON',
      file: 'rcon.address',
      kind: hostPort(defaultPorts.rcon),
      required: true,
      fallback: ({ host }) => ({ host, port: defaultPorts.rcon }),
      otherwise: 'off',
      meaning: 'RCON address',
    },
    password: {
      env: 'MC_RCON_PASSWORD',
      file: 'rcon.password',
      kind: text,
      required: true,
      secret: true,
      meaning: 'RCON password',
    },
  },
  fields: {
    version: 30,
    protocol: 30,
    software: 30,
    playersOnline: 20,
    playersMax: 20,
    players: 20,
    tickCount: 10,
    tickDurationMean: 10,
    tickDurationP50: 10,
    tickDurationP95: 10,
    tickDurationP99: 10,
    tickRate: 10,
    tickRateTarget: 10,
    tickFrozen: 10,
    tickSprinting: 10,
    tickPaused: 10,
    paperTickRates: 10,
    dimensions: 10,
    worldDay: 10,
    worldTimeOfDay: 10,
    difficulty: 20,
  },
  requires: {
    tickDurationMean: 'game version 1.20.3 and later, Paper, Forge, NeoForge',
    tickDurationP50: 'game version 1.20.3 and later',
    tickDurationP95: 'game version 1.20.3 and later',
    tickDurationP99: 'game version 1.20.3 and later',
    tickRateTarget: 'game version 1.20.3 and later',
    tickFrozen: 'game version 1.20.3 and later',
    tickSprinting: 'game version 1.20.3 and later',
    paperTickRates: 'Spigot and its forks, such as Paper',
    dimensions: 'Forge and NeoForge',
  },
  hints: {
    notConfigured: 'enable-rcon=true and MC_RCON_PASSWORD',
    ...networkHints('are enable-rcon=true and this rcon.port in its server.properties, and may this machine connect?'),
    malformed: 'is this the rcon.port of its server.properties?',
    closed: 'is this the rcon.port of its server.properties, and is the server running?',
    auth: 'the password (MC_RCON_PASSWORD) must be the rcon.password of its server.properties',
  },
  timeoutHints: {
    connected: 'the connection is accepted, but not the login: is this the rcon.port of its server.properties?',
    accepted:
      'the login is accepted, but no command is answered; the main thread answers them: is the server hung or overloaded?',
  },
  cost: 'one connection, at most four commands per poll, which run on the main thread between two ticks',
  network: true,
  pushes: false,
  editions: ['java'],
  discover({ properties }, _given, server) {
    const password = properties.get('rcon.password')
    return {
      ...(server &&
        isOn(properties, 'enable-rcon') && {
          address: { host: server.host, port: portIn(properties, 'rcon.port') ?? defaultPorts.rcon },
        }),
      ...(password && { password }),
    }
  },
  whyUndiscovered: (properties) =>
    isOn(properties, 'enable-rcon') ? 'enable-rcon=true but rcon.password is empty' : 'enable-rcon is not true',
  create: (settings, context) => new RconSource(settings, context),
}
