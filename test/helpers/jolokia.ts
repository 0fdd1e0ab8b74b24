import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from '../tools/user-cache.mjs'
import { freePort } from './run-tool.ts'

const source = join(import.meta.dirname, 'java', 'TickServer.java')
const artifact = 'org.jolokia:jolokia-agent-jvm:2.2.9:jar:javaagent'
const run = promisify(execFile)

/**
 * The folder of Jolokia's agent, which Maven fetches, and of the compiled server: Java would compile it at each start, which takes
 * longer than all tests of it.
 */
const ensureClasses = (): Promise<string> =>
  cachedFolder('jolokia', artifact + readFileSync(source, 'utf8'), async (folder) => {
    console.error(`fetching ${artifact} ...`)
    const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`, '-Dmdep.stripVersion']
    await run('mvn', ['--quiet', '--batch-mode', 'dependency:copy', ...options])
    // For whichever Java runs it later.
    await run('javac', ['--release', '11', '-d', folder, source])
  })

export interface JavaServer extends AsyncDisposable {
  readonly url: string
}

/**
 * A JVM with the real agent, and the bean of a Minecraft server as described in test/helpers/java/TickServer.java.
 * @param options further options of the agent, such as `user=...,password=...`
 */
export async function startJavaServer(bean: 'full' | 'young' | 'none', options = ''): Promise<JavaServer> {
  const folder = await ensureClasses()
  const agent = join(folder, 'jolokia-agent-jvm-javaagent.jar')
  const port = await freePort()
  const child: ChildProcess = spawn(
    'java',
    [
      ...['-Xmx64m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
      `-javaagent:${agent}=port=${port},host=127.0.0.1${options && `,${options}`}`,
      ...['-cp', folder, 'TickServer', bean],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  )
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      // The agent starts in a thread of its own.
      if (/^ready$/m.test(output) && output.includes('Jolokia: Agent started')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('close', () => reject(new Error(`java ended:\n${output}`)))
  })
  return {
    url: `http://127.0.0.1:${port}/jolokia`,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.stdin?.end()
      child.kill('SIGKILL')
      await ended
    },
  }
}
