import { acceptLogin, listenRconPeer, packet } from './rcon-peer.ts'
import { onTestFinished } from './test-end.ts'

/** An RCON server that counts logins and answers every command with an empty text. */
export async function createRconServerCount() {
  const peer = await listenRconPeer(({ socket, id }) => void socket.write(packet(id, 0, '')), acceptLogin)
  onTestFinished(() => peer.close())
  return { peer, settings: `127.0.0.1:${peer.port}` }
}
