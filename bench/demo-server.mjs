import { startDemoServer } from '../dist/src/demo/demo-server.js'

// A separate process, so that a bench only measures the client.
const { address, rcon, query, management } = await startDemoServer({ scenario: 'steady', players: 20 })
process.send({ address, rcon, query, management })
process.on('disconnect', () => process.exit())
