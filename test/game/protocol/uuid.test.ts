import { expect, it } from 'vitest'
import { normaliseUuid } from '../../../src/game/protocol/uuid.ts'

const uuid = '12345678-1234-4234-8234-1234567890ab'

it.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), '12345678-12344234-8234-1234567890ab'])('%s is a UUID', (text) =>
  expect(normaliseUuid(text)).toBe(uuid),
)

it.each([`x${uuid}`, `${uuid}0`, uuid.replace('b', 'g'), uuid.slice(1), '', 1, null, undefined, [uuid]])('%j is none', (value) =>
  expect(normaliseUuid(value)).toBeUndefined(),
)
