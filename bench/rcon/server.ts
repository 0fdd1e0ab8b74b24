import { startDemoServer } from '../../src/game/demo/server.ts'

// A process of its own, so that only the reading is counted.
const { address, rcon } = await startDemoServer({ scenario: 'steady', players: 20 })
process.send?.({ address, rcon })
process.on('disconnect', () => process.exit())
