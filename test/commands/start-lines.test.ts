import { expect, it } from 'vitest'
import { startLines } from '../../src/commands/start-lines.ts'
import { version } from '../../src/util/package.ts'

const server = (name: string) =>
  ({ name, sources: { status: { address: { edition: 'java', host: name, port: 25565 } } } }) as const

it('prints the watched servers once, and every address', () => {
  const line = startLines([server('a'), { name: 'local', sources: { directory: { path: '/srv/minecraft' } } }])
  expect(line('http://127.0.0.1:8080')).toBe(
    `Tickwarden ${version} (Node.js ${process.versions.node}) listens on http://127.0.0.1:8080 and watches a (a:25565), local (from its directory)`,
  )
  expect(line('http://192.0.2.7:8080')).toBe('Tickwarden also listens on http://192.0.2.7:8080')
})

it('counts the servers beyond five', () => {
  const line = startLines(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(server))
  expect(line('http://x')).toMatch(/watches a \(a:25565\), .* e \(e:25565\) and 2 more$/)
})

it('names no servers if none are ever watched', () => {
  expect(startLines([], true)('http://x')).toMatch(/ listens on http:\/\/x and serves the databases only$/)
})
