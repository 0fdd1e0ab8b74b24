import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensure } from '../tools/ensure.mjs'
import { freePort } from './run-tool.ts'

/** Starts minecraft-protocol once per version, flying-squid and bedrock-protocol. @returns the port of each */
export async function startPeerServers(versions: readonly string[]) {
  await ensure('test/peers')
  // bedrock-protocol takes 0 for its default port.
  const args = [join(import.meta.dirname, 'peer-servers.mjs'), String(await freePort()), ...versions]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let ports: Readonly<Record<string, number>> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue
    ports = JSON.parse(line)
    break
  }
  child.stdout.resume()
  return { ports, close: () => void child.stdin.end() }
}
