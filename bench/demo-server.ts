import { startDemoServer } from '../src/game/demo/server.ts'

// A process of its own, so that a bench counts only what reads it.
const { address, rcon, query, management } = await startDemoServer({ scenario: 'steady', players: 20 })
process.send?.({ address, rcon, query, management })
process.on('disconnect', () => process.exit())
