import { expect, it } from 'vitest'
import { applyEvent } from '../../../src/web/client/model.ts'
import { serverInState } from '../../helpers/page-servers.ts'

it('knows since when a server is down', () => {
  let server = serverInState({}, { lastContact: 1_000 })
  const apply = (data: object) => {
    const event = { event: 'change', data: JSON.stringify({ server: 'survival', ...data }) }
    server = applyEvent(event, () => server) ?? server
    return server.lastContact
  }
  // Nothing has changed for a minute, in which it was reached.
  expect(apply({ at: 61_000, up: false, error: 'refused' })).toBe(61_000)
  expect(apply({ at: 66_000, error: 'timeout' })).toBe(61_000)
  expect(apply({ at: 71_000, up: true, error: null })).toBe(71_000)
})
