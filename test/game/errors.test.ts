import { expect, it } from 'vitest'
import { SourceError, toSourceError } from '../../src/game/errors.ts'
import { ProtocolError } from '../../src/game/protocol/error.ts'

const system = (code: string, message: string) => Object.assign(new Error(message), { code })

it.each([
  ['ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:1', 'refused', 'connection refused (connect ECONNREFUSED 192.0.2.1:1)'],
  ['ECONNREFUSED', '', 'refused', 'connection refused (ECONNREFUSED)'],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND x', 'dns', 'host not found (getaddrinfo ENOTFOUND x)'],
  ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN x', 'dns', 'no reply from the name server (getaddrinfo EAI_AGAIN x)'],
  ['ETIMEOUT', 'queryA ETIMEOUT x', 'dns', 'no reply from the name server (queryA ETIMEOUT x)'],
  [
    'EMFILE',
    'connect EMFILE 192.0.2.1:1',
    'exhausted',
    'too many open files; raise the limit of the service (`ulimit -n`, LimitNOFILE of systemd) (connect EMFILE 192.0.2.1:1)',
  ],
  [
    'ENFILE',
    '',
    'exhausted',
    'too many open files; raise the limit of the service (`ulimit -n`, LimitNOFILE of systemd) (ENFILE)',
  ],
  ['ENOBUFS', '', 'exhausted', 'this machine is out of memory (ENOBUFS)'],
  ['ENOMEM', '', 'exhausted', 'this machine is out of memory (ENOMEM)'],
  ['ENEW', 'something new', 'internal', 'something new'],
  ['ENEW', '', 'internal', 'ENEW'],
])('describes %s (%j), with the target and the system message', (code, messages, kind, meaning) => {
  expect(toSourceError(system(code, messages), 'mc.example.org:1')).toMatchObject({
    code: kind,
    message: `mc.example.org:1: ${meaning}`,
  })
})

it('keeps the code of a protocol error: invalid bytes are malformed, not internal', () => {
  const cause = new ProtocolError('malformed', 'a VarInt of more than 5 bytes')
  expect(toSourceError(cause, 'mc.example.org:1')).toMatchObject({
    code: 'malformed',
    message: 'mc.example.org:1: a VarInt of more than 5 bytes',
    cause,
  })
})

it('returns a SourceError as it is', () => {
  const error = new SourceError('auth', 'rcon.test:1: wrong password')
  expect(toSourceError(error, 'mc.example.org:1')).toBe(error)
})
