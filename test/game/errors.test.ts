import { expect, it } from 'vitest'
import { toSourceError } from '../../src/game/errors.ts'

const system = (code: string, message: string) => Object.assign(new Error(message), { code })

it.each([
  ['ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:1', 'refused', 'nothing listens there (connect ECONNREFUSED 192.0.2.1:1)'],
  ['ECONNREFUSED', '', 'refused', 'nothing listens there (ECONNREFUSED)'],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND x', 'dns', 'there is no such host name (getaddrinfo ENOTFOUND x)'],
  ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN x', 'dns', 'the name server gives no answer (getaddrinfo EAI_AGAIN x)'],
  ['ENEW', 'something new', 'internal', 'something new'],
  ['ENEW', '', 'internal', 'ENEW'],
])('says what %s (%j) means, with the target and the words of the system', (code, said, kind, meaning) => {
  expect(toSourceError(system(code, said), 'mc.example.org:1')).toMatchObject({
    code: kind,
    message: `mc.example.org:1: ${meaning}`,
  })
})
