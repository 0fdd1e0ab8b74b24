import { SourceError } from '../../src/game/errors.ts'
import type { SourceName } from '../../src/game/sources/names.ts'
import { type SourceDescriptor, unmeasured } from '../../src/game/sources/source.ts'
import { hostPort, text } from '../../src/settings/kinds/index.ts'
import type { HostPort } from '../../src/util/address.ts'

interface ToySettings {
  readonly address: HostPort
  readonly token: string
}

/** A source that is only registered in the list. It fails if its token is `wrong`. */
export const toy: SourceDescriptor<'toy', ToySettings> = {
  name: 'toy',
  title: 'Toy',
  settings: {
    address: { env: 'MC_TOY', file: 'toy.address', kind: hostPort(7), required: true, otherwise: 'off', meaning: 'toy address' },
    token: { env: 'MC_TOY_TOKEN', file: 'toy.token', kind: text, required: true, secret: true, meaning: 'toy token' },
  },
  fields: { motd: 5, map: 20 },
  requires: { map: 'Toyland' },
  hints: { notConfigured: 'toy=true and MC_TOY', auth: 'the token must be the toy.token of its server.properties' },
  cost: 'nothing',
  network: true,
  pushes: false,
  editions: ['java'],
  discover: ({ properties }) => ({ token: properties.get('toy.token') ?? '' }),
  create: ({ address, token }, { clock, measure = unmeasured }) => ({
    name: 'toy' as SourceName,
    target: `${address.host}:${address.port}`,
    async poll(signal) {
      signal.throwIfAborted()
      if (token === 'wrong') throw new SourceError('auth', 'toy.test:7: the token was refused')
      return measure(() => ({ source: 'toy' as SourceName, at: clock.now(), fields: { motd: 'from the toy' } }))
    },
    close() {},
  }),
}
