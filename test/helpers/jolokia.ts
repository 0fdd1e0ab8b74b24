import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './run-tool.ts'

const folder = join(import.meta.dirname, '..', 'peers', 'jolokia')
const agentVersion = '2.2.9'
const agent = join(folder, `jolokia-agent-jvm-${agentVersion}-javaagent.jar`)

/** Fetches Jolokia's agent with Maven, when it is first needed. */
function ensureAgent(): void {
  if (existsSync(agent)) return
  mkdirSync(folder, { recursive: true })
  console.error(`fetching Jolokia's JVM agent ${agentVersion} ...`)
  const { status, stderr } = spawnSync(
    'mvn',
    [
      '--quiet',
      '--batch-mode',
      'dependency:copy',
      `-Dartifact=org.jolokia:jolokia-agent-jvm:${agentVersion}:jar:javaagent`,
      `-DoutputDirectory=${folder}`,
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`mvn could not fetch the agent: ${stderr}`)
}

/** The folder of the compiled server. Java would compile it at each start, which takes longer than all tests of it. */
let classes: string | undefined

function compile(): string {
  const into = mkdtempSync(join(tmpdir(), 'java-'))
  execFileSync('javac', ['-d', into, join(import.meta.dirname, 'java', 'TickServer.java')], { stdio: 'pipe' })
  return into
}

export interface JavaServer extends AsyncDisposable {
  readonly url: string
}

/**
 * A JVM with the real agent, and the bean of a Minecraft server as described in test/helpers/java/TickServer.java.
 * @param options further options of the agent, such as `user=...,password=...`
 */
export async function startJavaServer(bean: 'full' | 'young' | 'none', options = ''): Promise<JavaServer> {
  ensureAgent()
  classes ??= compile()
  const port = await freePort()
  const child: ChildProcess = spawn(
    'java',
    [
      ...['-Xmx64m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
      `-javaagent:${agent}=port=${port},host=127.0.0.1${options && `,${options}`}`,
      ...['-cp', classes, 'TickServer', bean],
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
