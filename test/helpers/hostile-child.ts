// Hostile servers in a separate process, because sending their replies takes its time. Sends their ports, and answers each message with
// the smallest number of connections of a server.
import { startHostileServers } from './hostile-servers.ts'

const servers = await startHostileServers(100)
process.send!(servers.map(({ port }) => port))
process.on('message', () => process.send!(Math.min(...servers.map(({ accepted }) => accepted()))))
process.on('disconnect', () => process.exit())
