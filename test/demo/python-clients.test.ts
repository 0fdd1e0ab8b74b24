import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { ensurePythonPeers } from '../helpers/python-peers.ts'

const script = join(import.meta.dirname, '../peers/clients.py')

it('the demo server is read by the clients of PyPI', { timeout: 300_000 }, async ({ skip }) => {
  const peers = await ensurePythonPeers()
  if ('reason' in peers) return skip(peers.reason)
  const demo = await startDemoServer({ players: 3, scenario: 'steady' })
  try {
    const { address, rcon, query, management } = demo
    const given = {
      status: address.port,
      rcon: rcon.address.port,
      password: rcon.password,
      query: query.port,
      management: Number(new URL(management!.url).port),
      secret: management!.secret,
    }
    const { stdout } = await promisify(execFile)(peers.python, [script, JSON.stringify(given)], { timeout: 60_000 })
    const read = JSON.parse(stdout)
    const list = expect.stringMatching(/^There are 3 of a max of 20 players online: \w+ \([0-9a-f-]{36}\), /)
    expect(read).toMatchObject({
      mcstatus: { version: '1.21.11', protocol: 774, online: 3, max: 20 },
      'mcstatus query': { online: 3 },
      mcrcon: list,
      rcon: list,
      'aio-mc-rcon': list,
      mcsmp: { started: true, version: { name: '1.21.11', protocol: 774 } },
    })
    expect(read['mcstatus query'].players).toHaveLength(3)
  } finally {
    await demo.close()
  }
})
